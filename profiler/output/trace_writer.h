// SPDX-License-Identifier: Apache-2.0
//
// Writes records so that every segment can be read alone: the lines of the names that a
// record refers to come before it, once per segment.
//
//   KernelRecord ─▶ kernel_name? config? path (and its parents)? thread? ─▶ kernel line
//
// Drain thread only. Never throws but bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/events/recorder.h"
#include "profiler/output/id_set.h"
#include "profiler/output/kernel_names.h"
#include "profiler/output/path_sources.h"
#include "profiler/output/segment_log.h"
#include "profiler/output/stack_lines.h"
#include "schema/record.h"

namespace rangefinder {

class TraceWriter {
 public:
  TraceWriter(Recorder& recorder, SegmentLog& segments, KernelNames& kernels) noexcept
      : recorder_(recorder),
        segments_(segments),
        kernels_(kernels),
        sources_(recorder.paths),
        stack_lines_(recorder) {}

  /// Repeated at the start of this and every later segment.
  void set_header(const Header& header) { header_ = header; }
  void add_gpu(const GpuRecord& gpu);
  void add_context(const ContextRecord& context);
  void add_domain(std::uint32_t domain);
  void add_stream(const StreamRecord& stream);
  void add_category(const CategoryRecord& category);
  void add_payload_schema(const PayloadSchemaRecord& schema);
  /// Call before the first record that refers to it. Its line is written with that record, once per segment.
  void add_metric_set(const MetricSetRecord& set);
  /// Repeated at the start of later segments, until the GPU has a newer one.
  void add_sampling(const SamplingRecord& sampling);
  /// Contexts so far, and their GPUs.
  [[nodiscard]] std::size_t contexts() const noexcept { return contexts_.size(); }
  [[nodiscard]] std::vector<GpuRecord> used_gpus() const;
  void name_thread(std::uint32_t thread, const std::string& name);
  /// Its line follows that of each path of the module. `module`: module_chain() of its names.
  void add_module_source(std::uint32_t path, std::uint64_t module, const PathSource& source);
  /// Its line follows that of the kernel. `path`: of a launch. The first kMaxKept of a trace.
  void add_kernel_origin(std::uint32_t path, const GeneratedKernel& origin);

  void write(const KernelRecord& record);
  void write(const MemcpyRecord& record);
  void write(const MemsetRecord& record);
  void write(const GraphRecord& record);
  void write(const LaunchRecord& record);
  void write(const ExactRecord& record);
  void write(const SamplesRecord& record);
  void write(const MonitorRecord& record);
  void write(const SyncRecord& record);
  void write(const AllocRecord& record);
  void write(const EventRecord& record);
  void write(const CaptureRecord& record);
  void write(const OverheadRecord& record);
  void write(const HoldRecord& record);
  void write(const GapRecord& record);
  void write(const ConditionRecord& record);
  void write(const HostFunctionRecord& record);
  void write(const StackSampleRecord& record);
  void write(const RangeRecord& record);
  void write(const MarkRecord& record);
  void write(const ClockRecord& record);
  void write(const FlushRecord& record);
  void write(const EndRecord& record);

  /// Event lines so far, by kind: {"kernel", 1200}, …; kinds without lines are omitted.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> counts() const;
  [[nodiscard]] std::uint64_t records() const noexcept;

  [[nodiscard]] const Header& header() const noexcept { return header_; }
  [[nodiscard]] const std::vector<GpuRecord>& gpus() const noexcept { return gpus_; }

 private:
  /// For each of contexts, streams, threads, categories, payload schemas and metric sets: an application
  /// that makes them for days must not grow our memory.
  static constexpr std::size_t kMaxKept = 65'536;

  enum Kind : std::size_t {
    kKernel,
    kMemcpy,
    kMemset,
    kGraph,
    kLaunch,
    kExact,
    kSamples,
    kMonitor,
    kSync,
    kAlloc,
    kFree,
    kEventRecord,
    kStreamWait,
    kCapture,
    kOverhead,
    kHold,
    kHostFunction,
    kGap,
    kCondition,
    kStackSample,
    kRange,
    kMark,
    kKinds
  };
  void begin();  // begins a group of lines
  template <typename Record>
  void line(const Record& record);
  template <typename Record>
  void event(const Record& record, Kind kind);
  void need_gpu(std::uint32_t gpu);
  void need_work(const GpuWork& work);
  void need_host(const HostWork& host);
  void need_path(std::uint32_t path);
  void write_source(std::uint32_t path);
  using Origin = std::pair<std::uint32_t, GeneratedKernel>;  // path
  void write_origin(std::uint32_t kernel, const Origin& origin);
  [[nodiscard]] std::string text_of(std::uint32_t name) const;
  void need_domain(std::uint32_t domain);
  void need_name(std::uint32_t name);
  void need_thread(std::uint32_t thread);
  void need_kernel_name(std::uint32_t name);
  void need_config(std::uint32_t config);
  void need_stream(std::uint32_t stream);
  void need_metric_set(std::uint32_t set);
  void write_fixed_lines();

  Recorder& recorder_;
  SegmentLog& segments_;
  KernelNames& kernels_;
  Header header_;
  std::vector<GpuRecord> gpus_;
  std::unordered_map<std::uint32_t, SamplingRecord> samplings_;  // by GPU, the latest
  std::vector<ContextRecord> contexts_;
  std::unordered_map<std::uint32_t, StreamRecord> streams_;
  std::vector<CategoryRecord> categories_;
  std::vector<PayloadSchemaRecord> schemas_;
  std::unordered_map<std::uint32_t, MetricSetRecord> metric_sets_;
  std::unordered_map<std::uint32_t, std::string> threads_;
  PathSources sources_;
  std::unordered_map<std::uint32_t, std::vector<Origin>> origins_;  // by kernel
  std::size_t origins_kept_ = 0;
  std::array<std::uint64_t, kKinds> counts_{};
  // Ids that already have a line in this segment.
  IdSet paths_, domains_, names_, kernel_names_, configs_, written_sets_;
  StackLines stack_lines_;
  std::unordered_map<std::uint32_t, bool> written_threads_, written_streams_;
};

}  // namespace rangefinder
