// SPDX-License-Identifier: Apache-2.0
//
// Uses CUPTI's own generated parameter structs, filled as a call would fill them.

// The structs use types of CUDA 3.1, which cuda.h declares only with this macro.
#define __CUDA_API_VERSION_INTERNAL
#include "profiler/launch/driver_apis.h"

#include <cupti_driver_cbid.h>

#include <generated_cuda_meta.h>

#include <set>
#include <utility>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

const DriverApi& api(CUpti_CallbackId cbid) {
  const int index = find_driver_api(cbid);
  REQUIRE(index >= 0);
  return driver_apis()[static_cast<std::size_t>(index)];
}

/// The arguments that the entry reads from `params`.
template <typename Params>
ApiArguments read(CUpti_CallbackId cbid, const Params& params, bool after = true) {
  ApiArguments out;
  api(cbid).read(&params, after, out);
  return out;
}

template <typename Handle>
Handle handle(std::uintptr_t bits) {
  return reinterpret_cast<Handle>(bits);
}

#define CBID(function) CUPTI_DRIVER_TRACE_CBID_##function

}  // namespace

TEST_CASE("every callback id is in the table once and finds its own entry") {
  std::set<CUpti_CallbackId> ids;
  const auto apis = driver_apis();
  for (std::size_t i = 0; i < apis.size(); ++i) {
    INFO(apis[i].name);
    CHECK(ids.insert(apis[i].cbid).second);
    CHECK(find_driver_api(apis[i].cbid) == static_cast<int>(i));
  }
}

TEST_CASE("an executable that kernels may launch is known by the flags of its instantiation") {
  cuGraphInstantiateWithFlags_params flags{};
  CUDA_GRAPH_INSTANTIATE_PARAMS by_params{};
  cuGraphInstantiateWithParams_params params{};
  params.instantiateParams = &by_params;
  const auto kinds = [&] {
    return std::pair(read_graph_call(CBID(cuGraphInstantiateWithFlags), &flags).kind,
                     read_graph_call(CBID(cuGraphInstantiateWithParams), &params).kind);
  };

  CHECK(kinds() == std::pair(GraphCall::Kind::none, GraphCall::Kind::none));
  flags.flags = by_params.flags =
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  CHECK(kinds() == std::pair(GraphCall::Kind::allow_device_launch, GraphCall::Kind::allow_device_launch));
}

