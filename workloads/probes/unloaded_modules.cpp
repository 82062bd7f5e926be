// SPDX-License-Identifier: Apache-2.0
//
// Modules that are compiled at run time, as JIT compilers do. Each is loaded, its one kernel is launched a
// few times, and it is unloaded before a profiler can have read the kernel's record. All names have one
// length, so that the next name reuses the memory of the last.
//
// --library: uses the driver's library functions. --graph: captures into a graph and launches it.
//
//   round R, module M:  load ─▶ (M % 7) + 1 launches of jit_R_M ─▶ wait ─▶ unload
//
// --reload: the same names in each round, with another kernel behind them.
#include <cstdint>
#include <cstdio>
#include <string>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/jit_module.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr unsigned kMaxLaunches = 7;

struct Options {
  unsigned rounds = 4, modules = 100;
  bool reload = false, as_library = false, in_graph = false;
};

/// Also waits: a graph must not outlive its kernels' module.
void launch_in_graph(const JitModule& module, unsigned launches) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamCreate(&stream), "stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (unsigned i = 0; i < launches; ++i) module.launch(stream);
  check(cudaStreamEndCapture(stream, &graph), "end of the capture");
  check(cudaGraphInstantiate(&exec, graph, 0), "instantiation");
  check(cudaGraphLaunch(exec, stream), "graph launch");
  check(cudaStreamSynchronize(stream), "synchronise");
  check(cudaGraphExecDestroy(exec), "destroy");
  check(cudaGraphDestroy(graph), "destroy");
  check(cudaStreamDestroy(stream), "destroy");
}

void use_module(const ModuleApi& cuda, const std::string& name, unsigned parameters, unsigned launches,
                const Options& options) {
  const JitModule module(cuda, name, parameters, options.as_library);
  if (options.in_graph) {
    launch_in_graph(module, launches);
    return;
  }
  for (unsigned i = 0; i < launches; ++i) module.launch();
  check(cudaDeviceSynchronize(), "synchronise");
}

std::string name_of(unsigned round, unsigned module) {
  char text[32];
  std::snprintf(text, sizeof text, "jit_%02u_%04u", round % 100, module % 10'000);
  return text;
}

int run(const Options& options) {
  require_gpu();
  const ModuleApi cuda;
  Object kernels;
  std::uint64_t launches = 0;
  for (unsigned round = 0; round < options.rounds; ++round) {
    const Range range("round");
    for (unsigned module = 0; module < options.modules; ++module) {
      const std::string name = name_of(options.reload ? 0 : round, module);
      const unsigned count = module % kMaxLaunches + 1;
      use_module(cuda, name, (options.reload ? round : module) % 3, count, options);
      launches += count;
      if (options.reload && round + 1 < options.rounds) continue;
      kernels.add(name, options.reload ? count * options.rounds : count);
    }
  }
  print(Object()
            .add("probe", "unloaded_modules")
            .add("modules", options.rounds * options.modules)
            .add("kernels", launches)
            .add("kernels_by_name", kernels));
  return 0;
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  rangefinder::probe::Options options;
  rangefinder::Arguments arguments("Kernels of modules that are unloaded right after the launch");
  arguments.number("--rounds", options.rounds, "Rounds", 1u, 100u);
  arguments.number("--modules", options.modules, "Modules per round", 1u, 10'000u);
  arguments.flag("--reload", options.reload, "The same names in each round");
  arguments.flag("--library", options.as_library, "Load as libraries of the driver");
  arguments.flag("--graph", options.in_graph, "Capture the launches into graphs");
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  return rangefinder::probe::run(options);
}
