// SPDX-License-Identifier: Apache-2.0
//
// GPU work as slices: one row per stream, and rows with the modules of each stream's kernels.
//
//   stream 13           ▇gemm▇ ▇add▇   ▇gemm▇
//   stream 13 modules   ▇ encoder/0 ▇  ▇ encoder/1 ▇      first start to last end of an instance's kernels
//
// An exact line precedes the kernel with the same correlation id, whose slice gets its bytes.
// Memory: exact lines without their kernel so far, and one annotation per stream and nesting level.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/export/chrome_timeline.h"

namespace rangefinder {

class ChromeGpu {
 public:
  explicit ChromeGpu(ChromeContext& context) : context_(context) {}

  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  /// A launch of a whole graph has its own category, because it names no kernel.
  void add(const GraphRecord& graph);
  /// Keeps the values of a kernel, copy or memset for its slice.
  void add(const ExactRecord& exact);
  void finish();

 private:
  /// A range instance that may get more kernels.
  struct Annotation {
    std::uint64_t range = 0;
    std::uint32_t path = 0;
    TimeNs start_ns = 0, end_ns = 0;
  };
  using StreamKey = std::pair<std::uint32_t, std::uint32_t>;  // context, stream
  struct OpenAnnotations {
    std::uint32_t gpu = 0;
    std::vector<Annotation> stack;  // outermost first
  };

  [[nodiscard]] ChromeRow row(const GpuWork& work);
  void open_args(const GpuWork& work);
  /// Appends exact values, ends the event, and writes its flow and annotation.
  void close_work(const GpuWork& work, ChromeRow at);
  void flow(const GpuWork& work, ChromeRow row);
  void annotate(const GpuWork& work);
  void close_annotation(const StreamKey& key, OpenAnnotations& open);
  [[nodiscard]] bool is_above(std::uint32_t path, std::uint32_t below) const;
  [[nodiscard]] const std::string& config_args(std::uint32_t config, std::uint32_t gpu);
  void append_exact(std::uint32_t correlation);

  ChromeContext& context_;
  std::unordered_map<std::uint64_t, std::string> config_args_;  // by config and GPU
  std::unordered_map<std::uint32_t, ExactRecord> waiting_;      // by correlation id
  std::map<StreamKey, OpenAnnotations> annotations_;
};

}  // namespace rangefinder
