// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's calls that a tool observes. Each runs between CUPTI's enter and exit callbacks.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include <csignal>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "tests/injection/fake_driver.h"

struct CUmod_st {
  std::vector<CUfunction> functions;
};
namespace fake {
namespace {

std::mutex modules_mutex;
/// Kernel handles to reuse, as the real driver does.
auto* const unloaded = new std::vector<CUfunction>;  // guarded by modules_mutex

Work work_of(const Call& call, WorkClass kind, CUstream stream) {
  Work work{};
  work.kind = kind;
  work.context = call.context;
  work.stream = stream_id(stream);
  work.correlation = call.correlation;
  work.symbol = call.symbol;
  return work;
}

CUresult submit(const Work& work, CUstream stream) {
  if (!captured(work, stream)) run_work(work);
  return CUDA_SUCCESS;
}

CUresult copy(const Call& call, CUstream stream, std::uint64_t bytes, bool to_host, bool async) {
  Work work = work_of(call, WorkClass::memcpy, stream);
  work.bytes = bytes;
  work.to_host = to_host;
  work.async = async;
  const CUresult r = bytes == 0 ? CUDA_SUCCESS : submit(work, stream);
  if (!async) wait_for_gpu();
  return r;
}

}  // namespace

}  // namespace fake

FAKE_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = new CUmod_st{};
  return fake::ready("cuModuleLoadData");
}

FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  static auto* const names = new std::set<std::string>;  // leaked: records point into it
  const std::lock_guard lock(fake::modules_mutex);
  if (fake::unloaded->empty()) fake::unloaded->push_back(new CUfunc_st{});
  *function = fake::unloaded->back();
  fake::unloaded->pop_back();
  (*function)->name = names->insert(name).first->c_str();
  module->functions.push_back(*function);
  return fake::ready("cuModuleGetFunction");
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule module) {
  if (const CUresult r = fake::ready("cuModuleUnload"); r != CUDA_SUCCESS) return r;
  if (const fake::Hooks* const table = fake::tool())
    table->resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, fake::current_context());
  const std::lock_guard lock(fake::modules_mutex);
  fake::unloaded->insert(fake::unloaded->end(), module->functions.begin(), module->functions.end());
  module->functions.clear();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z,
                                    unsigned shared_bytes, CUstream stream, void** arguments, void** extra) {
  const cuLaunchKernel_params params{f,       grid_x,       grid_y, grid_z,    block_x, block_y,
                                     block_z, shared_bytes, stream, arguments, extra};
  return TRACED(cuLaunchKernel, params, f->name, [&](const fake::Call& call) {
    if (grid_x == 0) return CUDA_ERROR_INVALID_VALUE;
    if (std::strstr(f->name, "raise_signal") != nullptr) raise(SIGUSR1);  // inside the call
    fake::Work work = fake::work_of(call, fake::WorkClass::kernel, stream);
    work.function = f;
    std::memcpy(work.grid, &params.gridDimX, sizeof(work.grid));
    std::memcpy(work.block, &params.blockDimX, sizeof(work.block));
    return fake::submit(work, stream);
  });
}

FAKE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
  const cuMemAlloc_v2_params params{pointer, bytes};
  return TRACED(cuMemAlloc_v2, params, nullptr, [&](const fake::Call&) {
    *pointer = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
    return *pointer != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

FAKE_EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer) {
  const cuMemFree_v2_params params{pointer};
  return TRACED(cuMemFree_v2, params, nullptr, [&](const fake::Call&) {
    std::free(reinterpret_cast<void*>(pointer));
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  const cuMemcpyHtoD_v2_params params{to, from, bytes};
  return TRACED(cuMemcpyHtoD_v2, params, nullptr,
                [&](const fake::Call& call) { return fake::copy(call, nullptr, bytes, false, false); });
}

FAKE_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  const cuMemcpyDtoH_v2_params params{to, from, bytes};
  return TRACED(cuMemcpyDtoH_v2, params, nullptr,
                [&](const fake::Call& call) { return fake::copy(call, nullptr, bytes, true, false); });
}

FAKE_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                          CUstream stream) {
  const cuMemcpyHtoDAsync_v2_params params{to, from, bytes, stream};
  return TRACED(cuMemcpyHtoDAsync_v2, params, nullptr,
                [&](const fake::Call& call) { return fake::copy(call, stream, bytes, false, true); });
}

FAKE_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                     CUstream stream) {
  const cuMemsetD8Async_params params{to, value, count, stream};
  return TRACED(cuMemsetD8Async, params, nullptr, [&](const fake::Call& call) {
    fake::Work work = fake::work_of(call, fake::WorkClass::memset, stream);
    work.bytes = count;
    return fake::submit(work, stream);
  });
}

// The function runs at once: programs here need no order.
FAKE_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  const cuLaunchHostFunc_params params{stream, function, data};
  return TRACED(cuLaunchHostFunc, params, nullptr, [&](const fake::Call& call) {
    function(data);
    return fake::submit(fake::work_of(call, fake::WorkClass::host_function, stream), stream);
  });
}

FAKE_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  const cuStreamSynchronize_params params{stream};
  return TRACED(cuStreamSynchronize, params, nullptr, [](const fake::Call&) {
    fake::wait_for_gpu();
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuCtxSynchronize() {
  const char params = 0;  // the call has no parameters
  return TRACED(cuCtxSynchronize, params, nullptr, [](const fake::Call&) {
    if (fake::breaks_captures()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    fake::wait_for_gpu();
    return CUDA_SUCCESS;
  });
}

FAKE_EXPORT CUresult cuProfilerStart() {
  const char params = 0;  // neither this call nor cuProfilerStop has parameters
  return TRACED(cuProfilerStart, params, nullptr, [](const fake::Call&) { return CUDA_SUCCESS; });
}

FAKE_EXPORT CUresult cuProfilerStop() {
  const char params = 0;
  return TRACED(cuProfilerStop, params, nullptr, [](const fake::Call&) { return CUDA_SUCCESS; });
}
