// SPDX-License-Identifier: Apache-2.0
//
// The fake CUPTI's PM sampling, one sampler per GPU. It checks call order and the lifetime of images. A
// sampler must be disabled before the last context is destroyed. Each decoding appends ten consecutive
// samples to the image; ten remain after the stop. As on an H200, samples that do not fit are lost.
// The n-th sample of a process (from 0) has unique values:
//
//   dram__bytes_read.sum 2000 + n   dram__bytes_write.sum 3000 + n   lts__t_bytes.sum 4000 + n
//
//   FAKE_CUPTI_PM_OVERFLOW  N: the hardware buffer overflows once, at the N-th decoding (from 1)
//   FAKE_CUPTI_PM_HOLE      N: before the sixth sample, N samples are missing and not reported
//   FAKE_CUPTI_PM_BEHIND    N: at intervals below N ns, every second sample is missing and not reported
//   FAKE_CUPTI_PM_LATE      N: the first decoding is late and finds N samples
//   FAKE_CUPTI_PM_CONFIG_MS N: configuring a GPU takes N ms, in which no thread can decode. Samples of the
//                           others are then as many as their time allows
#include <cupti_pmsampling.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "tests/injection/fake_cupti_images.h"

/// From enable to disable. Never freed, so that late calls are detected.
struct CUpti_PmSampling_Object {
  std::uint32_t gpu;
  bool enabled, started, overflowed;
  const std::uint8_t* config;  ///< of SetConfig: must outlive us
  std::size_t config_bytes, max_samples;
  std::uint64_t interval_ns;
  std::int64_t next_ns;  ///< start of the next sample
  int left;              ///< samples that remain after a stop; -1: unlimited
};

namespace fake {
namespace {

constexpr int kBatch = 10;
/// A smaller hardware buffer holds less than a second of samples at 20 us.
constexpr std::size_t kMinBuffer = std::size_t{256} << 20;

std::mutex lock;  // guards everything below
std::condition_variable changed;
std::map<std::uint32_t, CUpti_PmSampling_Object*> samplers;  // enabled samplers, by GPU
std::uint64_t next_sample = 0;
std::int64_t contexts = 0, decodings = 0;
bool begun = false;

}  // namespace

std::atomic<bool> counters_ended{false};

namespace {

CUpti_PmSampling_Object* usable(CUpti_PmSampling_Object* object, const char* function) {
  if (object == nullptr) return nullptr;
  if (object->enabled) return object;
  violation(std::string(function) + " called with a sampler that is disabled");
  return nullptr;
}

CounterImage* image_of(std::uint8_t* data, std::size_t bytes) {
  return const_cast<CounterImage*>(counter_image(data, bytes));
}

/// Appends the next sample to the image.
void decode_sample(CUpti_PmSampling_Object& object, CounterImage& image) {
  const auto interval_ns = static_cast<std::int64_t>(object.interval_ns);
  if (next_sample == 5) object.next_ns += number_from("FAKE_CUPTI_PM_HOLE", 0) * interval_ns;
  if (interval_ns < number_from("FAKE_CUPTI_PM_BEHIND", 0)) object.next_ns += interval_ns;
  const std::int64_t times[2] = {object.next_ns, object.next_ns + interval_ns};
  CounterRange& slot = reinterpret_cast<CounterRange*>(&image + 1)[image.ranges++];
  std::memcpy(slot.name, times, sizeof(times));
  slot.serial = next_sample++;
  object.next_ns = times[1];
}

/// What the next decoding finds.
std::int64_t waiting(const CUpti_PmSampling_Object& object) {
  if (number_from("FAKE_CUPTI_PM_CONFIG_MS", 0) == 0) return kBatch;
  return std::max<std::int64_t>(kBatch,
                                (now_ns() - object.next_ns) / static_cast<std::int64_t>(object.interval_ns));
}

bool is_gpu(std::size_t ordinal) {
  return ordinal < static_cast<std::size_t>(gpus());
}

bool is_sampled(std::size_t gpu) {
  const std::lock_guard guard(lock);
  return samplers.contains(static_cast<std::uint32_t>(gpu));
}

}  // namespace

void sampling_begun_or_failed() {
  const std::lock_guard guard(lock);
  begun = true;
  changed.notify_all();
}

bool sampler_enabled() {
  const std::lock_guard guard(lock);
  return !samplers.empty();
}

void pm_context_created() {
  const std::lock_guard guard(lock);
  ++contexts;
}

void pm_context_destroyed() {
  const std::lock_guard guard(lock);
  if (--contexts == 0 && !samplers.empty())
    violation("the last context was destroyed while the GPU is sampled");
  begun = begun && contexts != 0;
}

}  // namespace fake

using fake::usable;

