// SPDX-License-Identifier: Apache-2.0
//
// LaunchCallbacks' third part: which callbacks are on, and for whom they measure. Called by
// the session, one thread at a time; callbacks may run meanwhile.
#include <cupti_driver_cbid.h>

#include "profiler/launch/launch_callbacks.h"

namespace rangefinder {
namespace {

constexpr CUpti_CallbackId kResourceCallbacks[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED,        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
};

constexpr CUpti_CallbackId kProfilerCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart,
                                               CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

bool wanted(const DriverApi& api, const Options& options, bool exact) noexcept {
  switch (api.kind) {
    case ApiClass::alloc:
    case ApiClass::free:
      return options.memory;
    case ApiClass::sync:
    case ApiClass::event_record:
    case ApiClass::event_wait:
      return options.events;
    case ApiClass::value_wait:
    case ApiClass::stream_create:
    case ApiClass::stream_destroy:
      return exact;
    default:
      return true;
  }
}

}  // namespace

void LaunchCallbacks::set_counters(ExactProfiler* exact, PmSampler* sampler, bool late) noexcept {
  if (exact != nullptr) ever_exact_.store(exact, std::memory_order_release);
  found_contexts_.store(0, std::memory_order_relaxed);
  finds_contexts_.store(late && sampler != nullptr, std::memory_order_relaxed);
  sampler_.store(sampler, std::memory_order_release);
  exact_.store(exact, std::memory_order_release);
}

bool LaunchCallbacks::enable_resources(CUpti_SubscriberHandle subscriber) noexcept {
  if (enabled_before_) handles_used_again_.store(true);  // nobody told of modules in between
  enabled_before_ = true;
  for (const CUpti_CallbackId cbid : kResourceCallbacks) {
    if (cupti_.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, cbid) != CUPTI_SUCCESS) return false;
  }
  return true;
}

bool LaunchCallbacks::enable_profiler_calls(CUpti_SubscriberHandle subscriber) noexcept {
  for (const CUpti_CallbackId cbid : kProfilerCalls) {
    if (cupti_.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid) != CUPTI_SUCCESS) return false;
  }
  return true;
}

bool LaunchCallbacks::enable_calls(CUpti_SubscriberHandle subscriber, const Options& options,
                                   bool exact) noexcept {
  subscriber_.store(subscriber, std::memory_order_relaxed);
  const auto apis = driver_apis();
  for (std::size_t i = 0; i < apis.size(); ++i) {
    const DriverApi& api = apis[i];
    if (!wanted(api, options, exact)) continue;
    enabled_calls_.set(i);
    calls_under_way_.switching_on(i);
    if (cupti_.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, api.cbid) != CUPTI_SUCCESS)
      return false;
  }
  return true;
}

bool LaunchCallbacks::disable_calls(CUpti_SubscriberHandle subscriber) noexcept {
  const auto apis = driver_apis();
  bool switched_off = false;
  enabled_calls_ =
      calls_under_way_.switch_off(enabled_calls_, recorder_.clock.now_ns(), [&](std::size_t api) {
        (void)cupti_.EnableCallback(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, apis[api].cbid);
        switched_off = true;
      });
  if (switched_off) capturing_.store(0, std::memory_order_relaxed);  // nobody tells when captures end
  return !switched_off && enabled_calls_.none();
}

void LaunchCallbacks::on_profiler_call(const CUpti_CallbackData& call, CUpti_CallbackId cbid) noexcept {
  const bool start = cbid == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
  const bool stop = cbid == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;
  if (hooks_.profiler_call == nullptr || (!start && !stop)) return;
  const auto site = start ? CUPTI_API_EXIT : CUPTI_API_ENTER;
  if (call.callbackSite == site) hooks_.profiler_call(hooks_.user, start);
}

void LaunchCallbacks::find_context(const CUpti_CallbackData& call) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << call.contextUid % 64;
  if ((found_contexts_.load(std::memory_order_relaxed) & bit) != 0 || call.context == nullptr) return;
  if ((found_contexts_.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  if (PmSampler* const sampler = sampler_.load(std::memory_order_acquire); sampler != nullptr)
    sampler->context_created(call.context);
}

}  // namespace rangefinder
