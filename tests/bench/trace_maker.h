// SPDX-License-Identifier: Apache-2.0
//
// Makes a valid trace of any length: a program that runs a model again and again.
//
//   iteration ─▶ modules of the model in order, each an NVTX range in that of its parent
//                  └▶ leaves launch kernels; the input is copied in, the result out, then the host waits
//
// Lines come in the profiler's order: names before their use and again in each segment, host events in the
// order of their thread, a range when it closes, GPU records per buffer after their launches, heartbeats, and
// an end that counts them all. Times follow a fixed rule: the same options give the same bytes. Memory grows
// with the paths, not with the kernels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/record.h"
#include "tests/bench/made_counters.h"
#include "tests/bench/made_exact.h"
#include "tests/bench/made_sampler.h"
#include "tests/bench/trace_segments.h"

namespace rangefinder::bench {

struct TraceMakerOptions {
  std::uint64_t kernels = 1'000'000;
  std::uint32_t paths = 500;
  std::string out;
  bool sampled = false;  ///< hardware samples
  bool graphs = false;   ///< every second module below the model is a replayed CUDA graph
  bool exact = false;    ///< exact lines instead of launches; as no recording does, also beside samples
  bool ranges = false;   ///< the launches of a module's call share a counter range; implies `exact`
  std::string truth;     ///< file for the true bytes of each path (MadeCounters::write_truth); empty: none
};

class TraceMaker {
 public:
  explicit TraceMaker(TraceMakerOptions options);
  /// Writes the whole trace. Throws std::runtime_error if the files cannot be written.
  void make();
  [[nodiscard]] std::uint64_t lines() const noexcept { return out_.lines(); }

 private:
  /// An executable graph. Its nodes are those that the module's first call captured.
  struct Graph {
    struct Node {
      std::uint32_t path, name, config;
      std::uint64_t range;
      TimeNs took_ns;
    };
    std::uint32_t id = 0;
    std::vector<Node> nodes;
  };
  struct Module {
    PathRecord path;
    std::vector<std::size_t> children;
    std::optional<Graph> graph;
  };
  void plan();
  void plan_graphs();
  [[nodiscard]] std::uint64_t kernels_of(const Module& module) const;
  void iterate();
  void run_module(std::size_t index);
  void run_content(const Module& module, std::uint64_t range);
  void capture(Module& module, std::uint64_t range);
  void launch_graph(const Module& module, std::uint64_t range);
  void launch_kernel(std::uint32_t path, std::uint64_t range);
  [[nodiscard]] KernelRecord kernel_at(TimeNs start_ns, const Graph::Node& node);
  void copy(bool to_device);
  TimeNs launch(const char* api, TimeNs took_ns, std::uint32_t path, std::uint64_t range,
                const MadeWork& work);
  void end_counter_range();
  [[nodiscard]] MadeBytes run(const KernelRecord& kernel);
  void flush_gpu_records();
  void begin_segment();
  void end_trace();
  [[nodiscard]] bool counts_bytes() const noexcept { return sampler_ || exact_ || !options_.truth.empty(); }

  TraceMakerOptions options_;
  TraceSegments out_;
  std::vector<Module> modules_;
  Graph* capturing_ = nullptr;
  MadeCounters counters_;
  std::optional<MadeSampler> sampler_;
  std::optional<MadeExact> exact_;
  std::vector<KernelRecord> waiting_kernels_;  // the content of an incomplete buffer
  std::vector<MemcpyRecord> waiting_copies_;
  std::array<std::uint64_t, 4> launches_{};  // by WorkKind, without captured ones
  std::uint64_t kernels_ = 0, ranges_ = 0;
  std::uint32_t correlation_ = 0;
  TimeNs host_ns_ = 1'000'000, gpu_ns_ = 1'000'000;
};

}  // namespace rangefinder::bench
