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
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/cupti_alone.h"
#include "tests/experiments/bench_cupti.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/kernels.h"

namespace rangefinder {
namespace {

using bench::check_cupti;
using probe::check;

struct Options {
  unsigned launches = 20'000, rounds = 7;
};

void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

class Tool {
 public:
  explicit Tool(const CuptiFunctions& cupti) : cupti_(cupti) {
    check_cupti(bench::throw_records_away(cupti_), "buffers");
  }
  void subscribe() { check_cupti(bench::subscribe(cupti_, subscriber_, on_call, nullptr), "subscribe"); }
  void unsubscribe() { check_cupti(cupti_.Unsubscribe(subscriber_), "unsubscribe"); }
  void resources(bool on) {
    for (const CUpti_CallbackId id :
         {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED})
      switch_callback(on, CUPTI_CB_DOMAIN_RESOURCE, id);
  }
  void launches(bool on) {
    for (const CUpti_CallbackId id :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx})
      switch_callback(on, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  void others(bool on) {
    for (const CUpti_CallbackId id :
         {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2})
      switch_callback(on, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  void kernels(bool on) { switch_kind(on, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); }
  void overhead(bool on) { switch_kind(on, CUPTI_ACTIVITY_KIND_OVERHEAD); }
  void flush() { check_cupti(cupti_.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flush"); }

 private:
  void switch_callback(bool on, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    check_cupti(cupti_.EnableCallback(on ? 1 : 0, subscriber_, domain, id), "callback");
  }
  void switch_kind(bool on, CUpti_ActivityKind kind) {
    check_cupti(on ? cupti_.ActivityEnable(kind) : cupti_.ActivityDisable(kind), "kind");
  }

  const CuptiFunctions& cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

double ns_a_launch(unsigned launches) {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < launches; ++i) check(probe::launch_empty(1, nullptr), "launch");
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  check(cudaDeviceSynchronize(), "synchronise");
  return passed.count() / launches;
}

void measure(const char* step, const Options& options) {
  std::vector<double> times;
  (void)ns_a_launch(options.launches);
  for (unsigned round = 0; round < options.rounds; ++round) times.push_back(ns_a_launch(options.launches));
  std::sort(times.begin(), times.end());
  std::printf("%s\n", nlohmann::ordered_json{{"step", step},
                                             {"median_ns", times[times.size() / 2]},
                                             {"least_ns", times.front()},
                                             {"most_ns", times.back()}}
                          .dump()
                          .c_str());
  std::fflush(stdout);
}

void walk(const CuptiFunctions& cupti, const Options& options) {
  measure("nothing", options);
  Tool tool(cupti);
  tool.subscribe();
  measure("subscribed", options);
  tool.resources(true);
  measure("+ callbacks of contexts and graph nodes", options);
  tool.others(true);
  measure("+ callbacks of calls that are not made", options);
  tool.launches(true);
  measure("+ empty callbacks of launches", options);
  tool.kernels(true);
  measure("+ kernel records", options);
  tool.overhead(true);
  measure("+ overhead records", options);
  tool.kernels(false);
  tool.overhead(false);
  tool.flush();
  measure("records off", options);
  tool.launches(false);
  measure("callbacks of launches off", options);
  tool.others(false);
  tool.resources(false);
  measure("all callbacks off", options);
  tool.unsubscribe();
  measure("unsubscribed", options);
  tool.subscribe();
  tool.kernels(true);
  measure("kernel records alone", options);
  tool.kernels(false);
  tool.flush();
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
  check(cudaFree(nullptr), "context");
  const CuptiLibrary& cupti = bench::cupti_or_exit();
  walk(cupti.functions, options);
  return 0;
}
