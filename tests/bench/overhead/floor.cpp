// SPDX-License-Identifier: Apache-2.0
//
// A profiler that does nothing with CUPTI's data: the minimum cost of any tool. The driver loads it instead
// of our library (modes.py, "floor"). OVERHEAD_FLOOR selects what is on:
//
//   callbacks   of every call that launches kernels, empty
//   records     of kernels, discarded
//   both
//   same        the records and callbacks of a run without counters
#include <cupti_driver_cbid.h>

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "profiler/activity/activity_callbacks.h"
#include "profiler/cupti/loader.h"
#include "profiler/launch/driver_apis.h"
#include "profiler/launch/untraced_calls.h"
#include "tests/bench/cupti_alone.h"

namespace {

void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

bool switch_on_same(const rangefinder::CuptiFunctions& cupti, CUpti_SubscriberHandle subscriber) {
  std::string error;
  if (rangefinder::bench::throw_records_away(cupti) != CUPTI_SUCCESS ||
      !rangefinder::enable_activity_kinds(cupti, rangefinder::GraphTracing::nodes, error))
    return false;
  using rangefinder::enable_callbacks;
  for (const rangefinder::DriverApi& api : rangefinder::driver_apis()) {
    if (rangefinder::is_wanted(api.kind, true, true, false) &&
        cupti.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, api.cbid) != CUPTI_SUCCESS)
      return false;
  }
  return enable_callbacks(cupti, subscriber, CUPTI_CB_DOMAIN_RESOURCE, rangefinder::kResourceCallbacks) &&
         enable_callbacks(cupti, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, rangefinder::kGraphCalls);
}

bool switch_on(const rangefinder::CuptiFunctions& cupti, std::string_view what) {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (rangefinder::bench::subscribe(cupti, subscriber, on_call, nullptr) != CUPTI_SUCCESS) return false;
  if (what == "same") return switch_on_same(cupti, subscriber);
  if (what != "callbacks") {
    if (rangefinder::bench::throw_records_away(cupti) != CUPTI_SUCCESS ||
        cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
      return false;
  }
  if (what == "records") return true;
  for (const CUpti_CallbackId cbid :
       {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx}) {
    if (cupti.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid) != CUPTI_SUCCESS) return false;
  }
  return true;
}

}  // namespace

/// Called by the driver. 1: success.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* const what = std::getenv("OVERHEAD_FLOOR");
  auto* const cupti = new (std::nothrow) rangefinder::CuptiLibrary;  // in use until the process ends
  rangefinder::CuptiFailure failure;
  if (what == nullptr || cupti == nullptr || !rangefinder::load_cupti({}, *cupti, failure)) return 0;
  return switch_on(cupti->functions, what) ? 1 : 0;
}
