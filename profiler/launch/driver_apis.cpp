// SPDX-License-Identifier: Apache-2.0

// CUPTI's parameter structs use types of CUDA 3.1, which cuda.h declares only with this macro.
#define __CUDA_API_VERSION_INTERNAL
#include "profiler/launch/driver_apis.h"

#include <cupti_driver_cbid.h>

// CUPTI's generated parameter structs, one per driver function.
#include <generated_cuda_meta.h>

#include <array>

#include "profiler/launch/read_arguments.h"

namespace rangefinder {
namespace {

constexpr std::string_view without_suffixes(std::string_view name) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view suffix : {"_ptsz", "_ptds", "_v2"}) {
      if (name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
        again = true;
      }
    }
  }
  return name;
}

template <typename P>
constexpr bool kHasStream = requires(const P& p) {
  p.hStream;
}
|| requires(const P& p) {
  p.config->hStream;
}
|| requires(const P& p) {
  p.stream;
};

template <typename P, AllocKind kKind>
constexpr DriverApi entry(CUpti_CallbackId cbid, ApiClass kind, std::string_view name) {
  return {cbid,
          kind,
          kHasStream<P>,
          name.ends_with("_ptsz") || name.ends_with("_ptds"),
          without_suffixes(name),
          &read_arguments<P, kKind>};
}

#define A(function, kind) \
  entry<function##_params, AllocKind::device>(CUPTI_DRIVER_TRACE_CBID_##function, ApiClass::kind, #function)
#define M(function, kind, memory) \
  entry<function##_params, AllocKind::memory>(CUPTI_DRIVER_TRACE_CBID_##function, ApiClass::kind, #function)
#define BARE(function, kind)                                                                               \
  DriverApi {                                                                                              \
    CUPTI_DRIVER_TRACE_CBID_##function, ApiClass::kind, false, false, without_suffixes(#function), nullptr \
  }

