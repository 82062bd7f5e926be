// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/overhead/load.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "workloads/probes/cuda_check.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace {

using rangefinder::probe::check;
using rangefinder::probe::launch_empty;
using rangefinder::probe::Range;
using Clock = std::chrono::steady_clock;

constexpr unsigned kBlocks = 132;
constexpr std::uint64_t kWarmUpLaunches =
    256;  // per thread, or the requested number if that is lower: ncu needs 30 ms each

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

/// The streams of the first `count` threads: created once, used by every call.
std::vector<cudaStream_t>& streams(std::size_t count) {
  static std::vector<cudaStream_t> made;
  while (made.size() < count) made.push_back(make_stream());
  return made;
}

void launch_some(std::uint64_t launches, std::uint64_t range_launches, cudaStream_t stream) {
  for (std::uint64_t done = 0; done < launches;) {
    if (range_launches == 0) {
      check(launch_empty(kBlocks, stream), "launch");
      ++done;
      continue;
    }
    const Range group("group");
    const std::uint64_t upto = std::min(launches, done + range_launches);
    for (; done < upto; ++done) check(launch_empty(kBlocks, stream), "launch");
  }
}

struct Graph {
  cudaGraphExec_t executable = nullptr;
  cudaStream_t stream = nullptr;
};

cudaGraph_t captured_graph(std::uint32_t nodes, cudaStream_t stream) {
  cudaGraph_t captured = nullptr;
  const Range range("captured");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (std::uint32_t i = 0; i < nodes; ++i) check(launch_empty(kBlocks, stream), "captured launch");
  check(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
  return captured;
}

Graph capture(std::uint32_t nodes) {
  Graph graph{nullptr, make_stream()};
  check(launch_empty(kBlocks, graph.stream), "warm up");  // loads the kernel: not possible during capture
  check(cudaStreamSynchronize(graph.stream), "warm up");
  cudaGraph_t const captured = captured_graph(nodes, graph.stream);
  check(cudaGraphInstantiate(&graph.executable, captured, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(captured), "cudaGraphDestroy");
  return graph;
}

void launch_tokens(const Graph& graph, std::uint32_t nodes, std::uint64_t tokens) {
  for (std::uint64_t token = 0; token < tokens; ++token) {
    cudaGraph_t const captured = captured_graph(nodes, graph.stream);
    cudaGraphExecUpdateResultInfo updated{};
    check(cudaGraphExecUpdate(graph.executable, captured, &updated), "cudaGraphExecUpdate");
    check(cudaGraphDestroy(captured), "cudaGraphDestroy");
    check(cudaGraphLaunch(graph.executable, graph.stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(graph.stream), "token");
  }
}

void launch_graph(const Graph& graph, std::uint64_t launches) {
  for (std::uint64_t i = 0; i < launches; ++i) {
    check(cudaGraphLaunch(graph.executable, graph.stream), "cudaGraphLaunch");
  }
  check(cudaStreamSynchronize(graph.stream), "graph");
}

}  // namespace

double load_storm(std::uint32_t threads, std::uint64_t launches, std::uint64_t range_launches) {
  const std::vector<cudaStream_t>& of_thread = streams(threads);
  std::barrier<> phase(static_cast<std::ptrdiff_t>(threads) + 1);
  std::vector<std::thread> running;
  for (std::uint32_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      const std::uint64_t own = launches / threads + (t < launches % threads ? 1 : 0);
      launch_some(std::min(kWarmUpLaunches, own), range_launches, of_thread[t]);
      check(cudaStreamSynchronize(of_thread[t]), "warm up");
      phase.arrive_and_wait();  // all have warmed up
      phase.arrive_and_wait();  // the clock has been read
      launch_some(own, range_launches, of_thread[t]);
      check(cudaStreamSynchronize(of_thread[t]), "storm");
      phase.arrive_and_wait();  // all are done
    });
  }
  phase.arrive_and_wait();
  const Clock::time_point start = Clock::now();
  phase.arrive_and_wait();
  phase.arrive_and_wait();
  const double seconds = seconds_since(start);
  for (std::thread& thread : running) thread.join();
  return seconds;
}

namespace {

constexpr std::uint64_t kWarmUpGraphs = 3;

/// Captured by the first call, used by every later one.
const Graph& graph_of(std::uint32_t nodes) {
  static std::map<std::uint32_t, Graph> graphs;
  const auto [at, is_new] = graphs.try_emplace(nodes);
  if (is_new) at->second = capture(nodes);
  return at->second;
}

}  // namespace

double load_graph(std::uint32_t nodes, std::uint64_t launches) {
  const Graph& graph = graph_of(nodes);
  launch_graph(graph, kWarmUpGraphs);
  const Clock::time_point start = Clock::now();
  launch_graph(graph, launches);
  return seconds_since(start);
}

double load_tokens(std::uint32_t nodes, std::uint64_t tokens) {
  const Graph& graph = graph_of(nodes);
  launch_tokens(graph, nodes, kWarmUpGraphs);
  const Clock::time_point start = Clock::now();
  launch_tokens(graph, nodes, tokens);
  return seconds_since(start);
}
