// SPDX-License-Identifier: Apache-2.0
//
// Which names CUPTI gives to kernels of modules that are unloaded right after the launch: CUPTI alone, of our
// library only its loader.
//
//   unloaded_names --flush end|before|callback [--library] --modules 300
//
// Loads a module, launches its one kernel, waits, unloads it, over and over. Records are requested at the
// end, before each unloading, or in CUPTI's callback before a module unloads. Names are read when the buffer
// arrives. Prints one line of JSON: records, records with another kernel's name or none ("wrong"), launches
// whose callback had a wrong name ("wrong_symbols"), records with the same pointer as the callback, and the
// time of a flush.
#include <cupti_driver_cbid.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/experiment.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/jit_module.h"

namespace rangefinder {
namespace {

struct Launch {
  std::string wanted;
  const char* symbol = nullptr;
};

struct Trial {
  CuptiFunctions cupti{};
  bool as_library = false;
  std::string flush = "end", now;  // `now`: the kernel that the application launches
  std::mutex mutex;
  std::map<std::uint32_t, Launch> launches;  // by correlation id
  std::uint64_t records = 0, wrong = 0, without = 0, same_pointer = 0, wrong_symbols = 0, unloads = 0;
  std::vector<double> flush_us;
  std::vector<std::string> examples;
};

Trial* trial = nullptr;  // buffer callbacks have no user pointer

void flush() {
  trial->flush_us.push_back(bench::us_of([] {
    if (trial->cupti.ActivityFlushAll(0) != CUPTI_SUCCESS)
      std::fprintf(stderr, "unloaded_names: flush failed\n");
  }));
}

void add(const CUpti_ActivityKernel10& kernel) {
  ++trial->records;
  const auto at = trial->launches.find(kernel.correlationId);
  if (at == trial->launches.end()) return void(++trial->without);
  if (kernel.name == at->second.symbol) ++trial->same_pointer;
  if (kernel.name != nullptr && at->second.wanted == kernel.name) return;
  ++trial->wrong;
  if (trial->examples.size() < 4) {
    trial->examples.push_back(at->second.wanted + " is called " +
                              (kernel.name == nullptr ? "-" : kernel.name));
  }
}

void CUPTIAPI on_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::lock_guard lock(trial->mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && trial->cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      add(*reinterpret_cast<const CUpti_ActivityKernel10*>(record));
    }
  }
  std::free(buffer);
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    if (cbid != CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) return;
    ++trial->unloads;
    if (trial->flush == "callback") flush();
    return;
  }
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite != CUPTI_API_ENTER) return;
  const std::lock_guard lock(trial->mutex);
  trial->launches[call.correlationId] = {trial->now, call.symbolName};
  if (call.symbolName == nullptr || trial->now != call.symbolName) ++trial->wrong_symbols;
}

void enable() {
  bench::CuptiAlone tool(trial->cupti, on_call, nullptr, on_completed);
  tool.subscribe();
  tool.callbacks(true, {CUPTI_CB_DOMAIN_DRIVER_API, {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel}});
  tool.callbacks(true, {CUPTI_CB_DOMAIN_RESOURCE, {CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING}});
  tool.kernels(true);
}

void run(unsigned modules) {
  const probe::ModuleApi cuda;
  for (unsigned number = 0; number < modules; ++number) {
    char name[32];
    std::snprintf(name, sizeof name, "jit_%05u", number);
    trial->now = name;
    const probe::JitModule module(cuda, name, number % 3, trial->as_library);
    for (unsigned i = 0; i <= number % 4; ++i) module.launch();
    probe::check(cudaDeviceSynchronize(), "synchronise");
    if (trial->flush == "before") flush();
  }
  flush();
}

nlohmann::ordered_json outcome() {
  return {{"flush", trial->flush},
          {"library", trial->as_library},
          {"launches", trial->launches.size()},
          {"records", trial->records},
          {"without_launch", trial->without},
          {"wrong", trial->wrong},
          {"wrong_symbols", trial->wrong_symbols},
          {"same_pointer", trial->same_pointer},
          {"unloads", trial->unloads},
          {"flush_us", bench::median(trial->flush_us)},
          {"examples", trial->examples}};
}

}  // namespace
}  // namespace rangefinder

int main(int argc, char** argv) {
  using namespace rangefinder;
  Arguments arguments("Names that CUPTI gives to kernels of unloaded modules");
  Trial here;
  unsigned modules = 300;
  arguments.choice("--flush", here.flush, "", {"end", "before", "callback"});
  arguments.flag("--library", here.as_library);
  arguments.number("--modules", modules, "", 1u, 99'999u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  probe::require_gpu();
  here.cupti = bench::cupti_or_exit().functions;
  trial = &here;
  enable();
  run(modules);
  bench::print_line(outcome());
  return 0;
}
