// SPDX-License-Identifier: Apache-2.0
//
// Host calls, and the profiler's holds in them, as slices on the rows of their threads, and the flows from
// launches to the GPU.
//
// No argument may be named "stream", because readers treat an event with one as GPU work. Overhead of CUDA
// and CUPTI and counter ranges have their own rows, because they need not nest with calls.
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
  void add(const HoldRecord& hold);
  void add(const GapRecord& gap);

 private:
  /// False: the call has no times.
  [[nodiscard]] bool begin_call(const HostWork& host, std::string_view api);
  void launch_slice(const LaunchRecord& launch, std::string_view unmeasured);
  void counter_range(const ExactRecord& exact);

  ChromeContext& context_;
};

}  // namespace rangefinder
