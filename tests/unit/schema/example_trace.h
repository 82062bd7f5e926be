// SPDX-License-Identifier: Apache-2.0
//
// The trace of a small program: at least one line of every kind, every id resolved, the
// ledger balanced. schema/examples/ contains the written form, byte for byte. To write the
// examples again, run the tests with RANGEFINDER_UPDATE_EXAMPLES=1.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "schema/read_line.h"
#include "schema/record.h"
#include "schema/write_line.h"

namespace rangefinder::example {

inline constexpr std::uint32_t kThread = 4712;

inline Header header() {
  Header h;
  h.base_unix_ns = 1763712000123456789;
  h.base_monotonic_ns = 86400000000001;
  h.tool_version = "0.1.0";
  h.pid = 4711;
  h.parent_pid = 4700;
  h.host = "node-1";
  h.executable = "/opt/app/bin/detector";
  h.command = {"detector", "--images", "caf\xc3\xa9 \"1\""};
  h.driver_version = 13000;
  h.driver_release = "580.159.04";
  h.runtime_version = 13000;
  h.cupti_version = 130001;
  h.cupti_path = "/usr/local/cuda/lib64/libcupti.so.13";
  h.counters = "exact";
  h.rank = "0";
  h.ranks = 8;
  return h;
}

inline GpuRecord gpu() {
  GpuRecord g;
  g.name = "NVIDIA H200";
  g.uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  g.compute_major = 9;
  g.sm_count = 132;
  g.warps_per_sm = 64;
  g.registers_per_sm = 65536;
  g.shared_bytes_per_sm = 233472;
  g.memory_bytes = 150109880320;
  g.l2_bytes = 62914560;
  g.memory_bus_bits = 6144;
  g.memory_clock_khz = 3201000;
  g.sm_clock_khz = 1980000;
  g.peak_dram_bytes_per_s = 4916736000000;
  g.peak_flops = {{"fp32", 6.69e13}, {"fp16_tensor", 9.895e14}};
  return g;
}

inline HostWork host(TimeNs start_ns, TimeNs end_ns, std::uint32_t path, std::uint64_t range) {
  return {start_ns, end_ns, kThread, path, range};
}

inline GpuWork work(TimeNs start_ns, TimeNs end_ns, std::uint32_t correlation, std::uint32_t path) {
  return {start_ns, end_ns, 0, 1, 7, correlation, path, path, 0, 0};
}

inline void add_names(std::vector<Line>& lines) {
  lines.emplace_back(header());
  lines.emplace_back(gpu());
  lines.emplace_back(ContextRecord{1, 0, 7, false});
  lines.emplace_back(StreamRecord{7, 1, 0, false});
  lines.emplace_back(StreamRecord{13, 1, -5, true});
  lines.emplace_back(ThreadRecord{kThread, "main"});
  lines.emplace_back(ThreadRecord{4713, "loader"});
  lines.emplace_back(DomainRecord{1, "detector"});
  lines.emplace_back(CategoryRecord{1, 3, "rangefinder.bytes"});
  lines.emplace_back(NameRecord{1, "prefetch"});
  lines.emplace_back(NameRecord{2, "epoch 1"});
  lines.emplace_back(PathRecord{1, 0, 1, "model"});
  lines.emplace_back(PathRecord{2, 1, 1, "encoder/0"});
  lines.emplace_back(ModuleSourceRecord{2, "/opt/app/model.py", 214, "/opt/app/train.py", 30});
  lines.emplace_back(KernelNameRecord{1, "_Z4gemmPf", "gemm(float*)", "own", "no known library in the name"});
  lines.emplace_back(KernelOriginRecord{1, 2, "silu, mul", "/opt/app/model.py", 220});
  lines.emplace_back(FrameRecord{1, "train", "/opt/app/train.py", 30});
  lines.emplace_back(FrameRecord{2, "Loader.decode_image", "/opt/app/data.py", 41});
  lines.emplace_back(StackRecord{1, 0, 1});
  lines.emplace_back(StackRecord{2, 1, 2});
  lines.emplace_back(LaunchConfigRecord{1, {128, 2, 1}, {256, 1, 1}, {2, 1, 1}, 64, 1024, 32768, 34816, 16});
  lines.emplace_back(
      PayloadSchemaRecord{16777216, 1, R"({"type":"struct","entries":[{"name":"n","size":8.0}]})"});
  lines.emplace_back(MetricSetRecord{1, "memory/2", {"lts__t_sectors_op_read.sum", "lts__t_hit_rate.pct"}});
}

/// An exact line of the kernel of this trace, without values.
inline ExactRecord exact_kernel(const HostWork& on_host, std::uint32_t correlation) {
  ExactRecord out;
  out.launch = {on_host, "cuLaunchKernel", correlation, 1, 0};
  out.name = 1;
  out.grid = {128, 2, 1};
  out.block = {256, 1, 1};
  return out;
}

inline void add_gpu_work(std::vector<Line>& lines) {
  lines.emplace_back(LaunchRecord{host(1000, 4000, 2, 2), "cuLaunchKernel", 11, 1, 0});
  lines.emplace_back(KernelRecord{work(6000, 16000, 11, 2), 1, 1});
  lines.emplace_back(LaunchRecord{host(4500, 5000, 1, 1), "cuGraphLaunch", 12, 1, 0});
  KernelRecord node{work(17000, 19000, 12, 1), 1, 1};
  node.work.graph = 5;
  node.work.graph_node = 21474836481;
  lines.emplace_back(node);
  lines.emplace_back(LaunchRecord{host(5100, 5200, 0, 0), "cuMemcpyHtoDAsync", 13, 1, 0});
  lines.emplace_back(MemcpyRecord{work(20000, 21000, 13, 0), CopyKind::HtoD, MemoryKind::pinned,
                                  MemoryKind::device, 1048576, true, 1, 0, 0});
  lines.emplace_back(LaunchRecord{host(5300, 5400, 0, 0), "cuMemcpyPeerAsync", 14, 1, 0});
  lines.emplace_back(MemcpyRecord{work(kNoTime, kNoTime, 14, 0), CopyKind::PtoP, MemoryKind::device,
                                  MemoryKind::device, 4096, true, 1, 0, 1});
  lines.emplace_back(LaunchRecord{host(5500, 5600, 2, 2), "cuMemsetD8Async", 15, 1, 0});
  lines.emplace_back(MemsetRecord{work(22000, 22500, 15, 2), 255, 4096, MemoryKind::device});
  lines.emplace_back(LaunchRecord{host(5700, 5800, 0, 0), "cuLaunchKernel", 16, 1, 701});
  lines.emplace_back(LaunchRecord{host(5850, 5900, 2, 2), "cuGraphLaunch", 31, 1, 0});
  std::get<GraphRecord>(lines.emplace_back(GraphRecord{work(23000, 29000, 31, 2)})).work.graph = 6;
  auto& by_kernel = std::get<GraphRecord>(
      lines.emplace_back(GraphRecord{work(29100, 30500, 31, 2), 6, DeviceLaunch::tail}));
  by_kernel.work.graph = 7;
  ExactRecord exact = exact_kernel(host(30000, 80000, 2, 2), 17);
  exact.measured = true;
  exact.gpu_ns = 9900;
  exact.dram_read_bytes = 2097152;
  exact.l2_bytes = 4194304;
  lines.emplace_back(exact);
  lines.emplace_back(KernelRecord{work(31000, 40700, 17, 2), 1, 1});
  ExactRecord unmeasured;
  unmeasured.launch = {host(80500, 81000, 2, 2), "cuMemcpyDtoDAsync", 18, 1, 0};
  unmeasured.kind = WorkKind::memcpy;
  unmeasured.bytes = 512;
  unmeasured.reason = "the batch was cut off";
  lines.emplace_back(unmeasured);
  lines.emplace_back(MemcpyRecord{work(80900, 81000, 18, 2), CopyKind::DtoD, MemoryKind::device,
                                  MemoryKind::device, 512, true, 1, 0, 0});
}

// A launch with a metric set, and two launches that share a counter range.
inline void add_exact_sets(std::vector<Line>& lines) {
  ExactRecord with_set = exact_kernel(host(81000, 81100, 2, 2), 19);
  with_set.measured = true;
  with_set.gpu_ns = 9800;
  with_set.has_bytes = false;
  with_set.metric_set = 1;
  with_set.values = {65536, std::numeric_limits<double>::quiet_NaN()};
  lines.emplace_back(with_set);
  lines.emplace_back(KernelRecord{work(81090, 90890, 19, 2), 1, 1});
  ExactRecord kernel = exact_kernel(host(81200, 81210, 2, 2), 20);
  kernel.counter_range = 1;
  lines.emplace_back(kernel);
  ExactRecord memset;
  memset.launch = {host(81220, 81230, 2, 2), "cuMemsetD8Async", 21, 1, 0};
  memset.kind = WorkKind::memset;
  memset.bytes = 4096;
  memset.counter_range = 1;
  lines.emplace_back(memset);
  ExactRecord range;
  range.launch.host = host(81150, 81300, 2, 2);
  range.launch.context = 1;
  range.counter_range = 1;
  range.is_counter_range = true;
  range.launches = 2;
  range.kernels = 1;
  range.exclusive = false;
  range.measured = true;
  range.gpu_ns = 10900;
  range.dram_read_bytes = 2097152;
  range.dram_write_bytes = 4096;
  range.l2_bytes = 4198400;
  lines.emplace_back(range);
  lines.emplace_back(KernelRecord{work(91000, 100700, 20, 2), 1, 1});
  lines.emplace_back(MemsetRecord{work(100800, 101300, 21, 2), 0, 4096, MemoryKind::device});
  // A copy large enough to check the counters: its bytes are read and written once.
  ExactRecord copy;
  copy.launch = {host(83000, 83100, 2, 2), "cuMemcpyDtoDAsync", 22, 1, 0};
  copy.kind = WorkKind::memcpy;
  copy.bytes = 268435456;
  copy.measured = true;
  copy.dram_read_bytes = 268697600;
  copy.dram_write_bytes = 268697600;
  copy.l2_bytes = 805306368;
  lines.emplace_back(copy);
  lines.emplace_back(MemcpyRecord{work(102000, 212000, 22, 2), CopyKind::DtoD, MemoryKind::device,
                                  MemoryKind::device, 268435456, true, 1, 0, 0});
}

inline void add_samples(std::vector<Line>& lines) {
  lines.emplace_back(
      SamplingRecord{5000, 0, 20000, {"dram_read", "dram_write", "l2", "engine_active"}, "start"});
  SamplesRecord samples;
  samples.runs = {{10000, 50000, 2}, {70064, 90064, 1}};
  samples.columns[kSampleDramRead] = {1543210, 7, 0};
  samples.columns[kSampleL2] = {3000000, 21, 4294967295};
  samples.columns[kSampleEngineActive] = {97, 3, 1};
  samples.idle_samples = 12;
  samples.idle_units[kSampleDramRead] = 340;
  samples.idle_units[kSamplePcieWrite] = 5000000000;
  lines.emplace_back(samples);
  lines.emplace_back(SamplingRecord{94000, 0, 0, {}, "stop"});
  lines.emplace_back(MonitorRecord{0, 215000, 100000, 2, 9, 3, 85100, 4, 4, 21000, 1, 1200});
}

inline void add_host_work(std::vector<Line>& lines) {
  lines.emplace_back(AllocRecord{host(100, 300, 0, 0), "cuMemAlloc", false, AllocKind::device, 0x7f0000000000,
                                 1048576, 1, 0, 0});
  lines.emplace_back(EventRecord{host(400, 410, 0, 0), false, 0x55aa, 7, 1});
  lines.emplace_back(EventRecord{host(420, 430, 0, 0), true, 0x55aa, 13, 1});
  lines.emplace_back(CaptureRecord{host(440, 450, 1, 1), CaptureStep::begin, 13, 1, 0, 0});
  lines.emplace_back(CaptureRecord{host(460, 470, 1, 1), CaptureStep::end, 13, 1, 0x55bb, 0});
  lines.emplace_back(SyncRecord{host(81500, 90000, 0, 0), "cuEventSynchronize", 1, 0, 0x55aa});
  lines.emplace_back(AllocRecord{host(91000, 91100, 0, 0), "cuMemFreeAsync", true, AllocKind::async,
                                 0x7f0000000000, 0, 1, 7, 0x55cc});
  lines.emplace_back(OverheadRecord{50, 90, "lazy_function_loading", kThread, 0});
  HostFunctionRecord function{work(30600, 30900, 31, 2), kThread};
  function.wait.graph = 6;
  lines.emplace_back(function);
  lines.emplace_back(HoldRecord{30100, 66100, kThread, HoldCause::counter_batch});
  lines.emplace_back(GapRecord{92000, 93000, "torch.profiler"});
}

inline void add_conditions(std::vector<Line>& lines) {
  const auto value = [](ConditionRecord& record, Condition condition, std::uint64_t number) {
    record.values[static_cast<std::size_t>(condition)] = number;
  };
  ConditionRecord gpu{100, ConditionOf::gpu, 0};
  value(gpu, Condition::sm_mhz, 1455);
  value(gpu, Condition::memory_mhz, 3201);
  value(gpu, Condition::power_w, 691);
  value(gpu, Condition::throttle, 4);  // sw_power_cap
  lines.emplace_back(gpu);
  ConditionRecord process{110};
  value(process, Condition::cpu_ms, 5210);
  value(process, Condition::rss_mib, 812);
  lines.emplace_back(process);
  ConditionRecord thread{120, ConditionOf::thread, kThread};
  value(thread, Condition::cpu_ms, 990);
  lines.emplace_back(thread);
}

inline void add_stacks(std::vector<Line>& lines) {
  StackSampleRecord record{10000, 40000, kThread, 10000, {{0, 2}, {10, 2}, {20, 1}}};
  lines.emplace_back(record);
}

inline void add_nvtx(std::vector<Line>& lines) {
  RangeRecord encoder{2, 900, 86000, kThread, 0, 1, 2, 0, {}};
  encoder.extras = {3, 0xFF76B900, PayloadType::u64, 3145728, 0, {}};
  lines.emplace_back(encoder);
  lines.emplace_back(RangeRecord{1, 430, 87000, kThread, 0, 1, 1, 0, {}});
  lines.emplace_back(RangeRecord{3, 850, 88000, kThread, 4713, 0, 1, 1, {}});
  lines.emplace_back(RangeRecord{4, 89000, kNoTime, kThread, 0, 1, 1, 0, {}});
  const NvtxExtras extended{0, 0, PayloadType::none, 0, 16777216, {1, 0, 0, 0, 0, 0, 0, 0xff}};
  lines.emplace_back(MarkRecord{89500, kThread, 1, 2, 1, 4, extended});
}

// Event lines, by kind.
inline auto events_by_kind(const std::vector<Line>& lines, std::size_t first) {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (!std::holds_alternative<SamplingRecord>(lines[i])) ++counts[std::string(line_kind(lines[i]))];
  }
  return counts;
}

