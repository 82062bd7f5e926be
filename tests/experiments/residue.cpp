// SPDX-License-Identifier: Apache-2.0
//
// Cost per launch of each CUPTI feature that a profiler switches on, and what remains after it is off: CUPTI
// alone, of our library only its loader.
//
//   residue --launches 20000 --rounds 7
//
// Prints one JSON line per step, in order: its name and the median, minimum and maximum ns per launch of
// empty kernels. The last steps equal the first ones if nothing remains.
#include <cupti_driver_cbid.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/experiments/experiment.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/kernels.h"

namespace rangefinder {
namespace {

using bench::Calls;
using probe::check;

const Calls kResources{CUPTI_CB_DOMAIN_RESOURCE,
                       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED}};
const Calls kLaunches{CUPTI_CB_DOMAIN_DRIVER_API,
                      {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx}};
const Calls kOthers{CUPTI_CB_DOMAIN_DRIVER_API,
                    {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2}};

struct Options {
  unsigned launches = 20'000, rounds = 7;
};

void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

double ns_a_launch(unsigned launches) {
  const double us = bench::us_of([&] {
    for (unsigned i = 0; i < launches; ++i) check(probe::launch_empty(1, nullptr), "launch");
  });
  check(cudaDeviceSynchronize(), "synchronise");
  return 1e3 * us / launches;
}

void measure(const char* step, const Options& options) {
  std::vector<double> times;
  (void)ns_a_launch(options.launches);
  for (unsigned round = 0; round < options.rounds; ++round) times.push_back(ns_a_launch(options.launches));
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  bench::print_line(nlohmann::ordered_json{
      {"step", step}, {"median_ns", bench::median(times)}, {"least_ns", *least}, {"most_ns", *most}});
}

void walk(const CuptiFunctions& cupti, const Options& options) {
  measure("nothing", options);
  bench::CuptiAlone tool(cupti, on_call, nullptr);
  tool.subscribe();
  measure("subscribed", options);
  tool.callbacks(true, kResources);
  measure("+ callbacks of contexts and graph nodes", options);
  tool.callbacks(true, kOthers);
  measure("+ callbacks of calls that are not made", options);
  tool.callbacks(true, kLaunches);
  measure("+ empty callbacks of launches", options);
  tool.kernels(true);
  measure("+ kernel records", options);
  tool.records(true, CUPTI_ACTIVITY_KIND_OVERHEAD);
  measure("+ overhead records", options);
  tool.kernels(false);
  tool.records(false, CUPTI_ACTIVITY_KIND_OVERHEAD);
  tool.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  measure("records off", options);
  tool.callbacks(false, kLaunches);
  measure("callbacks of launches off", options);
  tool.callbacks(false, kOthers);
  tool.callbacks(false, kResources);
  measure("all callbacks off", options);
  tool.unsubscribe();
  measure("unsubscribed", options);
  tool.subscribe();
  tool.kernels(true);
  measure("kernel records alone", options);
  tool.kernels(false);
  tool.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  tool.unsubscribe();
  measure("unsubscribed again", options);
}

}  // namespace
}  // namespace rangefinder

int main(int argc, char** argv) {
  using namespace rangefinder;
  Arguments arguments("Cost of a launch with each CUPTI feature switched on, and after it is off");
  Options options;
  arguments.number("--launches", options.launches);
  arguments.number("--rounds", options.rounds);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  probe::require_gpu();
  walk(bench::cupti_or_exit().functions, options);
  return 0;
}
