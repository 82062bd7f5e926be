// SPDX-License-Identifier: Apache-2.0
//
// The parts of a timeline, each of some kinds of lines. Each line is added to those parts that take its kind.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/condition_totals.h"
#include "tools/export/chrome_timeline.h"

namespace rangefinder {

/// GPU work as slices: one row per stream, and rows with the modules of each stream's kernels.
///
///   stream 13           ▇gemm▇ ▇add▇   ▇gemm▇
///   stream 13 modules   ▇ encoder/0 ▇  ▇ encoder/1 ▇      first start to last end of an instance's kernels
///
/// An exact line precedes the kernel with the same correlation id, whose slice gets its bytes.
/// Memory: exact lines without their kernel so far, one annotation per stream and nesting level, a node a
/// graph.
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
  /// Writes timed work, with the members of its arguments that `add(std::string&)` appends, its exact values,
  /// its flow and its annotation.
  template <typename Add>
  void slice(const GpuWork& work, std::string_view category, std::string_view name, Add&& add);
  /// Where the flow of a launch reaches GPU work.
  struct FlowPoint {
    std::uint32_t correlation = 0;
    ChromeRow row;
    TimeNs start_ns = 0;
  };
  void flow(const GpuWork& work, ChromeRow row);
  void write_flow(char phase, const FlowPoint& point);
  void annotate(const GpuWork& work);
  void close_annotation(const StreamKey& key, OpenAnnotations& open);
  [[nodiscard]] bool is_above(std::uint32_t path, std::uint32_t below) const;
  [[nodiscard]] const std::string& config_args(std::uint32_t config, std::uint32_t gpu);
  void append_exact(std::uint32_t correlation);

  ChromeContext& context_;
  std::unordered_map<std::uint64_t, std::string> config_args_;  // by config and GPU
  std::unordered_map<std::uint32_t, ExactRecord> waiting_;      // by correlation id
  std::map<StreamKey, OpenAnnotations> annotations_;
  std::map<std::uint32_t, FlowPoint>
      latest_nodes_;  // by graph: of its last launch, the node that starts last
};

/// Host calls, and the profiler's holds in them, as slices on the rows of their threads, and the flows from
/// launches to the GPU.
///
/// No argument may be named "stream", because readers treat an event with one as GPU work. Overhead of CUDA
/// and CUPTI and counter ranges have their own rows, because they need not nest with calls.
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
  void add(const HostFunctionRecord& function);

 private:
  /// False: the call has no times.
  template <typename Add>
  bool call(const HostWork& host, std::string_view api, Add&& add);
  [[nodiscard]] ChromeRow overhead_row(TimeNs start_ns, TimeNs end_ns);
  void launch_slice(const LaunchRecord& launch, std::string_view unmeasured);
  void counter_range(const ExactRecord& exact);

  ChromeContext& context_;
};

/// NVTX ranges and marks on the rows of their threads.
///
/// Push/pop ranges of one domain nest, but those of two domains need not. So ranges of the default domain are
/// on the thread's row, together with its calls, and every other domain has its own row. Start/end ranges may
/// cross threads and each other: they are asynchronous events (b, e). A range that was never closed lasts to
/// the end of the trace and has the argument "unclosed".
class ChromeNvtx {
 public:
  explicit ChromeNvtx(ChromeContext& context) : context_(context) {}

  void add(const RangeRecord& range);
  void add(const MarkRecord& mark);

 private:
  [[nodiscard]] ChromeRow row(std::uint32_t thread, std::uint32_t domain);
  [[nodiscard]] bool is_step(const RangeRecord& range);
  void args(const NvtxExtras& extras, std::uint32_t domain, std::uint64_t external_id, std::uint32_t path,
            bool unclosed);

  ChromeContext& context_;
  std::unordered_map<std::uint32_t, bool> step_paths_;
  std::uint64_t steps_ = 0;
};

/// Host stacks as nested slices, on a row of its own for each thread.
///
///   main stacks   ▇ train ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇    a sample each interval: a slice lasts as long as
///                 ▇ Loader.__next__ ▇▇   ▇ step ▇▇▇▇▇▇    consecutive samples have the function at its depth
///
/// Lines of a function differ from sample to sample: a slice names that of its first one. More than two
/// intervals without a sample end all slices one interval after the last. Slices that start together must be
/// written from the outermost in, so each has an event where it starts and one where it ends (B, E) instead
/// of one where it ends (X), which would come after those in it. Memory: one stack a thread.
class ChromeStacks {
 public:
  explicit ChromeStacks(ChromeContext& context) : context_(context) {}

  void add(const StackSampleRecord& record);
  void finish();

 private:
  struct Thread {
    ChromeRow row;
    std::vector<std::uint32_t> open;  ///< frames, outermost first
    TimeNs last_ns = INT64_MIN;       ///< time of the latest sample
    std::uint32_t interval_ns = 0;    ///< of the latest sample
  };
  [[nodiscard]] Thread& thread_of(const StackSampleRecord& record);
  /// The functions `open` and frames_ have in common, from the outermost on.
  [[nodiscard]] std::size_t alike(const Thread& thread) const;
  void close(Thread& thread, std::size_t depth, TimeNs at_ns);
  void open(Thread& thread, TimeNs at_ns);

  ChromeContext& context_;
  std::map<std::uint32_t, Thread> threads_;
  std::vector<std::uint32_t> frames_;  // of one sample
};

/// Hardware samples as counters of the GPU: DRAM read and write, L2, and engine and SM activity.
///
///   {"ph":"C","name":"DRAM","args":{"read (bytes/s)":3.1e12,"write (bytes/s)":8.4e11}}
///
/// A value holds until the next one. Between two runs of samples the counters are 0: the GPU was idle, or
/// samples were lost, which the loss ledger counts. Columns that were not collected have no counter. The link
/// columns (PCIe, NVLink) are omitted: their bytes are reported in one of up to 50 samples, so a rate per
/// sample would be wrong.
class ChromeSamples {
 public:
  explicit ChromeSamples(ChromeContext& context) : context_(context) {}

  void add(const SamplingRecord& sampling);
  void add(const SamplesRecord& samples);
  void finish();

 private:
  struct Gpu {
    std::array<bool, kSampleColumns> collected{};
    TimeNs run_end_ns = kNoTime;  ///< end of the latest run
  };
  /// Writes counter values at `at_ns`; zeros if `samples` is nullptr or `place` is beyond its columns.
  void counters(std::uint32_t gpu, const Gpu& state, const SamplesRecord* samples, std::size_t place,
                TimeNs at_ns, double sample_ns);

  ChromeContext& context_;
  std::map<std::uint32_t, Gpu> gpus_;
};

/// Conditions as counters: of a GPU on its process, of the process on the program's.
///
///   {"ph":"C","name":"SM clock, MHz","args":{"value":1455}}
///
/// Counts are rates a second between two of their lines. Threads have none: their slices show what they do.
class ChromeConditions {
 public:
  explicit ChromeConditions(ChromeContext& context) : context_(context) {}

  void add(const ConditionRecord& record);

 private:
  struct Count {
    TimeNs at_ns = 0;
    std::uint64_t value = 0;
  };
  void counter(ChromeRow row, std::size_t condition, TimeNs at_ns, double value);

  ChromeContext& context_;
  std::map<std::pair<ConditionSubject, std::size_t>, Count> counts_;  // the latest
};

}  // namespace rangefinder
