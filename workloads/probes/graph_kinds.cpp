// SPDX-License-Identifier: Apache-2.0
//
// Every way in which a node gets into an executable graph, and changes there:
//
//   graph_kinds / while, if_else, switch, if_not, queued   bodies of conditional nodes
//               / children, clones, moved, holes           graphs in graphs
//               / updates, failed_update, child_update     cudaGraphExecUpdate and …ChildGraphNodeSetParams
//               / functions                                another function in a node
//               / recapture                                captured, updated, launched for every token
//               / eager, threads                           launches beside captures
//
// Only by --kinds: `device`, a graph that launches itself, and `broken`, a capture that another thread
// breaks.
//
// A kernel's name says which range it belongs to (graph_kernels.h), whatever was replayed where.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/graph_parts.h"
#include "workloads/probes/jit_module.h"

namespace rangefinder::probe {
namespace {

constexpr int kReplays = 10;

/// What the trace must have.
struct Expected {
  std::map<std::string, std::int64_t> kernels;  // by kernel name
  std::int64_t graph_launches = 0;
  std::int64_t without_record = 0;  // of these: no node of theirs ran
};

void replay(cudaGraphExec_t executable, cudaStream_t stream, int times, Expected& expected,
            bool wait = true) {
  const Range range("replay");
  for (int i = 0; i < times; ++i) {
    check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    if (wait) check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  expected.graph_launches += times;
}

/// A loop of `runs` in `graph`: in_reset, then in_body and in_first.
void add_loop(cudaGraph_t graph, cudaStream_t stream, int runs) {
  int* const left = device_value<int>();
  const auto reset = [&](cudaGraphConditionalHandle) {
    capture_into(graph, stream, [&] {
      const Range range("reset");
      check(launch_reset(left, runs, stream), "in_reset");
    });
  };
  const Conditional loop = add_conditional(graph, cudaGraphCondTypeWhile, 1, 1, reset);
  capture_into(loop.bodies[0], stream, [&] {
    {
      const Range range("body");
      check(launch_body(left, loop.handle, stream), "in_body");
    }
    launch_steps({kFirst}, stream);
  });
}

void loop(cudaStream_t stream, Expected& expected) {
  cudaGraph_t const graph = empty_graph();
  add_loop(graph, stream, 7);
  replay(instantiate(graph), stream, 5, expected);
  expected.kernels = {{"in_reset", 5}, {"in_body", 35}, {"in_first", 35}};
}

void queued(cudaStream_t stream, Expected& expected) {
  cudaGraph_t const graph = empty_graph();
  add_loop(graph, stream, 3);
  replay(instantiate(graph), stream, 20, expected, false);
  expected.kernels = {{"in_reset", 20}, {"in_body", 60}, {"in_first", 60}};
}

void choose(cudaStream_t stream, cudaGraphConditionalNodeType type, unsigned bodies, unsigned choices,
            int times, Expected& expected) {
  cudaGraph_t const graph = empty_graph();
  auto* const round = device_value<unsigned>();
  const auto before = [&](cudaGraphConditionalHandle handle) {
    capture_into(graph, stream, [&] {
      const Range range("choose");
      check(launch_choose(round, choices, handle, stream), "in_choose");
    });
  };
  const Conditional made = add_conditional(graph, type, bodies, 0, before);
  const std::vector<Step> steps[] = {{kFirst}, {kSecond, kSecond}, {kThird}};
  for (unsigned i = 0; i < bodies; ++i) capture_into(made.bodies[i], stream, steps[i]);
  replay(instantiate(graph), stream, times, expected);
  expected.kernels["in_choose"] = times;
}

void if_else(cudaStream_t stream, Expected& expected) {
  choose(stream, cudaGraphCondTypeIf, 2, 2, 10, expected);
  expected.kernels["in_first"] = 5;
  expected.kernels["in_second"] = 10;
}

void switch_of_three(cudaStream_t stream, Expected& expected) {
  choose(stream, cudaGraphCondTypeSwitch, 3, 4, 8, expected);  // every fourth launch runs none of them
  expected.kernels["in_first"] = 2;
  expected.kernels["in_second"] = 4;
  expected.kernels["in_third"] = 2;
}

void if_not(cudaStream_t stream, Expected& expected) {
  cudaGraph_t const graph = empty_graph();
  const Conditional made = add_conditional(graph, cudaGraphCondTypeIf, 1, 0);
  capture_into(made.bodies[0], stream, {kFirst});
  replay(instantiate(graph), stream, 5, expected);
  expected.without_record = 5;
}

/// outer = {middle, a kernel}, middle = {inner, inner, a kernel}, inner = two captured kernels.
cudaGraph_t nested(cudaStream_t stream, const Step& one, const Step& two) {
  cudaGraph_t const inner = capture(stream, {one, two}), middle = empty_graph(), outer = empty_graph();
  for (int i = 0; i < 2; ++i) add_child(middle, inner);
  {
    const Range range("third");
    add_kernel(middle, in_third());
  }
  add_child(outer, middle);
  const Range range("outer");
  add_kernel(outer, in_outer());
  return outer;
}

void children(cudaStream_t stream, Expected& expected) {
  cudaGraphExec_t const executable = instantiate(nested(stream, kFirst, kSecond));
  replay(executable, stream, kReplays, expected);
  must_update(executable, nested(stream, kEven, kOdd));
  replay(executable, stream, kReplays, expected);
  expected.kernels = {{"in_first", 20}, {"in_second", 20}, {"in_even", 20},
                      {"in_odd", 20},   {"in_third", 20},  {"in_outer", 20}};
}

void clones(cudaStream_t stream, Expected& expected) {
  cudaGraph_t const graph = nested(stream, kFirst, kSecond);
  cudaGraph_t clone = nullptr, of_clone = nullptr;
  check(cudaGraphClone(&clone, graph), "cudaGraphClone");
  check(cudaGraphClone(&of_clone, clone), "cudaGraphClone");
  cudaGraphExec_t const executables[] = {instantiate(of_clone), instantiate(of_clone), instantiate(clone)};
  for (cudaGraph_t each : {graph, clone, of_clone}) check(cudaGraphDestroy(each), "cudaGraphDestroy");
  for (cudaGraphExec_t each : executables) replay(each, stream, 2, expected);
  expected.kernels = {{"in_first", 12}, {"in_second", 12}, {"in_third", 6}, {"in_outer", 6}};
}

void moved(cudaStream_t stream, Expected& expected) {
#if CUDART_VERSION >= 12090
  cudaGraph_t const graph = empty_graph();
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeGraph;
  parameters.graph.graph = capture(stream, {kFirst, kSecond});
  parameters.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), "cudaGraphAddNode");
  replay(instantiate(graph), stream, kReplays, expected);
  expected.kernels = {{"in_first", kReplays}, {"in_second", kReplays}};
#endif
}

void holes(cudaStream_t stream, Expected& expected) {
  const auto without_second = [&](const std::vector<Step>& steps) {
    cudaGraph_t const graph = capture(stream, steps);
    cudaGraphNode_t nodes[4] = {};
    std::size_t count = steps.size();
    check(cudaGraphGetNodes(graph, nodes, &count), "cudaGraphGetNodes");
    check(cudaGraphDestroyNode(nodes[1]), "cudaGraphDestroyNode");
    return graph;
  };
  cudaGraph_t const graph = without_second({kFirst, kSecond, kThird, kEven});
  add_child(graph, without_second({kOdd, kSecond, kEven, kThird}));
  add_child(graph, capture(stream, {kSecond, kFirst}));
  replay(instantiate(graph), stream, kReplays, expected);
  expected.kernels = {{"in_first", 20}, {"in_second", 10}, {"in_third", 20}, {"in_even", 20}, {"in_odd", 10}};
}

void updates(cudaStream_t stream, Expected& expected) {
  cudaGraph_t const even = capture(stream, {kEven, kFirst}), odd = capture(stream, {kOdd, kSecond});
  cudaGraphExec_t const executables[] = {instantiate(even), instantiate(even)};
  for (int i = 0; i < kReplays; ++i) {
    must_update(executables[1], i % 2 == 0 ? odd : even);
    for (cudaGraphExec_t each : executables) replay(each, stream, 1, expected, false);
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  expected.kernels = {{"in_even", 15}, {"in_first", 15}, {"in_odd", 5}, {"in_second", 5}};
}

void failed_update(cudaStream_t stream, Expected& expected) {
  cudaGraphExec_t const executable = instantiate(capture(stream, {kFirst, kFirst}));
  if (update(executable, capture(stream, {kSecond, kSecond, kSecond})))
    check(cudaErrorUnknown, "the update succeeded");
  replay(executable, stream, kReplays, expected);
  expected.kernels = {{"in_first", 20}};
}

void child_update(cudaStream_t stream, Expected& expected) {
  cudaGraph_t const graph = empty_graph();
  cudaGraphNode_t const node = add_child(graph, capture(stream, {kFirst, kFirst}));
  cudaGraphExec_t const executable = instantiate(graph);
  replay(executable, stream, kReplays, expected);
  check(cudaGraphExecChildGraphNodeSetParams(executable, node, capture(stream, {kSecond, kThird})),
        "cudaGraphExecChildGraphNodeSetParams");
  replay(executable, stream, kReplays, expected);
  expected.kernels = {{"in_first", 20}, {"in_second", 10}, {"in_third", 10}};
}

void functions(cudaStream_t stream, Expected& expected) {
  // From now on the driver may reuse the handle of a kernel.
  const ModuleApi cuda;
  { const JitModule unloaded(cuda, "unloaded", 0, false); }
  cudaGraph_t const graph = capture(stream, {kFirst, kSecond});
  cudaGraphNode_t nodes[2] = {};
  std::size_t count = 2;
  check(cudaGraphGetNodes(graph, nodes, &count), "cudaGraphGetNodes");
  cudaKernelNodeParams parameters{};
  check(cudaGraphKernelNodeGetParams(nodes[0], &parameters), "cudaGraphKernelNodeGetParams");
  if (parameters.func != in_first()) std::swap(nodes[0], nodes[1]);
  check(cudaGraphKernelNodeGetParams(nodes[0], &parameters), "cudaGraphKernelNodeGetParams");
  cudaGraphExec_t const changed = instantiate(graph), same = instantiate(graph);
  replay(changed, stream, 5, expected);
  parameters.func = set_first();
  check(cudaGraphExecKernelNodeSetParams(changed, nodes[0], &parameters), "cudaGraphExecKernelNodeSetParams");
  replay(changed, stream, 7, expected);
  replay(same, stream, 2, expected);
  check(cudaGraphKernelNodeSetParams(nodes[0], &parameters), "cudaGraphKernelNodeSetParams");
  replay(instantiate(graph), stream, 3, expected);
  expected.kernels = {{"in_first", 7}, {"in_second", 17}, {"set_first", 10}};
}

void recapture(cudaStream_t stream, unsigned tokens, Expected& expected) {
  constexpr int kNodes = 100;
  cudaGraphExec_t executable = nullptr;
  for (unsigned token = 0; token < tokens; ++token) {
    const Step& step = token % 2 == 0 ? kEven : kOdd;
    cudaGraph_t const graph = capture(stream, [&] {
      const Range range(step.range);
      for (int i = 0; i < kNodes; ++i) launch(step.kernel, stream);
    });
    if (executable == nullptr) {
      executable = instantiate(graph);
    } else {
      must_update(executable, graph);
    }
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    const Range range("replay");
    check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  expected.graph_launches += tokens;
  expected.kernels = {{"in_even", std::int64_t{(tokens + 1) / 2} * kNodes},
                      {"in_odd", std::int64_t{tokens / 2} * kNodes}};
}

void eager(cudaStream_t stream, Expected& expected) {
  cudaStream_t const other = make_stream();
  cudaGraph_t const graph = capture(stream, [&] {
    launch_steps({kFirst}, stream);
    launch_steps({kSecond}, other);
  });
  replay(instantiate(graph), stream, kReplays, expected);
  check(cudaStreamSynchronize(other), "cudaStreamSynchronize");
  expected.kernels = {{"in_first", kReplays}, {"in_second", 1}};
}

void threads(Expected& expected) {
  constexpr int kRounds = 25;
  Expected each[2];
  const auto work = [&](int number) {
    const Range range("threads");
    cudaStream_t const stream = make_stream();
    const Step& step = number == 0 ? kFirst : kSecond;
    for (int i = 0; i < kRounds; ++i) {
      cudaGraph_t const graph = capture(stream, {step, step});
      cudaGraphExec_t const executable = instantiate(graph);
      check(cudaGraphDestroy(graph), "cudaGraphDestroy");
      replay(executable, stream, 2, each[number]);
      launch_steps({kThird}, stream);
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    }
  };
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
  expected.graph_launches = each[0].graph_launches + each[1].graph_launches;
  expected.kernels = {{"in_first", 4 * kRounds}, {"in_second", 4 * kRounds}, {"in_third", 2 * kRounds}};
}

// CUPTI has no records of the kernels of launches from the device.
void device(cudaStream_t stream, Expected& expected) {
  int* const left = device_value<int>();
  const int runs = kReplays;
  check(cudaMemcpy(left, &runs, sizeof(runs), cudaMemcpyHostToDevice), "cudaMemcpy");
  cudaGraph_t const graph = capture(stream, [&] {
    const Range range("again");
    check(launch_again(left, stream), "in_again");
  });
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagDeviceLaunch),
        "cudaGraphInstantiate");
  check(cudaGraphUpload(executable, stream), "cudaGraphUpload");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  replay(executable, stream, 1, expected);
  expected.kernels = {{"in_again", kReplays}};
}

void broken(cudaStream_t stream, Expected& expected) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  launch_steps({kFirst}, stream);
  std::thread([] {
    const Range range("culprit");
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
  }).join();
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(stream, &graph) != cudaErrorStreamCaptureInvalidated)
    check(cudaErrorUnknown, "another thread's synchronisation broke no capture");
  (void)cudaGetLastError();
  launch_steps({kSecond}, stream);
  expected.kernels = {{"in_second", 1}};
}

