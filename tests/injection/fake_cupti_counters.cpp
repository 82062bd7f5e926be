// SPDX-License-Identifier: Apache-2.0
//
// The fake CUPTI's Range Profiler. It checks call order, images and nesting. As on an H200, a session keeps
// counting the metrics of its first configuration; later configurations have no effect. The n-th range of
// a process (from 0) has unique values:
//
//   gr__cycles_active.sum 4100 + n   dram__bytes_read.sum 2000 + n
//   dram__bytes_write.sum 3000 + n   lts__t_bytes.sum     4000 + n
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/injection/fake_cupti_images.h"

/// The counters of one context, from enable to disable. Never freed, so that late calls are detected.
struct CUpti_RangeProfiler_Object {
  CUcontext context;
  bool enabled, configured, started, open;
  bool has_started;                ///< since the enable; it then holds the GPU's counters
  std::uint32_t open_correlation;  ///< of the launch in the open range; 0: none yet
  std::uint8_t* image;             ///< of SetConfig: must outlive us
  std::size_t image_bytes, max_ranges;
  std::uint64_t first_config, config;      ///< serials of the session's first and last configuration
  std::vector<fake::CounterRange> ranges;  ///< since the last decode
};

namespace fake {
namespace {

std::recursive_mutex lock;                                      // guards all objects below
auto& objects = *new std::vector<CUpti_RangeProfiler_Object*>;  // leaked, as its elements are
std::atomic<int> initialized{0};
std::uint64_t next_range = 0;

/// The object if it is valid, else nullptr.
CUpti_RangeProfiler_Object* usable(CUpti_RangeProfiler_Object* object, const char* function) {
  if (object == nullptr) return nullptr;
  if (object->enabled && object->context->alive) return object;
  violation(std::string(function) + " called with counters that are disabled, or whose context is gone");
  return nullptr;
}

/// Drains the GPU. Behind work that waits for a later launch, the drain never ends and cannot be
/// cancelled: the real library hangs.
void drain(const CUpti_RangeProfiler_Object& object, const char* function) {
  if (object.context->waiting.load() != 0)
    violation(std::string(function) + " drains behind unfinished work that waits");
}

/// Every range ends with a kernel that CUPTI launches itself.
void record_end_of_range(CUcontext context) {
  constexpr std::uint32_t kOwnStream = 900;
  constexpr std::int64_t kTakesNs = 40'000;
  Work work{};
  work.kind = WorkClass::kernel;
  work.context = context;
  work.stream = kOwnStream;
  work.correlation = correlation_in_progress();
  work.start_ns = now_ns();
  work.end_ns = work.start_ns + kTakesNs;
  work.symbol = "WaitNs";
  for (unsigned& size : work.grid) size = 1;
  for (unsigned& size : work.block) size = 1;
  record_work(work);
}

}  // namespace

void count_work(const Work& work) {
  static const bool shared = getenv("FAKE_CUPTI_SHARED") != nullptr;
  const std::lock_guard guard(lock);
  for (CUpti_RangeProfiler_Object* const object : objects) {
    if (!object->open || object->context != work.context) continue;
    if (object->open_correlation != 0 && object->open_correlation != work.correlation && !shared &&
        work.context->waiting == 0) {  // an open range that cannot be closed also counts later work
      violation("a counter range holds more than one launch");
    }
    object->open_correlation = work.correlation;
  }
}

void counters_context_destroyed(CUcontext context) {
  const std::lock_guard guard(lock);
  for (CUpti_RangeProfiler_Object* const object : objects) {
    if (object->context == context && object->enabled)
      violation("a context was destroyed with its counters enabled");
  }
}

bool counter_ranges_enabled() {
  const std::lock_guard guard(lock);
  return std::any_of(objects.begin(), objects.end(),
                     [](const CUpti_RangeProfiler_Object* object) { return object->enabled; });
}

std::uint32_t counters_held_by() {
  const std::lock_guard guard(lock);
  for (const CUpti_RangeProfiler_Object* const object : objects) {
    if (object->enabled && object->has_started) return object->context->id;
  }
  return 0;
}

bool counters_initialized() {
  return initialized.load() > 0;
}

}  // namespace fake

using fake::usable;

/// For test programs: id of a context that holds its GPU's counters; 0: none.
FAKE_EXPORT std::uint32_t fake_cupti_counters_held_by() {
  return fake::counters_held_by();
}

/// Begins every function: injected error, check of the parameters' size, lock.
#define BEGIN(name)                                                               \
  FAKE_BEGIN(name, counters);                                                     \
  if (params == nullptr || params->structSize == 0 || params->pPriv != nullptr) { \
    return CUPTI_ERROR_INVALID_PARAMETER;                                         \
  }                                                                               \
  const std::lock_guard guard(fake::lock)
