// SPDX-License-Identifier: Apache-2.0
//
// The join for CUDA graphs: records of nodes, and of launches as a whole.
#include <cstdint>

#include "profiler/drain/trace_builder.h"
#include "tests/catch.h"
#include "tests/unit/drain/built_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

TEST_CASE("the nodes of a graph are joined to its launch, and to the range they were captured in") {
  BuiltTrace trace;
  Event made;
  made.kind = EventKind::graph_node;
  made.path = trace.layer;
  made.range = 41;
  made.graph.node = 900;
  trace.event(made);
  Event cloned;  // by the instantiation, in another place
  cloned.kind = EventKind::graph_node;
  cloned.graph.node = 901;
  cloned.graph.original = 900;
  trace.event(cloned);
  trace.event(launch_event(5, "cuGraphLaunch", trace.model));

  for (const std::uint64_t node : {901u, 902u}) {
    KernelActivity kernel = kernel_activity(5);
    kernel.work.graph = 3;
    kernel.work.graph_node = node;
    trace.builder.on_kernel(kernel);
  }
  trace.builder.finish();

  const auto kernels = trace.read().all<KernelRecord>();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].work.path == trace.layer);
  CHECK(kernels[0].work.range == 41);
  CHECK(kernels[0].work.captured);
  CHECK(kernels[1].work.path == trace.model);  // an unknown node: the launch's path
  CHECK_FALSE(kernels[1].work.captured);
  CHECK(trace.loss(Loss::graph_nodes_unseen) == 1);
  CHECK(trace.balance(WorkKind::graph).launched == 1);
  CHECK(trace.balance(WorkKind::graph).recorded == 1);
}

TEST_CASE("a node created outside of any range has the launch's path, and is not counted as unseen") {
  BuiltTrace trace;
  Event made;
  made.kind = EventKind::graph_node;
  made.graph.node = 900;
  trace.event(made);
  trace.event(launch_event(5, "cuGraphLaunch", trace.model));
  KernelActivity kernel = kernel_activity(5);
  kernel.work.graph = 3;
  kernel.work.graph_node = 900;

  trace.builder.on_kernel(kernel);

  const KernelRecord written = trace.read().only<KernelRecord>();
  CHECK(written.work.path == trace.model);
  CHECK_FALSE(written.work.captured);
  CHECK(trace.loss(Loss::graph_nodes_unseen) == 0);
}

TEST_CASE("a node's kernel has the name at capture, even if CUPTI's record has another kernel's name") {
  BuiltTrace trace;
  Event made;
  made.kind = EventKind::graph_node;
  made.graph.node = 900;
  made.graph.kernel = trace.name("jit_0007");
  trace.event(made);
  Event cloned;
  cloned.kind = EventKind::graph_node;
  cloned.graph.node = 901;
  cloned.graph.original = 900;
  trace.event(cloned);
  trace.event(launch_event(5, "cuGraphLaunch", trace.model));
  KernelActivity kernel = kernel_activity(5);
  kernel.work.graph_node = 901;

  trace.builder.on_kernel(kernel);

  CHECK(trace.read().only<KernelNameRecord>().demangled == "jit_0007");
}

TEST_CASE("a record of a whole graph is joined to its launch, before or after it") {
  BuiltTrace trace;
  trace.event(launch_event(5, "cuGraphLaunch", trace.model));
  for (const std::uint32_t correlation : {5u, 6u}) {
    GraphRecord graph{gpu_work(correlation)};
    graph.work.graph = 3;
    trace.builder.on_graph(graph);
  }
  trace.event(launch_event(6, "cuGraphLaunch", trace.layer));
  trace.builder.finish();

  const auto graphs = trace.read().all<GraphRecord>();
  REQUIRE(graphs.size() == 2);
  CHECK(graphs[0].work.path == trace.model);
  CHECK(graphs[0].work.graph == 3);
  CHECK(graphs[1].work.path == trace.layer);
  CHECK(trace.loss(Loss::graph_nodes_unseen) == 0);
  CHECK(trace.balance(WorkKind::graph).launched == 2);
  CHECK(trace.balance(WorkKind::graph).recorded == 2);
}

TEST_CASE("graph work without times is counted separately") {
  BuiltTrace trace;
  KernelActivity kernel = kernel_activity(5);
  kernel.work.start_ns = kernel.work.end_ns = kNoTime;
  kernel.work.graph = 3;
  kernel.work.graph_node = 900;

  trace.builder.on_kernel(kernel);

  CHECK(trace.builder.untimed_graph_work() == 1);
}
