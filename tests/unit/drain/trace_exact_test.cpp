// SPDX-License-Identifier: Apache-2.0
//
// Launches with counters: their exact lines, and the records that belong to them.
#include <cstdint>

#include "profiler/drain/trace_builder.h"
#include "tests/catch.h"
#include "tests/unit/drain/built_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

void put(TraceBuilder& builder, const ExactLaunch& launch) {
  builder.on_exact({&launch, 1});
}

constexpr std::int64_t kSecond = 1'000'000'000;

// Only the metrics of ExactMetric: the lines name no metric set.
MetricSetRecord plain_set() {
  MetricSetRecord set{metric_set_id(0, 0), "bytes", {}};
  for (std::size_t i = 0; i < kExactMetrics; ++i) set.metrics.emplace_back(kExactMetricNames[i]);
  return set;
}

ExactLaunch exact_launch(std::uint32_t correlation, std::string_view api, std::uint32_t path,
                         WorkKind kind = WorkKind::kernel) {
  ExactLaunch launch;
  launch.event = launch_event(correlation, api, path);
  launch.thread = kThread;
  launch.kind = kind;
  launch.outcome = CounterOutcome::measured;
  launch.values = {1e6, 1e9, 4096, 2048, 8192};  // a million cycles at 1 GHz
  return launch;
}

constexpr std::uint64_t kGraph = 3;

struct ExactTrace : BuiltTrace {
  ExactTrace() { builder.on_metric_set(plain_set()); }
  /// Node `number` of the graph, captured at `path`; 0: outside of any range.
  void capture(std::uint64_t number, std::uint32_t path) {
    Event made;
    made.kind = EventKind::graph_node;
    made.path = path;
    made.graph.node = 2ULL << 32 | number;
    event(made);
    Event cloned;
    cloned.kind = EventKind::graph_node;
    cloned.graph.node = kGraph << 32 | number;
    cloned.graph.original = made.graph.node;
    event(cloned);
  }
  /// The launch of the graph has returned; its exact line comes with its batch.
  void launch_graph(std::uint32_t correlation, std::uint32_t path) {
    Event launched = launch_event(correlation, "cuGraphLaunch", path);
    launched.flags = kLaunchExact;
    event(launched);
  }
  void run_node(std::uint32_t correlation, std::uint64_t number) {
    KernelActivity kernel = kernel_activity(correlation);
    kernel.work.graph = kGraph;
    kernel.work.graph_node = kGraph << 32 | number;
    builder.on_kernel(kernel);
  }
  void exact_graph(std::uint32_t correlation, std::uint32_t path) {
    put(builder, exact_launch(correlation, "cuGraphLaunch", path, WorkKind::graph));
  }
  [[nodiscard]] PathTotals row(std::uint32_t path) const {
    for (const PathTotals& totals : builder.totals().paths()) {
      if (totals.path == path) return totals;
    }
    FAIL("no row");
    return {};
  }
};

}  // namespace