#define BEGIN(name)                                                                          \
  FAKE_BEGIN(name, counters);                                                                \
  if (fake::counters_ended) fake::violation(#name " called after CUPTI's exit handler ran"); \
  if (params == nullptr || params->structSize == 0 || params->pPriv != nullptr) {            \
    return CUPTI_ERROR_INVALID_PARAMETER;                                                    \
  }
#define BEGIN_OBJECT(name)                                                          \
  BEGIN(name)                                                                       \
  const std::unique_lock guard(fake::lock);                                         \
  CUpti_PmSampling_Object* const object = usable(params->pPmSamplingObject, #name); \
  if (object == nullptr) return CUPTI_ERROR_INVALID_PARAMETER

FAKE_EXPORT CUptiResult
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
  BEGIN(PmSamplingGetCounterAvailability)
  if (!fake::counters_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (!fake::is_gpu(params->deviceIndex) || fake::is_sampled(params->deviceIndex))
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->pCounterAvailabilityImage == nullptr) {
    params->counterAvailabilityImageSize = sizeof(fake::kAvailabilityMagic);
    return CUPTI_SUCCESS;
  }
  std::memcpy(params->pCounterAvailabilityImage, &fake::kAvailabilityMagic, sizeof(fake::kAvailabilityMagic));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  BEGIN(PmSamplingEnable)
  if (!fake::counters_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (fake::counter_ranges_enabled()) return CUPTI_ERROR_HARDWARE_BUSY;
  fake::open_counter_library();
  const std::unique_lock guard(fake::lock);
  if (!fake::is_gpu(params->deviceIndex)) return CUPTI_ERROR_INVALID_DEVICE;
  if (fake::samplers.contains(static_cast<std::uint32_t>(params->deviceIndex)))
    return CUPTI_ERROR_INVALID_OPERATION;
  if (fake::contexts == 0) fake::violation("a GPU without a context is sampled");
  auto* const object = new CUpti_PmSampling_Object{};
  object->gpu = static_cast<std::uint32_t>(params->deviceIndex);
  object->enabled = true;
  fake::samplers[object->gpu] = object;
  params->pPmSamplingObject = object;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  BEGIN_OBJECT(PmSamplingDisable);
  if (object->started) return CUPTI_ERROR_INVALID_OPERATION;
  object->enabled = false;
  fake::samplers.erase(object->gpu);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  BEGIN_OBJECT(PmSamplingSetConfig);
  const bool fine = fake::config_image(params->pConfig, params->configSize) != nullptr && !object->started &&
                    params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL &&
                    params->hwBufferAppendMode == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  if (!fine) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->samplingInterval <= 20'000 && params->hardwareBufferSize < fake::kMinBuffer)
    fake::violation("the hardware's buffer holds less than a second");
  object->config = params->pConfig;
  object->config_bytes = params->configSize;
  object->interval_ns = params->samplingInterval;
  std::this_thread::sleep_for(std::chrono::milliseconds(fake::number_from("FAKE_CUPTI_PM_CONFIG_MS", 0)));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  BEGIN_OBJECT(PmSamplingGetCounterDataSize);
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    if (!fake::is_metric(params->pMetricNames[i])) return CUPTI_ERROR_INVALID_METRIC_NAME;
  }
  object->max_samples = params->maxSamples;
  params->counterDataSize = sizeof(fake::CounterImage) + params->maxSamples * sizeof(fake::CounterRange);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiPmSamplingCounterDataImageInitialize(CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  BEGIN_OBJECT(PmSamplingCounterDataImageInitialize);
  const std::size_t needed = sizeof(fake::CounterImage) + object->max_samples * sizeof(fake::CounterRange);
  if (params->pCounterData == nullptr || params->counterDataSize < needed)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const fake::CounterImage empty{fake::kCounterMagic, object->max_samples, 0};
  std::memcpy(params->pCounterData, &empty, sizeof(empty));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  std::this_thread::sleep_for(std::chrono::milliseconds(fake::number_from("FAKE_CUPTI_PM_START_MS", 0)));
  {
    BEGIN_OBJECT(PmSamplingStart);
    if (object->started || object->interval_ns == 0 || object->overflowed)
      return CUPTI_ERROR_INVALID_OPERATION;
    object->started = true;
    object->left = -1;
    object->next_ns = fake::now_ns();
  }
  fake::sampling_begun_or_failed();
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  BEGIN_OBJECT(PmSamplingStop);
  if (!object->started) return CUPTI_ERROR_INVALID_OPERATION;
  object->started = false;
  object->left = static_cast<int>(fake::waiting(*object));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  BEGIN_OBJECT(PmSamplingDecodeData);
  fake::CounterImage* const image = fake::image_of(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr || fake::config_image(object->config, object->config_bytes) == nullptr)
    return CUPTI_ERROR_INVALID_PARAMETER;
  object->overflowed =
      object->overflowed || ++fake::decodings == fake::number_from("FAKE_CUPTI_PM_OVERFLOW", 0);
  params->overflow = object->overflowed ? 1 : 0;
  if (object->overflowed) return CUPTI_ERROR_OUT_OF_MEMORY;
  params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  const std::int64_t late = fake::decodings == 1 ? fake::number_from("FAKE_CUPTI_PM_LATE", 0) : 0;
  std::int64_t found = late != 0 ? late : fake::waiting(*object);
  if (late == 0 && object->left >= 0) found = std::exchange(object->left, 0);
  for (std::int64_t i = 0; i < found; ++i) {
    if (image->ranges < image->max_ranges) {
      fake::decode_sample(*object, *image);
    } else {
      object->next_ns += static_cast<std::int64_t>(object->interval_ns);
      params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
    }
  }
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  BEGIN(PmSamplingGetCounterDataInfo)
  const fake::CounterImage* const image =
      fake::counter_image(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalSamples = static_cast<std::size_t>(image->max_ranges);
  params->numPopulatedSamples = params->numCompletedSamples = static_cast<std::size_t>(image->ranges);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  BEGIN_OBJECT(PmSamplingCounterDataGetSampleInfo);
  const fake::CounterImage* const image =
      fake::counter_image(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr || params->sampleIndex >= image->ranges) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto* const slots = reinterpret_cast<const fake::CounterRange*>(image + 1);
  std::memcpy(&params->startTimestamp, slots[params->sampleIndex].name, sizeof(std::int64_t));
  std::memcpy(&params->endTimestamp, slots[params->sampleIndex].name + sizeof(std::int64_t),
              sizeof(std::int64_t));
  return CUPTI_SUCCESS;
}
