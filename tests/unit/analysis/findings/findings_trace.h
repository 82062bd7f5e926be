// SPDX-License-Identifier: Apache-2.0
//
// Traces for the tests of findings: synthetic with the sizes of an H200, or recorded on one.
//
//   MadeTrace trace;  trace.repeat(5, [&](TimeNs at) { … return end; });  trace.found() ─▶ Findings
//   found_in("multi_stream")                                               ─▶ Findings of golden lines
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/analysis/queries/expected.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/queries/whole_trace.h"

namespace rangefinder::test {

inline const Finding* find(const std::vector<Finding>& findings, std::string_view id) {
  const auto at =
      std::find_if(findings.begin(), findings.end(), [id](const Finding& f) { return f.id == id; });
  return at == findings.end() ? nullptr : &*at;
}

/// The first finding of a rule; fails the test if there is none.
inline Finding required(const std::vector<Finding>& findings, std::string_view id) {
  const Finding* const found = find(findings, id);
  if (found == nullptr) FAIL("no finding " << id);
  return *found;
}

inline std::set<std::string> ids(const std::vector<Finding>& findings) {
  std::set<std::string> out;
  for (const Finding& finding : findings) out.insert(finding.id);
  return out;
}

/// The number under `key` of a finding's evidence; -1: there is none.
inline double number(const Finding& finding, std::string_view key) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.key != key) continue;
    if (const auto* const n = std::get_if<std::uint64_t>(&evidence.value)) return static_cast<double>(*n);
    if (const auto* const x = std::get_if<double>(&evidence.value)) return *x;
  }
  return -1;
}
inline std::string text(const Finding& finding, std::string_view key) {
  for (const Evidence& evidence : finding.evidence) {
    const auto* const value = std::get_if<std::string>(&evidence.value);
    if (evidence.key == key && value != nullptr) return *value;
  }
  return "";
}

inline void check_evidence(const Finding& finding, std::initializer_list<Expected> values) {
  INFO(finding.id);
  check_expected(
      values, [&finding](const std::string& key) { return number(finding, key); },
      [&finding](const std::string& key) { return text(finding, key); });
}

/// `all`: also those of set-up and warm-up.
inline std::vector<Finding> findings_of(const std::filesystem::path& folder, bool all = false) {
  WholeTrace trace(open_trace_folder(folder), FindingFacts::kColumns);
  FindingRules rules(trace.iterations());
  rules.read([&trace](const auto& see) { trace.each(see); });
  SectionView view;
  view.all = all;
  return rules.findings({trace.totals(), trace.values(), view});
}

/// The findings of the golden lines of tests/replay/NAME.
inline std::vector<Finding> found_in(const std::string& name, bool all = false) {
  return findings_of(std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / name, all);
}

inline GpuRecord h200() {
  GpuRecord out = gpu();
  out.name = "NVIDIA H200";
  out.warps_per_sm = 64;
  out.registers_per_sm = 65'536;
  out.shared_bytes_per_sm = 233'472;
  out.l2_bytes = 62'914'560;
  out.sm_clock_khz = 1'980'000;
  out.peak_dram_bytes_per_s = 4'814'304'000'000;
  out.peak_flops = {{"fp32", 6.690816e13}, {"tf32_tensor", 5.3526528e14}};
  return out;
}

inline LaunchConfigRecord grid_of(std::uint32_t blocks, std::uint32_t threads, std::uint32_t registers = 32) {
  LaunchConfigRecord out;
  out.grid = {blocks, 1, 1};
  out.block = {threads, 1, 1};
  out.registers = registers;
  return out;
}

/// One kernel and its launch.
struct MadeKernel {
  std::uint32_t path = 0, name = 1, config = 1;
  TimeNs launched = 0;  ///< the call takes 4 us
  TimeNs start = 0, end = 0;
  std::uint32_t stream = 13;
  std::uint32_t gpu = 0;
};

struct MadeTrace {
  static constexpr std::uint32_t kThread = 4711;
  TemporaryFolder folder;
  std::vector<std::string> lines;
  std::uint32_t correlation = 0, paths = 0, names = 0, configs = 0;
  std::uint64_t ranges = 0;

  MadeTrace() {
    put(header());
    put(h200());
    put(ContextRecord{1, 0, 7, false});
  }

  template <typename Record>
  void put(const Record& record) {
    lines.push_back(line_of(record));
  }
  std::uint32_t add_path(const std::string& name, std::uint32_t parent = 0) {
    put(test::path(++paths, parent, name));
    return paths;
  }
  std::uint32_t add_name(const std::string& demangled) {
    put(kernel_name(++names, demangled));
    return names;
  }
  std::uint32_t add_config(LaunchConfigRecord config) {
    config.id = ++configs;
    put(config);
    return configs;
  }
  void add_range(std::uint32_t of_path, TimeNs start, TimeNs end) {
    put(test::range(++ranges, of_path, start, end));
  }

