// SPDX-License-Identifier: Apache-2.0
//
// What host threads did, as slices on the threads' rows, and the arrows from launches to the GPU.
//
// No argument is called "stream" here: readers take an event that has one for GPU work. Overhead of
// CUDA and CUPTI, and counter ranges, stand on rows of their own: they need not nest with calls.
#pragma once

#include <string_view>

#include "tools/export/chrome_timeline.h"

namespace rangefinder {

class ChromeHost {
 public:
  explicit ChromeHost(ChromeContext& context) : context_(context) {}

  void add(const LaunchRecord& launch);
  void add(const ExactRecord& exact);
  void add(const SyncRecord& sync);
  void add(const AllocRecord& alloc);
  void add(const EventRecord& event);
  void add(const CaptureRecord& capture);
  void add(const OverheadRecord& overhead);

 private:
  /// False: it has no times.
  [[nodiscard]] bool begin_call(const HostWork& host, std::string_view api);
  void launch_slice(const LaunchRecord& launch, std::string_view outcome);
  void counter_range(const ExactRecord& exact);

  ChromeContext& context_;
};

}  // namespace rangefinder