constexpr std::array kDriverApis{
    A(cuLaunchKernel, kernel),
    A(cuLaunchKernel_ptsz, kernel),
    A(cuLaunchKernelEx, kernel),
    A(cuLaunchKernelEx_ptsz, kernel),
    A(cuLaunchCooperativeKernel, kernel),
    A(cuLaunchCooperativeKernel_ptsz, kernel),
    A(cuLaunchCooperativeKernelMultiDevice, kernel),
    A(cuLaunch, kernel),
    A(cuLaunchGrid, kernel),
    A(cuLaunchGridAsync, kernel),

    A(cuMemcpy, memcpy),
    A(cuMemcpy_ptds, memcpy),
    A(cuMemcpyAsync, memcpy),
    A(cuMemcpyAsync_ptsz, memcpy),
    A(cuMemcpyHtoD_v2, memcpy),
    A(cuMemcpyHtoD_v2_ptds, memcpy),
    A(cuMemcpyHtoDAsync_v2, memcpy),
    A(cuMemcpyHtoDAsync_v2_ptsz, memcpy),
    A(cuMemcpyDtoH_v2, memcpy),
    A(cuMemcpyDtoH_v2_ptds, memcpy),
    A(cuMemcpyDtoHAsync_v2, memcpy),
    A(cuMemcpyDtoHAsync_v2_ptsz, memcpy),
    A(cuMemcpyDtoD_v2, memcpy),
    A(cuMemcpyDtoD_v2_ptds, memcpy),
    A(cuMemcpyDtoDAsync_v2, memcpy),
    A(cuMemcpyDtoDAsync_v2_ptsz, memcpy),
    A(cuMemcpyAtoH_v2, memcpy),
    A(cuMemcpyAtoH_v2_ptds, memcpy),
    A(cuMemcpyAtoHAsync_v2, memcpy),
    A(cuMemcpyAtoHAsync_v2_ptsz, memcpy),
    A(cuMemcpyHtoA_v2, memcpy),
    A(cuMemcpyHtoA_v2_ptds, memcpy),
    A(cuMemcpyHtoAAsync_v2, memcpy),
    A(cuMemcpyHtoAAsync_v2_ptsz, memcpy),
    A(cuMemcpyAtoD_v2, memcpy),
    A(cuMemcpyAtoD_v2_ptds, memcpy),
    A(cuMemcpyDtoA_v2, memcpy),
    A(cuMemcpyDtoA_v2_ptds, memcpy),
    A(cuMemcpyAtoA_v2, memcpy),
    A(cuMemcpyAtoA_v2_ptds, memcpy),
    A(cuMemcpy2D_v2, memcpy),
    A(cuMemcpy2D_v2_ptds, memcpy),
    A(cuMemcpy2DUnaligned_v2, memcpy),
    A(cuMemcpy2DUnaligned_v2_ptds, memcpy),
    A(cuMemcpy2DAsync_v2, memcpy),
    A(cuMemcpy2DAsync_v2_ptsz, memcpy),
    A(cuMemcpy3D_v2, memcpy),
    A(cuMemcpy3D_v2_ptds, memcpy),
    A(cuMemcpy3DAsync_v2, memcpy),
    A(cuMemcpy3DAsync_v2_ptsz, memcpy),
    A(cuMemcpyPeer, memcpy),
    A(cuMemcpyPeer_ptds, memcpy),
    A(cuMemcpyPeerAsync, memcpy),
    A(cuMemcpyPeerAsync_ptsz, memcpy),
    A(cuMemcpy3DPeer, memcpy),
    A(cuMemcpy3DPeer_ptds, memcpy),
    A(cuMemcpy3DPeerAsync, memcpy),
    A(cuMemcpy3DPeerAsync_ptsz, memcpy),
    A(cuMemcpyBatchAsync, memcpy),
    A(cuMemcpyBatchAsync_ptsz, memcpy),
    A(cuMemcpyBatchAsync_v2, memcpy),
    A(cuMemcpyBatchAsync_v2_ptsz, memcpy),
    A(cuMemcpy3DBatchAsync, memcpy),
    A(cuMemcpy3DBatchAsync_ptsz, memcpy),
    A(cuMemcpy3DBatchAsync_v2, memcpy),
    A(cuMemcpy3DBatchAsync_v2_ptsz, memcpy),

    A(cuMemsetD8_v2, memset),
    A(cuMemsetD8_v2_ptds, memset),
    A(cuMemsetD16_v2, memset),
    A(cuMemsetD16_v2_ptds, memset),
    A(cuMemsetD32_v2, memset),
    A(cuMemsetD32_v2_ptds, memset),
    A(cuMemsetD2D8_v2, memset),
    A(cuMemsetD2D8_v2_ptds, memset),
    A(cuMemsetD2D16_v2, memset),
    A(cuMemsetD2D16_v2_ptds, memset),
    A(cuMemsetD2D32_v2, memset),
    A(cuMemsetD2D32_v2_ptds, memset),
    A(cuMemsetD8Async, memset),
    A(cuMemsetD8Async_ptsz, memset),
    A(cuMemsetD16Async, memset),
    A(cuMemsetD16Async_ptsz, memset),
    A(cuMemsetD32Async, memset),
    A(cuMemsetD32Async_ptsz, memset),
    A(cuMemsetD2D8Async, memset),
    A(cuMemsetD2D8Async_ptsz, memset),
    A(cuMemsetD2D16Async, memset),
    A(cuMemsetD2D16Async_ptsz, memset),
    A(cuMemsetD2D32Async, memset),
    A(cuMemsetD2D32Async_ptsz, memset),

    A(cuGraphLaunch, graph),
    A(cuGraphLaunch_ptsz, graph),

    BARE(cuCtxSynchronize, sync),
    A(cuCtxSynchronize_v2, sync),
    A(cuStreamSynchronize, sync),
    A(cuStreamSynchronize_ptsz, sync),
    A(cuEventSynchronize, sync),

    M(cuMemAlloc_v2, alloc, device),
    M(cuMemAllocPitch_v2, alloc, device),
    M(cuMemAllocManaged, alloc, managed),
    M(cuMemAllocHost_v2, alloc, host),
    M(cuMemHostAlloc, alloc, host),
    M(cuMemAllocAsync, alloc, async),
    M(cuMemAllocAsync_ptsz, alloc, async),
    M(cuMemAllocFromPoolAsync, alloc, pool),
    M(cuMemAllocFromPoolAsync_ptsz, alloc, pool),
    M(cuMemFree_v2, free, device),
    M(cuMemFreeHost, free, host),
    M(cuMemFreeAsync, free, async),
    M(cuMemFreeAsync_ptsz, free, async),

    A(cuEventRecord, event_record),
    A(cuEventRecord_ptsz, event_record),
    A(cuEventRecordWithFlags, event_record),
    A(cuEventRecordWithFlags_ptsz, event_record),
    A(cuStreamWaitEvent, event_wait),
    A(cuStreamWaitEvent_ptsz, event_wait),

    A(cuStreamBeginCapture, capture_begin),
    A(cuStreamBeginCapture_ptsz, capture_begin),
    A(cuStreamBeginCapture_v2, capture_begin),
    A(cuStreamBeginCapture_v2_ptsz, capture_begin),
    A(cuStreamBeginCaptureToGraph, capture_begin),
    A(cuStreamBeginCaptureToGraph_ptsz, capture_begin),
    A(cuStreamEndCapture, capture_end),
    A(cuStreamEndCapture_ptsz, capture_end),

    A(cuStreamQuery, query),
    A(cuStreamQuery_ptsz, query),
    A(cuEventQuery, query),
    A(cuMemHostRegister_v2, watched),
    A(cuMemHostUnregister, watched),
    A(cuModuleLoad, watched),
    A(cuModuleLoadData, watched),
    A(cuModuleLoadDataEx, watched),
    A(cuModuleLoadFatBinary, watched),
    A(cuModuleUnload, watched),
    A(cuLibraryLoadData, watched),
    A(cuLibraryLoadFromFile, watched),
    A(cuLibraryUnload, watched),
    A(cuMemPoolTrimTo, watched),

    A(cuStreamWaitValue32, value_wait),
    A(cuStreamWaitValue32_ptsz, value_wait),
    A(cuStreamWaitValue32_v2, value_wait),
    A(cuStreamWaitValue32_v2_ptsz, value_wait),
    A(cuStreamWaitValue64, value_wait),
    A(cuStreamWaitValue64_ptsz, value_wait),
    A(cuStreamWaitValue64_v2, value_wait),
    A(cuStreamWaitValue64_v2_ptsz, value_wait),
    A(cuStreamBatchMemOp, value_wait),
    A(cuStreamBatchMemOp_ptsz, value_wait),
    A(cuStreamBatchMemOp_v2, value_wait),
    A(cuStreamBatchMemOp_v2_ptsz, value_wait),

    BARE(cuStreamCreate, stream_create),
    BARE(cuStreamCreateWithPriority, stream_create),
    BARE(cuGreenCtxStreamCreate, stream_create),
    A(cuStreamDestroy_v2, stream_destroy),
    A(cuStreamDestroy, stream_destroy),
};