#define BEGIN_OBJECT(name)                                                                \
  BEGIN(name);                                                                            \
  CUpti_RangeProfiler_Object* const object = usable(params->pRangeProfilerObject, #name); \
  if (object == nullptr) return CUPTI_ERROR_INVALID_PARAMETER

FAKE_EXPORT CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  BEGIN(ProfilerInitialize);
  // As the real library: registered at the first use of counters, so it runs before earlier handlers.
  static const pid_t owner = getpid();
  static const int registered = std::atexit([] {
    if (getpid() != owner) return;
    if (fake::sampler_enabled()) fake::violation("CUPTI's exit handler ran while a GPU is sampled");
    fake::counters_ended = true;
  });
  (void)registered;
  ++fake::initialized;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
  BEGIN(ProfilerDeInitialize);
  --fake::initialized;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  BEGIN(ProfilerDeviceSupported);
  params->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  BEGIN(RangeProfilerEnable);
  if (!fake::counters_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (params->ctx == nullptr || !params->ctx->alive) return CUPTI_ERROR_INVALID_CONTEXT;
  for (const CUpti_RangeProfiler_Object* const other : fake::objects) {
    if (other->enabled && other->context == params->ctx) return CUPTI_ERROR_INVALID_OPERATION;
  }
  params->pRangeProfilerObject = new CUpti_RangeProfiler_Object{};
  params->pRangeProfilerObject->context = params->ctx;
  params->pRangeProfilerObject->enabled = true;
  fake::objects.push_back(params->pRangeProfilerObject);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  BEGIN_OBJECT(RangeProfilerDisable);
  fake::drain(*object, "RangeProfilerDisable");
  if (object->started) return CUPTI_ERROR_INVALID_OPERATION;
  object->enabled = false;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  BEGIN_OBJECT(RangeProfilerGetCounterDataSize);
  if (params->maxNumRangeTreeNodes < params->maxNumOfRanges) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    if (!fake::is_metric(params->pMetricNames[i])) return CUPTI_ERROR_INVALID_METRIC_NAME;
  }
  object->max_ranges = params->maxNumOfRanges;
  params->counterDataSize = sizeof(fake::CounterImage) + params->maxNumOfRanges * sizeof(fake::CounterRange);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  BEGIN_OBJECT(RangeProfilerCounterDataImageInitialize);
  const std::size_t needed = sizeof(fake::CounterImage) + object->max_ranges * sizeof(fake::CounterRange);
  if (params->pCounterData == nullptr || params->counterDataSize < needed)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const fake::CounterImage empty{fake::kCounterMagic, object->max_ranges, 0};
  std::memcpy(params->pCounterData, &empty, sizeof(empty));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  BEGIN_OBJECT(RangeProfilerSetConfig);
  fake::use_stack();
  if (object->started || fake::config_image(params->pConfig, params->configSize) == nullptr ||
      fake::counter_image(params->pCounterDataImage, params->counterDataImageSize) == nullptr ||
      params->range != CUPTI_UserRange || params->replayMode != CUPTI_UserReplay ||
      params->numNestingLevels != 1 || params->minNestingLevel != 1 ||
      params->maxRangesPerPass > object->max_ranges) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  object->config = fake::config_image(params->pConfig, params->configSize)->serial;
  if (!object->configured) object->first_config = object->config;
  object->image = params->pCounterDataImage;
  object->image_bytes = params->counterDataImageSize;
  object->configured = true;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  BEGIN_OBJECT(RangeProfilerStart);
  fake::use_stack();
  if (!object->configured || object->started) return CUPTI_ERROR_INVALID_OPERATION;
  for (const CUpti_RangeProfiler_Object* const other : fake::objects) {
    if (other != object && other->enabled && other->has_started &&
        other->context->gpu == object->context->gpu)
      return CUPTI_ERROR_HARDWARE_BUSY;
  }
  fake::drain(*object, "RangeProfilerStart");
  static const char* const start_ms = getenv("FAKE_CUPTI_START_MS");
  if (start_ms != nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(start_ms)));
  object->started = object->has_started = true;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  BEGIN_OBJECT(RangeProfilerStop);
  fake::use_stack();
  if (!object->started || object->open) return CUPTI_ERROR_INVALID_OPERATION;
  fake::drain(*object, "RangeProfilerStop");
  object->started = false;
  params->isAllPassSubmitted = 1;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  BEGIN_OBJECT(RangeProfilerPushRange);
  if (!object->started || object->open || params->pRangeName == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  fake::drain(*object, "RangeProfilerPushRange");
  if (object->ranges.size() == object->max_ranges)
    fake::violation("more counter ranges than the image holds");
  fake::CounterRange range{};
  std::strncpy(range.name, params->pRangeName, sizeof(range.name) - 1);
  range.serial = fake::next_range++;
  range.undelivered = object->config != object->first_config ? 1 : 0;
  object->ranges.push_back(range);
  object->open = true;
  object->open_correlation = 0;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  BEGIN_OBJECT(RangeProfilerPopRange);
  if (!object->started || !object->open) return CUPTI_ERROR_INVALID_OPERATION;
  fake::drain(*object, "RangeProfilerPopRange");
  object->open = false;
  fake::record_end_of_range(object->context);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  BEGIN_OBJECT(RangeProfilerDecodeData);
  if (object->started || !object->configured) return CUPTI_ERROR_INVALID_OPERATION;
  auto* const image = reinterpret_cast<fake::CounterImage*>(object->image);
  if (image->magic != fake::kCounterMagic) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* const slots = reinterpret_cast<fake::CounterRange*>(image + 1);
  const std::size_t room = static_cast<std::size_t>(image->max_ranges - image->ranges);
  const std::size_t kept = std::min(room, object->ranges.size());
  std::copy_n(object->ranges.begin(), kept, slots + image->ranges);
  image->ranges += kept;
  params->numOfRangeDropped = object->ranges.size() - kept;
  object->ranges.clear();
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  BEGIN(RangeProfilerGetCounterDataInfo);
  const fake::CounterImage* const image =
      fake::counter_image(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalRanges = static_cast<std::size_t>(image->ranges);
  return CUPTI_SUCCESS;
}
