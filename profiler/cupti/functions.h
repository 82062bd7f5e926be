// SPDX-License-Identifier: Apache-2.0
//
// The functions of libcupti that we call, as a table of pointers.
//
// libcupti is loaded, never linked (design rule 3): an application may bring its own
// copy, and a host without one must not notice us. The table is also the seam for
// tests. A member has CUPTI's name without its prefix: cupti.ActivityEnable(kind).
#pragma once

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace rangefinder {

// In every libcupti since 13.0 Update 1; without one of them the library is refused.
#define RANGEFINDER_CUPTI_FUNCTIONS(X)       \
  X(ActivityDisable)                         \
  X(ActivityEnable)                          \
  X(ActivityFlushAll)                        \
  X(ActivityGetNextRecord)                   \
  X(ActivityGetNumDroppedRecords)            \
  X(ActivityRegisterCallbacks)               \
  X(ActivityRegisterTimestampCallback)       \
  X(ActivitySetAttribute)                    \
  X(DeviceGetChipName)                       \
  X(EnableCallback)                          \
  X(GetContextId)                            \
  X(GetDeviceId)                             \
  X(GetGraphNodeId)                          \
  X(GetResultString)                         \
  X(GetStreamIdEx)                           \
  X(GetVersion)                              \
  X(SetThreadIdType)                         \
  X(Subscribe_v2)                            \
  X(Unsubscribe)                             \
  X(ProfilerInitialize)                      \
  X(ProfilerDeInitialize)                    \
  X(ProfilerDeviceSupported)                 \
  X(ProfilerGetCounterAvailability)          \
  X(ProfilerHostInitialize)                  \
  X(ProfilerHostDeinitialize)                \
  X(ProfilerHostGetSupportedChips)           \
  X(ProfilerHostGetBaseMetrics)              \
  X(ProfilerHostGetSubMetrics)               \
  X(ProfilerHostGetMetricProperties)         \
  X(ProfilerHostConfigAddMetrics)            \
  X(ProfilerHostGetConfigImageSize)          \
  X(ProfilerHostGetConfigImage)              \
  X(ProfilerHostGetNumOfPasses)              \
  X(ProfilerHostGetRangeName)                \
  X(ProfilerHostEvaluateToGpuValues)         \
  X(RangeProfilerEnable)                     \
  X(RangeProfilerDisable)                    \
  X(RangeProfilerSetConfig)                  \
  X(RangeProfilerStart)                      \
  X(RangeProfilerStop)                       \
  X(RangeProfilerPushRange)                  \
  X(RangeProfilerPopRange)                   \
  X(RangeProfilerDecodeData)                 \
  X(RangeProfilerGetCounterDataSize)         \
  X(RangeProfilerCounterDataImageInitialize) \
  X(RangeProfilerGetCounterDataInfo)         \
  X(PmSamplingGetCounterAvailability)        \
  X(PmSamplingEnable)                        \
  X(PmSamplingDisable)                       \
  X(PmSamplingSetConfig)                     \
  X(PmSamplingStart)                         \
  X(PmSamplingStop)                          \
  X(PmSamplingDecodeData)                    \
  X(PmSamplingGetCounterDataSize)            \
  X(PmSamplingCounterDataImageInitialize)    \
  X(PmSamplingGetCounterDataInfo)            \
  X(PmSamplingCounterDataGetSampleInfo)

struct CuptiFunctions {
#define X(name) decltype(&::cupti##name) name = nullptr;
  RANGEFINDER_CUPTI_FUNCTIONS(X)
#undef X
};

/// The version this build knows records of: older ones are refused, later 13.x are read by
/// their common prefix, since CUPTI only appends fields within a major version.
inline constexpr std::uint32_t kOldestCupti = 130'001;  // CUDA 13.0 Update 1
inline constexpr std::uint32_t kNewestCuptiMajor = 13;

}  // namespace rangefinder