static_assert(kDriverApis.size() <= kMaxDriverApis);

#undef A
#undef M
#undef BARE

constexpr auto kIndexByCbid = [] {
  std::array<std::int16_t, CUPTI_DRIVER_TRACE_CBID_SIZE> index{};
  index.fill(-1);
  for (std::size_t i = 0; i < kDriverApis.size(); ++i)
    index[kDriverApis[i].cbid] = static_cast<std::int16_t>(i);
  return index;
}();

}  // namespace

std::span<const DriverApi> driver_apis() noexcept {
  return kDriverApis;
}

int find_driver_api(CUpti_CallbackId cbid) noexcept {
  return cbid < kIndexByCbid.size() ? kIndexByCbid[cbid] : -1;
}

namespace {

template <typename P>
GraphCall graph_call(GraphCall::Kind kind, const void* params) noexcept {
  const P& p = *static_cast<const P*>(params);
  GraphCall call{kind};
  if constexpr (requires { p.hGraphExec; }) call.executable = p.hGraphExec;
  if constexpr (requires { p.hGraph; }) call.graph = p.hGraph;
  if constexpr (requires { p.childGraph; }) call.graph = p.childGraph;
  if constexpr (requires { p.hNode; }) call.node = p.hNode;
  return call;
}

GraphCall instantiation(std::uint64_t flags) noexcept {
  const bool on_device = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  return {on_device ? GraphCall::Kind::allow_device_launch : GraphCall::Kind::none};
}

}  // namespace

GraphCall read_graph_call(CUpti_CallbackId cbid, const void* params) noexcept {
  using Kind = GraphCall::Kind;
#define CALL(function, kind)               \
  case CUPTI_DRIVER_TRACE_CBID_##function: \
    return graph_call<function##_params>(Kind::kind, params)
  switch (cbid) {
    CALL(cuGraphCreate, create);
    CALL(cuGraphClone, create);
    CALL(cuGraphExecUpdate, update);
    CALL(cuGraphExecUpdate_v2, update);
    CALL(cuGraphExecChildGraphNodeSetParams, update_child);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
      return instantiation(static_cast<const cuGraphInstantiateWithFlags_params*>(params)->flags);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz:  // the same struct
      return instantiation(
          static_cast<const cuGraphInstantiateWithParams_params*>(params)->instantiateParams->flags);
      CALL(cuGraphExecKernelNodeSetParams, set_function);
      CALL(cuGraphExecKernelNodeSetParams_v2, set_function);
      CALL(cuGraphKernelNodeSetParams, set_function);
      CALL(cuGraphKernelNodeSetParams_v2, set_function);
      CALL(cuGraphNodeSetParams, set_function);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams: {
      GraphCall call = graph_call<cuGraphExecNodeSetParams_params>(Kind::set_function, params);
      const CUgraphNodeParams& node =
          *static_cast<const cuGraphExecNodeSetParams_params*>(params)->nodeParams;
      if (node.type != CU_GRAPH_NODE_TYPE_GRAPH) return call;
      call.kind = Kind::update_child;
      call.graph = node.graph.graph;
      return call;
    }
    default:
      return {};
  }
#undef CALL
}

bool is_wanted(ApiClass api, bool memory, bool events, bool exact) noexcept {
  switch (api) {
    case ApiClass::alloc:
    case ApiClass::free:
      return memory;
    case ApiClass::sync:
    case ApiClass::event_record:
    case ApiClass::event_wait:
    case ApiClass::watched:
      return events;
    case ApiClass::value_wait:
    case ApiClass::stream_create:
    case ApiClass::stream_destroy:
      return exact;
    case ApiClass::query:
      return false;
    default:
      return true;
  }
}

}  // namespace rangefinder