TEST_CASE("an exact launch has its counters and its kernel, and counts as exact without a record") {
  ExactTrace trace;
  ExactLaunch launch = exact_launch(5, "cuLaunchKernel", trace.layer);
  launch.name = trace.name("_Z3addPf");
  launch.grid = {4, 5, 6};
  launch.block = {128, 1, 1};

  put(trace.builder, launch);
  trace.builder.finish();

  const WrittenTrace written = trace.read();
  const ExactRecord exact = written.only<ExactRecord>();
  CHECK(exact.measured);
  CHECK(static_cast<double>(exact.gpu_ns) == Approx(1e6).margin(10'000));  // minus the range's own cost
  CHECK(exact.dram_read_bytes == 4096);
  CHECK(exact.dram_write_bytes == 2048);
  CHECK(exact.l2_bytes == 8192);
  CHECK(exact.grid == Dim3{4, 5, 6});
  CHECK(exact.launch.host.path == trace.layer);
  CHECK(written.only<KernelNameRecord>().demangled == "add(float*)");
  const LaunchBalance balance = trace.balance(WorkKind::kernel);
  CHECK(balance.launched == 1);
  CHECK(balance.exact == 1);
  CHECK(balance.lost == 0);
  CHECK(trace.loss(Loss::launch_without_record) == 1);  // the kernel's time is missing
}

TEST_CASE("an exact launch without values has a reason, and a failed one is a plain launch line") {
  ExactTrace trace;
  ExactLaunch launch = exact_launch(5, "cuLaunchKernel", trace.layer);
  launch.outcome = CounterOutcome::busy;
  put(trace.builder, launch);
  launch.event.launch.result = 1;
  put(trace.builder, launch);

  const WrittenTrace written = trace.read();
  CHECK_FALSE(written.only<ExactRecord>().measured);
  CHECK(written.only<ExactRecord>().reason == counter_outcome_text(CounterOutcome::busy));
  CHECK(written.only<LaunchRecord>().result == 1);
  CHECK(trace.balance(WorkKind::kernel).launched == 1);
}

TEST_CASE("a measured kernel is one kernel: the time comes from its record, the bytes from counters") {
  ExactTrace trace;
  SECTION("record first, as when a batch is decoded late") {
    trace.builder.on_kernel(kernel_activity(5));
    trace.tick(20 * kSecond);
    CHECK(trace.loss(Loss::record_without_launch) == 0);
    put(trace.builder, exact_launch(5, "cuLaunchKernel", trace.layer));
  }
  SECTION("exact line first") {
    put(trace.builder, exact_launch(5, "cuLaunchKernel", trace.layer));
    trace.builder.on_kernel(kernel_activity(5));
  }
  trace.builder.finish();

  const KernelRecord kernel = trace.read().only<KernelRecord>();
  CHECK(kernel.work.path == trace.layer);
  CHECK(kernel.work.range == trace.layer * 100);
  const PathTotals row = trace.row(trace.layer);
  CHECK(row.kernels == 1);
  CHECK(row.gpu_ns == 3'000);
  CHECK(row.counters.dram_read_bytes == 4096);
  CHECK(row.launches_without_bytes() == 0);
  CHECK(trace.balance(WorkKind::kernel).recorded == 0);
  CHECK(trace.loss(Loss::launch_without_record) == 0);
}

TEST_CASE("a record whose exact line never comes is written at the end, without a path") {
  ExactTrace trace;
  trace.builder.on_kernel(kernel_activity(5));
  trace.tick(TraceBuilder::kPendingExactNs + kSecond);

  CHECK(trace.read().only<KernelRecord>().work.path == 0);
  CHECK(trace.loss(Loss::record_without_launch) == 1);
}

TEST_CASE("the kernel that CUPTI launches at the end of a counter range is excluded") {
  KernelActivity wait = kernel_activity(5);
  wait.name = "WaitNs";
  wait.config.grid = wait.config.block = {1, 1, 1};
  SECTION("with counter ranges") {
    ExactTrace trace;
    put(trace.builder, exact_launch(5, "cuLaunchKernel", trace.layer));
    trace.builder.on_kernel(kernel_activity(5));
    trace.builder.on_kernel(wait);
    trace.builder.finish();
    CHECK(trace.row(trace.layer).kernels == 1);
    CHECK(trace.read().only<KernelRecord>().work.correlation == 5);
  }
  SECTION("an application's kernel of that name has another shape") {
    ExactTrace trace;
    wait.config.block = {32, 1, 1};
    trace.builder.on_kernel(wait);
    trace.builder.finish();
    CHECK(trace.read().all<KernelRecord>().size() == 1);
  }
  SECTION("without counter ranges it is any kernel") {
    BuiltTrace trace;
    trace.builder.on_kernel(wait);
    trace.builder.finish();
    CHECK(trace.read().all<KernelRecord>().size() == 1);
  }
}

TEST_CASE("an exact copy of 0 bytes has no record, and none is missing") {
  ExactTrace trace;
  put(trace.builder, exact_launch(5, "cuMemcpyHtoDAsync", trace.layer, WorkKind::memcpy));
  ExactLaunch copy = exact_launch(6, "cuMemcpyHtoDAsync", trace.layer, WorkKind::memcpy);
  copy.bytes = 64;
  put(trace.builder, copy);
  trace.builder.finish();

  CHECK(trace.loss(Loss::launch_without_record) == 1);
  CHECK(trace.balance(WorkKind::memcpy).exact == 2);
}

TEST_CASE("graphs of many nodes: no record loses its launch, however many come before the batch is decoded") {
  ExactTrace trace;
  constexpr std::uint32_t kLaunches = 300, kNodes = 300;  // more records than may wait
  static_assert(kLaunches * kNodes > TraceBuilder::kMaxPending);
  for (std::uint64_t node = 0; node < kNodes; ++node) trace.capture(node, trace.layer);
  for (std::uint32_t i = 1; i <= kLaunches; ++i) {
    trace.launch_graph(i, 0);
    for (std::uint64_t node = 0; node < kNodes; ++node) trace.run_node(i, node);
  }
  for (std::uint32_t i = 1; i <= kLaunches; ++i) trace.exact_graph(i, 0);
  trace.builder.finish();

  CHECK(trace.loss(Loss::record_without_launch) == 0);
  CHECK(trace.loss(Loss::launch_without_record) == 0);
  CHECK(trace.row(trace.layer).kernels == kLaunches * kNodes);
  CHECK(trace.row(trace.layer).counters.dram_read_bytes == kLaunches * 4096);
  CHECK(trace.row(trace.layer).launches_without_bytes() == 0);
}

TEST_CASE("a graph's bytes belong to the deepest path that all its nodes were captured in") {
  struct Case {
    bool in_replay;     // the launch is in a range, else outside of any
    bool node_outside;  // a node was captured outside of any range: the launch's path has the bytes
    bool line_first;    // the exact line comes before the records
  };
  for (const Case& of : {Case{false, false, false}, Case{false, false, true}, Case{true, false, false},
                         Case{true, false, true}, Case{true, true, false}, Case{true, true, true}}) {
    ExactTrace trace;
    const std::uint32_t other = trace.recorder.paths.child({trace.model, trace.name("other"), 0});
    const std::uint32_t replay = trace.recorder.paths.child({0, trace.name("replay"), 0});
    const std::uint32_t launched_at = of.in_replay ? replay : 0;
    const std::uint32_t bytes_path = of.node_outside ? replay : trace.model;
    trace.capture(0, trace.layer);
    trace.capture(1, other);
    if (of.node_outside) trace.capture(2, 0);
    trace.launch_graph(5, launched_at);
    if (of.line_first) {
      trace.exact_graph(5, launched_at);
      trace.tick(kSecond);
      CHECK(trace.read().all<ExactRecord>().empty());  // no record has said yet which graph it was
    }
    trace.run_node(5, 0);
    trace.run_node(5, 1);
    if (!of.line_first) trace.exact_graph(5, launched_at);
    trace.builder.finish();

    CHECK(values_path(trace.read().only<ExactRecord>()) == bytes_path);
    CHECK(trace.row(bytes_path).counters.dram_read_bytes == 4096);
    CHECK(trace.row(bytes_path).counters.recorded_kernels == 1);
    CHECK(trace.row(trace.layer).launches_without_bytes() == 1);
    CHECK(trace.row(trace.layer).counters.with_bytes == 0);
    if (!of.node_outside) CHECK(trace.row(trace.model).launches_without_bytes() == 0);
  }
}
