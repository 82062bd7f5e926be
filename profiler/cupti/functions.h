// SPDX-License-Identifier: Apache-2.0
//
// The libcupti functions that we call, as a table of pointers.
//
// libcupti is loaded, never linked (design rule 3): an application may bring its own
// copy, and an application without one must not be affected. Tests replace the table with
// fakes. A member has CUPTI's name without its prefix: cupti.ActivityEnable(kind).
#pragma once

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace rangefinder {

// Present in every libcupti since 13.0 Update 1. A library that lacks one is refused.
#define RANGEFINDER_CUPTI_FUNCTIONS(X)       \
  X(ActivityDisable)                         \
  X(ActivityEnable)                          \
  X(ActivityEnableDeviceGraph)               \
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
  X(GetGraphExecId)                          \
  X(GetGraphId)                              \
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

/// The version whose activity records this build knows. Older ones are refused. Later 13.x versions
/// work, because CUPTI only appends fields within a major version: we read the common prefix.
inline constexpr std::uint32_t kOldestCupti = 130'001;  // CUDA 13.0 Update 1
inline constexpr std::uint32_t kNewestCuptiMajor = 13;

}  // namespace rangefinder