  void launch(std::uint32_t path, TimeNs at, const char* api = "cuLaunchKernel", TimeNs length = 4'000) {
    put(LaunchRecord{{at, at + length, kThread, path, 0}, api, ++correlation, 1, 0});
  }
  void add(const MadeKernel& made) {
    launch(made.path, made.launched);
    put(KernelRecord{
        {made.start, made.end, made.gpu, 1, made.stream, correlation, made.path}, made.name, made.config});
  }
  /// A kernel that starts 5 us after its launch. Returns its end.
  TimeNs add(std::uint32_t path, std::uint32_t name, std::uint32_t config, TimeNs at, TimeNs length) {
    add({path, name, config, at - 5'000, at, at + length});
    return at + length;
  }
  void copy(std::uint32_t path, MemoryKind source, bool async, std::uint64_t bytes, TimeNs at, TimeNs length,
            TimeNs call = 4'000) {
    launch(path, at - 5'000, async ? "cuMemcpyHtoDAsync" : "cuMemcpyHtoD", call);
    MemcpyRecord out{test::kernel(correlation, path, at, at + length).work,
                     CopyKind::HtoD,
                     source,
                     MemoryKind::device,
                     bytes,
                     async};
    out.work.stream = 13;
    put(out);
  }
  void sync(std::uint32_t path, TimeNs start, TimeNs end) {
    put(SyncRecord{{start, end, kThread, path, 0}, "cuStreamSynchronize", 1, 13, 0});
  }
  void alloc(std::uint32_t path, bool is_free, TimeNs start, TimeNs end, AllocKind kind = AllocKind::device) {
    put(AllocRecord{.host = {start, end, kThread, path, 0},
                    .api = is_free ? "cuMemFree" : "cuMemAlloc",
                    .is_free = is_free,
                    .kind = kind,
                    .address = 0x7000'0000,
                    .bytes = is_free ? 0u : 1'048'576u,
                    .context = 1});
  }

  /// `body(start)` adds one iteration and returns its end. Each iteration is a range of path 1.
  void repeat(int times, const std::function<TimeNs(TimeNs)>& body) {
    TimeNs now = 1'000'000;
    for (int i = 0; i < times; ++i) {
      const TimeNs end = body(now);
      add_range(1, now, end);
      now = end;
    }
  }

  /// The end of a trace that knows what recording cost: 2 x 100 ns of ours a launch, 1.2 us of CUPTI's.
  static constexpr std::uint64_t kLaunchCostNs = 1'400;
  bool ends = true;

  [[nodiscard]] std::vector<Finding> found() const {
    write();
    return findings_of(folder.path());
  }
  void write() const {
    std::ofstream out(folder.path() / "trace-00000.ndjson", std::ios::binary);
    for (const std::string& line : lines) out << line;
    EndRecord end = end_record();
    end.own_cost.launch_callbacks = correlation;
    end.own_cost.launch_callback_median_ns = 100;
    if (ends) out << line_of(end);
  }
};

/// Counters of one kernel with the metrics of a metric set.
struct MadeCounters {
  std::uint32_t path = 0, name = 1;
  std::uint64_t dram_read = 0, dram_write = 0, l2 = 0;
  std::vector<double> values;  ///< of metric set `set`
  std::uint32_t set = 1, blocks = 1024;
};

/// Adds an exact line, in place of the launch line, and the kernel.
inline void add_exact(MadeTrace& trace, const MadeCounters& counters, std::uint32_t config, TimeNs start,
                      TimeNs length) {
  ExactRecord exact;
  const HostWork call{start - 20'000, start + length + 20'000, MadeTrace::kThread, counters.path, 0};
  exact.launch = {call, "cuLaunchKernel", ++trace.correlation, 1, 0};
  exact.name = counters.name;
  exact.grid = {counters.blocks, 1, 1};
  exact.block = {256, 1, 1};
  exact.measured = true;
  exact.gpu_ns = static_cast<std::uint64_t>(length);
  exact.dram_read_bytes = counters.dram_read;
  exact.dram_write_bytes = counters.dram_write;
  exact.l2_bytes = counters.l2;
  exact.metric_set = counters.values.empty() ? 0 : counters.set;
  exact.values = counters.values;
  trace.put(exact);
  KernelRecord record = kernel(trace.correlation, counters.path, start, start + length);
  record.name = counters.name;
  record.config = config;
  trace.put(record);
}

}  // namespace rangefinder::test
