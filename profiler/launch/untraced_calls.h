// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that notify us and make no event: contexts, modules and graph nodes, the creation of contexts,
// cuProfilerStart and cuProfilerStop.
#pragma once

#include <cupti.h>
#include <cupti_driver_cbid.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "profiler/cupti/functions.h"

namespace rangefinder {

inline constexpr CUpti_CallbackId kResourceCallbacks[] = {
    CUPTI_CBID_RESOURCE_CONTEXT_CREATED,        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
};

/// Create a context, which takes 0.1 s and more. The sampler's library is loaded meanwhile.
inline constexpr CUpti_CallbackId kContextCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain, CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v3, CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v4};

inline constexpr CUpti_CallbackId kProfilerCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart,
                                                      CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

[[nodiscard]] inline bool creates_context(CUpti_CallbackId driver_call) noexcept {
  return std::find(std::begin(kContextCalls), std::end(kContextCalls), driver_call) !=
         std::end(kContextCalls);
}

/// False: CUPTI refused one.
[[nodiscard]] inline bool enable_callbacks(const CuptiFunctions& cupti, CUpti_SubscriberHandle subscriber,
                                           CUpti_CallbackDomain domain,
                                           std::span<const CUpti_CallbackId> callbacks) noexcept {
  return std::all_of(callbacks.begin(), callbacks.end(), [&](CUpti_CallbackId id) {
    return cupti.EnableCallback(1, subscriber, domain, id) == CUPTI_SUCCESS;
  });
}

}  // namespace rangefinder
