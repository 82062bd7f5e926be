// SPDX-License-Identifier: Apache-2.0
//
// A CUDA driver without a GPU: libcuda.so.1 for the test programs.
//
// It treats a tool as the real driver does. cuInit loads CUDA_INJECTION64_PATH, calls InitializeInjection,
// and then registers the driver's exit handler. Every call runs CUPTI's enter and exit callbacks. In a
// forked child, CUDA calls fail.
//
//   FAKE_CUDA_GPUS     number of GPUs
//   FAKE_CUDA_INIT_MS  time that cuInit takes after InitializeInjection
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <generated_cuda_meta.h>
#include <link.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/injection/fake_driver.h"

namespace fake {
namespace {

std::atomic<bool> initialized{false};
std::atomic<pid_t> initializing{0};  // the thread inside cuInit
std::atomic<bool> ended{false};
std::atomic<pid_t> owner{0};
std::atomic<const Hooks*> hooks{nullptr};
std::atomic<std::uint32_t> next_correlation{
    static_cast<std::uint32_t>(number_from("FAKE_CUDA_CORRELATION", 1))};
thread_local CUcontext current = nullptr;
thread_local std::vector<CUcontext> below;  // stack of cuCtxPushCurrent

void load_injection() {
  const char* const path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return;
  if (auto* const initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")))
    (void)initialize();
}

std::mutex contexts_mutex;
auto* const contexts = new std::vector<CUcontext>;  // guarded by contexts_mutex; all contexts ever created

/// How many libraries were ever loaded.
unsigned long long loaded_libraries() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;  // every entry has the same count
      },
      &count);
  return count;
}

void search_cupti() {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_LAZY);
  if (cupti == nullptr) return;
  auto* const table = reinterpret_cast<const Hooks* (*)()>(dlsym(cupti, kHooksFunction));
  if (table == nullptr) return;
  const std::lock_guard lock(contexts_mutex);
  if (hooks.load() != nullptr) return;
  for (CUcontext const context : *contexts) {
    if (context->alive) table()->known_context(context);
  }
  hooks.store(table());
}

/// CUPTI may be loaded at any time; tool() searches until it is. A search reads the disk, so it runs only
/// after another library was loaded.
void find_cupti() {
  static std::atomic<unsigned long long> searched{0};
  const unsigned long long loaded = loaded_libraries();
  if (searched.load() == loaded) return;
  search_cupti();
  // Only now: a thread that came during the search must search too. A library that is loaded during the
  // search raises the count, so the next call searches again.
  searched.store(loaded);
}

/// Driver threads block no signals. A signal sent to the process may be delivered to them.
void start_own_thread() {
  std::thread([] {
    prctl(PR_SET_NAME, "cuda-EvtHandlr");
    while (true) pause();
  }).detach();
}

void end_driver() {
  if (getpid() != owner.load()) return;
  ended.store(true);
  if (const Hooks* const table = hooks.load()) table->ended();
}

}  // namespace

/// FAKE_CUDA_FAIL=FUNCTION: FUNCTION returns an unknown error. cuDeviceGet, which the test programs call,
/// fails only on the tool's own threads.
bool is_failing(const char* function) {
  static const char* const wanted = getenv("FAKE_CUDA_FAIL");
  if (wanted == nullptr || std::strcmp(wanted, function) != 0) return false;
  char thread[16] = {};
  prctl(PR_GET_NAME, thread);
  return std::strcmp(function, "cuDeviceGet") != 0 || std::strncmp(thread, "rangefinder", 11) == 0;
}

CUresult ready_anywhere(const char* function) {
  if (is_failing(function)) return CUDA_ERROR_UNKNOWN;
  if (!initialized.load() || getpid() != owner.load()) return CUDA_ERROR_NOT_INITIALIZED;
  return ended.load() ? CUDA_ERROR_DEINITIALIZED : CUDA_SUCCESS;
}

CUresult ready(const char* function) {
  if (const CUresult r = ready_anywhere(function); r != CUDA_SUCCESS) return r;
  // CUPTI: CUDA calls inside callbacks are unsupported and may hang.
  if (const Hooks* const table = hooks.load(); table != nullptr && table->in_callback()) {
    violation(std::string(function) + " called inside a callback of CUPTI");
  }
  return CUDA_SUCCESS;
}

const Hooks* tool() {
  if (hooks.load() == nullptr) find_cupti();
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

}  // namespace fake

using fake::ready;

FAKE_EXPORT CUresult cuInit(unsigned) {
  static std::once_flag once;
  std::call_once(once, [] {
    fake::owner.store(getpid());
    fake::initializing.store(gettid());
    fake::load_injection();
    std::this_thread::sleep_for(std::chrono::milliseconds(fake::number_from("FAKE_CUDA_INIT_MS", 0)));
    fake::initialized.store(true);
    fake::initializing.store(0);
    fake::start_own_thread();
    // After InitializeInjection: the driver's exit handler runs before handlers that the tool registered.
    std::atexit(fake::end_driver);
  });
  return ready("cuInit");
}

FAKE_EXPORT int fakeCudaInitRunsElsewhere() {
  const pid_t thread = fake::initializing.load();
  return thread != 0 && thread != gettid() ? 1 : 0;
}

FAKE_EXPORT CUresult cuDriverGetVersion(int* version) {
  if (fake::is_failing("cuDriverGetVersion")) return CUDA_ERROR_UNKNOWN;
  *version = 13000;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetCount(int* count) {
  *count = fake::gpus();
  return ready("cuDeviceGetCount");
}

FAKE_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal < fake::gpus() ? ready("cuDeviceGet") : CUDA_ERROR_INVALID_DEVICE;
}

FAKE_EXPORT CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, "Fake GH100", static_cast<std::size_t>(bytes) - 1);
  name[bytes - 1] = '\0';
  return ready("cuDeviceGetName");
}

FAKE_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  for (std::size_t i = 0; i < sizeof(uuid->bytes); ++i) uuid->bytes[i] = static_cast<char>(0x10 + i);
  uuid->bytes[0] = static_cast<char>(0x10 + device);
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
  *context = fake::current = new CUctx_st{id, static_cast<std::uint32_t>(device), id * 100 + 7, {true}, {0}};
  const fake::Hooks* const table = fake::tool();
  {
    const std::lock_guard lock(fake::contexts_mutex);
    fake::contexts->push_back(*context);
  }
  if (table != nullptr) table->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, *context);
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

FAKE_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (const CUresult r = fake::ready_anywhere("cuCtxPushCurrent"); r != CUDA_SUCCESS) return r;
  if (context == nullptr || !context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  fake::below.push_back(std::exchange(fake::current, context));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (const CUresult r = fake::ready_anywhere("cuCtxPopCurrent"); r != CUDA_SUCCESS) return r;
  if (fake::below.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = std::exchange(fake::current, fake::below.back());
  fake::below.pop_back();
  return CUDA_SUCCESS;
}
