// SPDX-License-Identifier: Apache-2.0
//
// A CUDA driver without a GPU: libcuda.so.1 for the test programs.
//
// It does what the real one does to a tool: cuInit loads CUDA_INJECTION64_PATH and calls
// InitializeInjection before it returns, then registers the driver's exit handler; every
// call goes through CUPTI's enter and exit callbacks; a forked child finds CUDA dead.
// Streams of a context run one after the other; work takes FAKE_CUDA_KERNEL_NS.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <generated_cuda_meta.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "tests/injection/fake_driver.h"

namespace fake {
namespace {

std::atomic<bool> initialized{false};
std::atomic<bool> ended{false};
std::atomic<pid_t> owner{0};
std::atomic<const Hooks*> hooks{nullptr};
std::atomic<std::uint32_t> next_correlation{1};
thread_local CUcontext current = nullptr;
std::atomic<std::int64_t> gpu_busy_until_ns{0};

void load_injection() {
  const char* const path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return;
  if (auto* const initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")))
    (void)initialize();
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_LAZY);
  if (cupti == nullptr) return;
  if (auto* const table = reinterpret_cast<const Hooks* (*)()>(dlsym(cupti, kHooksFunction)))
    hooks.store(table());
}

void end_driver() {
  if (getpid() != owner.load()) return;
  ended.store(true);
  if (const Hooks* const table = hooks.load()) table->ended();
}

}  // namespace

CUresult ready(const char* function) {
  if (!initialized.load() || getpid() != owner.load()) return CUDA_ERROR_NOT_INITIALIZED;
  if (ended.load()) return CUDA_ERROR_DEINITIALIZED;
  // CUPTI: CUDA calls inside callbacks are unsupported and may hang.
  if (const Hooks* const table = hooks.load(); table != nullptr && table->in_callback()) {
    violation(std::string(function) + " called inside a callback of CUPTI");
  }
  return CUDA_SUCCESS;
}

const Hooks* tool() {
  return hooks.load();
}
CUcontext current_context() {
  return current != nullptr && current->alive ? current : nullptr;
}
std::uint32_t correlation() {
  return next_correlation.fetch_add(1);
}
std::uint32_t stream_id(CUstream stream) {
  return stream != nullptr ? stream->id : current->null_stream;
}

void run_work(Work work) {
  static const std::int64_t took_ns = number_from("FAKE_CUDA_KERNEL_NS", 2'000);
  std::int64_t free_ns = gpu_busy_until_ns.load();
  do {
    work.start_ns = std::max(now_ns(), free_ns);
    work.end_ns = work.start_ns + took_ns;
  } while (!gpu_busy_until_ns.compare_exchange_weak(free_ns, work.end_ns));
  if (const Hooks* const table = hooks.load()) table->work(work);
}

void wait_for_gpu() {
  for (std::int64_t left = gpu_busy_until_ns.load() - now_ns(); left > 0;
       left = gpu_busy_until_ns.load() - now_ns()) {
    const timespec pause{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace fake

using fake::ready;

FAKE_EXPORT CUresult cuInit(unsigned) {
  static std::once_flag once;
  std::call_once(once, [] {
    fake::owner.store(getpid());
    fake::load_injection();
    fake::initialized.store(true);
    // After the injected library had its turn, so the driver's handler runs before any that was
    // registered there.
    std::atexit(fake::end_driver);
  });
  return ready("cuInit");
}

FAKE_EXPORT CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return ready("cuDeviceGetCount");
}

FAKE_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? ready("cuDeviceGet") : CUDA_ERROR_INVALID_DEVICE;
}

FAKE_EXPORT CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, "Fake GH100", static_cast<std::size_t>(bytes) - 1);
  name[bytes - 1] = '\0';
  return ready("cuDeviceGetName");
}

FAKE_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  for (std::size_t i = 0; i < sizeof(uuid->bytes); ++i) uuid->bytes[i] = static_cast<char>(0x10 + i);
  return ready("cuDeviceGetUuid");
}

FAKE_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{64} << 30;
  return ready("cuDeviceTotalMem");
}

FAKE_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 132;
      break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      *value = 60 << 20;
      break;
    default:
      *value = 1024;
  }
  return ready("cuDeviceGetAttribute");
}

FAKE_EXPORT CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned, CUdevice device) {
  static std::atomic<std::uint32_t> next_id{1};
  if (const CUresult r = ready("cuCtxCreate"); r != CUDA_SUCCESS) return r;
  const std::uint32_t id = next_id.fetch_add(1);
  *context = fake::current = new CUctx_st{id, static_cast<std::uint32_t>(device), id * 100 + 7, true};
  if (const fake::Hooks* const table = fake::tool())
    table->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, *context);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  if (const CUresult r = ready("cuCtxDestroy"); r != CUDA_SUCCESS) return r;
  fake::wait_for_gpu();
  if (const fake::Hooks* const table = fake::tool()) {
    table->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context);
  }
  context->alive = false;
  if (fake::current == context) fake::current = nullptr;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  fake::current = context;
  return ready("cuCtxSetCurrent");
}

FAKE_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned) {
  static std::atomic<std::uint32_t> next_id{13};
  if (const CUresult r = ready("cuStreamCreate"); r != CUDA_SUCCESS) return r;
  *stream = new CUstream_st{next_id.fetch_add(1)};
  if (const fake::Hooks* const table = fake::tool()) table->stream(fake::current, (*stream)->id);
  return CUDA_SUCCESS;
}