inline std::vector<Line> lines() {
  std::vector<Line> out;
  add_names(out);
  const std::size_t first_event = out.size();
  add_host_work(out);
  add_gpu_work(out);
  add_exact_sets(out);
  add_samples(out);
  add_conditions(out);
  add_stacks(out);
  add_nvtx(out);

  EndRecord end;
  FlushRecord flush;
  for (const auto& [kind, count] : events_by_kind(out, first_event)) {
    end.records.emplace_back(kind, count);
    flush.records += count;
  }
  flush.at_ns = 97000;
  flush.loss[static_cast<std::size_t>(Loss::gpu_work_untimed)] = 1;
  end.at_ns = 220000;
  end.reason = "exit";
  end.balance = {{{4, 1, 3, 0}, {4, 2, 2, 0}, {2, 1, 1, 0}, {2, 2, 0, 0}}};
  end.truth = {1, 536870912, 537395200};
  end.loss = flush.loss;
  end.loss[static_cast<std::size_t>(Loss::nvtx_unclosed)] = 1;
  end.loss[static_cast<std::size_t>(Loss::exact_unmeasured)] = 1;
  end.own_cost = {9, 210, 900, 40000, 5200, 2, 1048576, 50000, 1, 700000, 4710, 12000000, 3000, 36000, 1500};
  out.emplace_back(ClockRecord{96000, 95990});
  out.emplace_back(flush);
  out.emplace_back(end);
  return out;
}

/// A Line as text; an UnknownLine has none.
inline std::string text_of(const Line& line) {
  std::string out;
  std::visit(
      [&](const auto& record) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(record)>, UnknownLine>) write_line(out, record);
      },
      line);
  return out;
}

/// Content of the example file `name`. Writes it first if the environment requests it.
inline std::string example_file(const std::string& name, const std::string& expected) {
  const auto path = std::filesystem::path(RANGEFINDER_SCHEMA_FOLDER) / "examples" / name;
  if (std::getenv("RANGEFINDER_UPDATE_EXAMPLES") != nullptr)
    std::ofstream(path, std::ios::binary) << expected;
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace rangefinder::example
