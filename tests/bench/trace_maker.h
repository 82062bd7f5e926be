// SPDX-License-Identifier: Apache-2.0
//
// Makes a valid trace of any length: a program that runs a model again and again.
//
//   iteration ─▶ modules of the model in order, each an NVTX range in that of its parent
//                  └▶ leaves launch kernels; the input is copied in, the result out, then the host waits
//
// Lines come in the profiler's order: names before their use and again in each segment, host events in the
// order of their thread, a range when it closes, GPU records per buffer after their launches, heartbeats, and
// an end that counts them all. Times follow a fixed rule: the same options give the same bytes. No hardware
// samples, no graphs, no exact lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/record.h"
#include "tests/bench/trace_segments.h"

namespace rangefinder::bench {

struct TraceMakerOptions {
  std::uint64_t kernels = 1'000'000;
  std::uint32_t paths = 500;
  std::string out;
};

class TraceMaker {
 public:
  explicit TraceMaker(TraceMakerOptions options);
  /// Writes the whole trace. Throws std::runtime_error if the files cannot be written.
  void make();
  [[nodiscard]] std::uint64_t lines() const noexcept { return out_.lines(); }

 private:
  struct Module {
    PathRecord path;
    std::vector<std::size_t> children;
  };
  void plan();
  void iterate();
  void run_module(std::size_t module);
  void launch(const char* api, TimeNs took_ns, std::uint32_t path, std::uint64_t range);
  void launch_kernel(std::uint32_t path, std::uint64_t range);
  void copy(bool to_device);
  void flush_gpu_records();
  void begin_segment();
  void end_trace();

  TraceMakerOptions options_;
  TraceSegments out_;
  std::vector<Module> modules_;
  std::vector<KernelRecord> waiting_kernels_;  // the content of an incomplete buffer
  std::vector<MemcpyRecord> waiting_copies_;
  std::uint64_t launched_ = 0, ranges_ = 0;
  std::uint32_t correlation_ = 0;
  TimeNs host_ns_ = 1'000'000, gpu_ns_ = 1'000'000;
};

}  // namespace rangefinder::bench
