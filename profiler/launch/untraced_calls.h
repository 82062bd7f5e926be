// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that notify us and make no event: contexts, modules and graphs, calls that change graphs, the
// creation of contexts, cuProfilerStart and cuProfilerStop.
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
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_GRAPH_CREATED,
    CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
    CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,       CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING,
    CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,      CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
};

/// Change a graph or executable. GRAPH_NODE_SET_PARAMS is no alternative: an update calls it for every node.
inline constexpr CUpti_CallbackId kGraphCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuGraphCreate,
    CUPTI_DRIVER_TRACE_CBID_cuGraphClone,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz,
};

/// Create a context, which takes 0.1 s and more. The sampler's library is loaded meanwhile.
inline constexpr CUpti_CallbackId kContextCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain, CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v3, CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v4};

inline constexpr CUpti_CallbackId kProfilerCalls[] = {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart,
                                                      CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

[[nodiscard]] inline bool is_one_of(std::span<const CUpti_CallbackId> calls, CUpti_CallbackId call) noexcept {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
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