TEST_CASE("calls that make a capture invalid, and those that find one invalid") {
  CHECK(breaks_capture(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
  CHECK(breaks_capture(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
  CHECK_FALSE(breaks_capture(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
  CHECK_FALSE(breaks_capture(CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
  CHECK_FALSE(breaks_capture(CUDA_SUCCESS));
  CHECK_FALSE(breaks_capture(CUDA_ERROR_NOT_READY));
}

TEST_CASE("untraced functions and invalid ids find no entry") {
  CHECK(find_driver_api(CBID(cuInit)) == -1);
  CHECK(find_driver_api(CBID(cuMemGetInfo_v2)) == -1);
  CHECK(find_driver_api(CBID(SIZE)) == -1);
  CHECK(find_driver_api(UINT32_MAX) == -1);
}

TEST_CASE("names have no version and stream suffixes") {
  for (const DriverApi& entry : driver_apis()) {
    INFO(entry.name);
    CHECK(entry.name.starts_with("cu"));
    for (const char* suffix : {"_v2", "_ptsz", "_ptds"}) CHECK_FALSE(entry.name.ends_with(suffix));
  }
  CHECK(api(CBID(cuMemcpyHtoD_v2_ptds)).name == "cuMemcpyHtoD");
  CHECK(api(CBID(cuMemcpyBatchAsync_v2_ptsz)).name == "cuMemcpyBatchAsync");
  CHECK(api(CBID(cuLaunchKernel)).name == "cuLaunchKernel");
}

TEST_CASE("only the per-thread variants are marked as such") {
  CHECK(api(CBID(cuLaunchKernel_ptsz)).per_thread_stream);
  CHECK(api(CBID(cuMemcpy_ptds)).per_thread_stream);
  CHECK_FALSE(api(CBID(cuLaunchKernel)).per_thread_stream);
  CHECK_FALSE(api(CBID(cuMemcpyHtoDAsync_v2)).per_thread_stream);
}

TEST_CASE("has_stream is true exactly for calls with a stream") {
  CHECK(api(CBID(cuLaunchKernel)).has_stream);
  CHECK(api(CBID(cuLaunchKernelEx)).has_stream);
  CHECK(api(CBID(cuMemcpy2DAsync_v2)).has_stream);
  CHECK_FALSE(api(CBID(cuMemcpyHtoD_v2)).has_stream);
  CHECK_FALSE(api(CBID(cuCtxSynchronize)).has_stream);
}

TEST_CASE("every form of kernel launch is traced") {
  for (const CUpti_CallbackId cbid :
       {CBID(cuLaunchKernel), CBID(cuLaunchKernel_ptsz), CBID(cuLaunchKernelEx), CBID(cuLaunchKernelEx_ptsz),
        CBID(cuLaunchCooperativeKernel), CBID(cuLaunchCooperativeKernel_ptsz),
        CBID(cuLaunchCooperativeKernelMultiDevice)}) {
    CHECK(api(cbid).kind == ApiClass::kernel);
  }
}

TEST_CASE("a launch has its grid, block and stream") {
  cuLaunchKernel_params plain{};
  plain.gridDimX = 1, plain.gridDimY = 2, plain.gridDimZ = 3;
  plain.blockDimX = 4, plain.blockDimY = 5, plain.blockDimZ = 6;
  plain.hStream = handle<CUstream>(0x10);
  CUlaunchConfig config{};
  config.gridDimX = 7, config.gridDimY = 8, config.gridDimZ = 9;
  config.blockDimX = 10, config.blockDimY = 11, config.blockDimZ = 12;
  config.hStream = handle<CUstream>(0x20);
  cuLaunchKernelEx_params extended{};
  extended.config = &config;

  const ApiArguments a = read(CBID(cuLaunchKernel), plain);
  const ApiArguments b = read(CBID(cuLaunchKernelEx), extended);

  CHECK(a.grid == Dim3{1, 2, 3});
  CHECK(a.block == Dim3{4, 5, 6});
  CHECK(a.stream == plain.hStream);
  CHECK(b.grid == Dim3{7, 8, 9});
  CHECK(b.block == Dim3{10, 11, 12});
  CHECK(b.stream == config.hStream);
}

TEST_CASE("a call with null arguments, which is about to fail, does not crash us") {
  CHECK(read(CBID(cuLaunchKernelEx), cuLaunchKernelEx_params{}).grid == Dim3{});
  CHECK(read(CBID(cuMemcpy2D_v2), cuMemcpy2D_v2_params{}).bytes == 0);
  CHECK(read(CBID(cuMemcpy3DAsync_v2), cuMemcpy3DAsync_v2_params{}).bytes == 0);
  CHECK(read(CBID(cuMemcpy3DPeer), cuMemcpy3DPeer_params{}).bytes == 0);
  cuMemcpyBatchAsync_params batch{};
  batch.count = 3;
  CHECK(read(CBID(cuMemcpyBatchAsync), batch).bytes == 0);
  cuMemcpy3DBatchAsync_params batch3d{};
  batch3d.numOps = 3;
  CHECK(read(CBID(cuMemcpy3DBatchAsync), batch3d).bytes == 0);
  CHECK(read(CBID(cuMemAlloc_v2), cuMemAlloc_v2_params{}).address == 0);
  CHECK(read(CBID(cuMemHostAlloc), cuMemHostAlloc_params{}).address == 0);
  CHECK(read(CBID(cuStreamEndCapture), cuStreamEndCapture_params{}).graph == 0);
}

TEST_CASE("a 1D copy has its bytes") {
  cuMemcpyHtoDAsync_v2_params copy{};
  copy.ByteCount = std::size_t{5} << 32;
  copy.hStream = handle<CUstream>(0x30);

  const ApiArguments arguments = read(CBID(cuMemcpyHtoDAsync_v2), copy);

  CHECK(arguments.bytes == std::uint64_t{5} << 32);
  CHECK(arguments.stream == copy.hStream);
  cuMemcpyPeer_params peer{};
  peer.ByteCount = 77;
  CHECK(read(CBID(cuMemcpyPeer), peer).bytes == 77);
}

TEST_CASE("bytes of 2D and 3D copies are the product of the extents, without pitches") {
  CUDA_MEMCPY2D plane{};
  plane.WidthInBytes = 100;
  plane.Height = 7;
  plane.srcPitch = plane.dstPitch = 512;
  CUDA_MEMCPY3D box{};
  box.WidthInBytes = 100;
  box.Height = 7;
  box.Depth = 3;
  CUDA_MEMCPY3D_PEER peer_box{};
  peer_box.WidthInBytes = 10;
  peer_box.Height = 10;
  peer_box.Depth = 10;

  CHECK(read(CBID(cuMemcpy2D_v2), cuMemcpy2D_v2_params{&plane}).bytes == 700);
  CHECK(read(CBID(cuMemcpy3D_v2), cuMemcpy3D_v2_params{&box}).bytes == 2100);
  CHECK(read(CBID(cuMemcpy3DPeerAsync), cuMemcpy3DPeerAsync_params{&peer_box, nullptr}).bytes == 1000);
}

TEST_CASE("bytes of a batch are the sum of its copies, in every form") {
  std::size_t sizes[] = {10, 0, 1000};
  cuMemcpyBatchAsync_params first{};
  first.sizes = sizes;
  first.count = 3;
  cuMemcpyBatchAsync_v2_params second{};
  second.sizes = sizes;
  second.count = 2;
  CUDA_MEMCPY3D_BATCH_OP boxes[2]{};
  boxes[0].extent = {10, 2, 1};
  boxes[1].extent = {5, 5, 5};
  cuMemcpy3DBatchAsync_params third{};
  third.numOps = 2;
  third.opList = boxes;

  CHECK(read(CBID(cuMemcpyBatchAsync), first).bytes == 1010);
  CHECK(read(CBID(cuMemcpyBatchAsync_v2), second).bytes == 10);
  CHECK(read(CBID(cuMemcpy3DBatchAsync), third).bytes == 145);
}

TEST_CASE("memsets count elements of one, two and four bytes") {
  CHECK(read(CBID(cuMemsetD8_v2), cuMemsetD8_v2_params{0, 1, 100}).bytes == 100);
  CHECK(read(CBID(cuMemsetD16_v2), cuMemsetD16_v2_params{0, 1, 100}).bytes == 200);
  CHECK(read(CBID(cuMemsetD32Async), cuMemsetD32Async_params{0, 1, 100, nullptr}).bytes == 400);
}

TEST_CASE("2D memsets count elements, not the pitch") {
  CHECK(read(CBID(cuMemsetD2D8_v2), cuMemsetD2D8_v2_params{0, 512, 1, 30, 4}).bytes == 120);
  CHECK(read(CBID(cuMemsetD2D16Async), cuMemsetD2D16Async_params{0, 512, 1, 30, 4, nullptr}).bytes == 240);
  CHECK(read(CBID(cuMemsetD2D32_v2), cuMemsetD2D32_v2_params{0, 512, 1, 30, 4}).bytes == 480);
}

TEST_CASE("an allocation has its bytes at enter and its address after success") {
  CUdeviceptr address = 0x7f00'0000'1000;
  const cuMemAlloc_v2_params device{&address, 4096};
  void* page = handle<void*>(0x1234'5000);
  const cuMemHostAlloc_params host{&page, 8192, 0};

  CHECK(read(CBID(cuMemAlloc_v2), device, false).bytes == 4096);
  CHECK(read(CBID(cuMemAlloc_v2), device, false).address == 0);
  CHECK(read(CBID(cuMemAlloc_v2), device).address == address);
  CHECK(read(CBID(cuMemAlloc_v2), device).alloc_kind == AllocKind::device);
  CHECK(read(CBID(cuMemHostAlloc), host).address == 0x1234'5000);
  CHECK(read(CBID(cuMemHostAlloc), host).alloc_kind == AllocKind::host);
}

TEST_CASE("a pitched allocation has the requested bytes") {
  CUdeviceptr address = 0x1000;
  std::size_t pitch = 512;

  CHECK(read(CBID(cuMemAllocPitch_v2), cuMemAllocPitch_v2_params{&address, &pitch, 100, 7, 4}).bytes == 700);
}

TEST_CASE("an allocation from a pool has its pool and stream") {
  CUdeviceptr address = 0x1000;
  const cuMemAllocFromPoolAsync_params params{&address, 64, handle<CUmemoryPool>(0x99),
                                              handle<CUstream>(0x40)};

  const ApiArguments arguments = read(CBID(cuMemAllocFromPoolAsync), params);

  CHECK(arguments.pool == 0x99);
  CHECK(arguments.stream == params.hStream);
  CHECK(arguments.alloc_kind == AllocKind::pool);
  CHECK(api(CBID(cuMemAllocManaged)).kind == ApiClass::alloc);
}

TEST_CASE("a free has its address before and after the call") {
  const cuMemFree_v2_params device{0x7f00'0000'2000};
  const cuMemFreeHost_params host{handle<void*>(0x5000)};

  CHECK(read(CBID(cuMemFree_v2), device, false).address == 0x7f00'0000'2000);
  CHECK(read(CBID(cuMemFreeHost), host).address == 0x5000);
  CHECK(read(CBID(cuMemFreeHost), host).alloc_kind == AllocKind::host);
  CHECK(api(CBID(cuMemFreeAsync)).has_stream);
}

TEST_CASE("events, waits and synchronisation have their handles") {
  const cuEventRecord_params record{handle<CUevent>(0xe1), handle<CUstream>(0x50)};
  const cuStreamWaitEvent_params wait{handle<CUstream>(0x60), handle<CUevent>(0xe2), 0};

  CHECK(read(CBID(cuEventRecord), record).event == 0xe1);
  CHECK(read(CBID(cuEventRecord), record).stream == record.hStream);
  CHECK(read(CBID(cuStreamWaitEvent), wait).event == 0xe2);
  CHECK(read(CBID(cuStreamWaitEvent), wait).stream == wait.hStream);
  CHECK(read(CBID(cuEventSynchronize), cuEventSynchronize_params{handle<CUevent>(0xe3)}).event == 0xe3);
  CHECK(read(CBID(cuStreamSynchronize), cuStreamSynchronize_params{record.hStream}).stream == record.hStream);
}

TEST_CASE("a capture has its stream, and its graph once it has ended") {
  CUgraph graph = handle<CUgraph>(0x6a);
  const cuStreamEndCapture_params end{handle<CUstream>(0x70), &graph};

  CHECK(read(CBID(cuStreamEndCapture), end, false).graph == 0);
  CHECK(read(CBID(cuStreamEndCapture), end).graph == 0x6a);
  CHECK(read(CBID(cuStreamEndCapture), end).stream == end.hStream);
  CHECK(api(CBID(cuStreamBeginCapture_v2)).kind == ApiClass::capture_begin);
}

TEST_CASE("only the first four classes launch GPU work, in the order of WorkKind") {
  CHECK(is_gpu_work(ApiClass::kernel));
  CHECK(is_gpu_work(ApiClass::graph));
  CHECK_FALSE(is_gpu_work(ApiClass::sync));
  CHECK(static_cast<int>(ApiClass::memset) == static_cast<int>(WorkKind::memset));
  CHECK(static_cast<int>(ApiClass::graph) == static_cast<int>(WorkKind::graph));
}