void run(const std::vector<std::string>& wanted, unsigned tokens) {
  require_gpu();
  load_kernels();
  cudaStream_t const stream = make_stream();
  const std::vector<std::pair<std::string, std::function<void(Expected&)>>> kinds = {
      {"while", [&](Expected& e) { loop(stream, e); }},
      {"queued", [&](Expected& e) { queued(stream, e); }},
      {"if_else", [&](Expected& e) { if_else(stream, e); }},
      {"switch", [&](Expected& e) { switch_of_three(stream, e); }},
      {"if_not", [&](Expected& e) { if_not(stream, e); }},
      {"children", [&](Expected& e) { children(stream, e); }},
      {"clones", [&](Expected& e) { clones(stream, e); }},
      {"moved", [&](Expected& e) { moved(stream, e); }},
      {"holes", [&](Expected& e) { holes(stream, e); }},
      {"updates", [&](Expected& e) { updates(stream, e); }},
      {"failed_update", [&](Expected& e) { failed_update(stream, e); }},
      {"child_update", [&](Expected& e) { child_update(stream, e); }},
      {"recapture", [&](Expected& e) { recapture(stream, tokens, e); }},
      {"eager", [&](Expected& e) { eager(stream, e); }},
      {"threads", [&](Expected& e) { threads(e); }},
      {"functions", [&](Expected& e) { functions(stream, e); }},  // last: unloads a module
      {"device", [&](Expected& e) { device(stream, e); }},
      {"broken", [&](Expected& e) { broken(stream, e); }},
  };
  constexpr std::size_t kByName = 2;  // the last ones, with losses and errors
  Object found;
  std::int64_t launches = 0, without_record = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto& [name, run_kind] = kinds[i];
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    if (!is_wanted && (!wanted.empty() || i + kByName >= kinds.size())) continue;
    Expected expected;
    {
      const Range range(name);
      run_kind(expected);
    }
    Object kernels;
    for (const auto& [kernel, count] : expected.kernels) kernels.add(kernel, count);
    found.add(name, kernels);
    launches += expected.graph_launches;
    without_record += expected.without_record;
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  print(Object()
            .add("probe", "graph_kinds")
            .add("kinds", found)
            .add("graph_launches", launches)
            .add("without_record", without_record));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  std::vector<std::string> kinds;
  unsigned tokens = 100;
  rangefinder::Arguments arguments("Nodes of CUDA graphs, by the ways in which they get there and change");
  arguments.list("--kinds", kinds, "Only these: names of the outermost ranges");
  arguments.number("--tokens", tokens, "Captures of `recapture`", 1u, 10'000'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::probe::run(kinds, tokens);
}
