// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact_session.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "profiler/counters/counter_errors.h"
#include "profiler/counters/exact_profiler.h"

namespace rangefinder {
namespace {

/// CUPTI's parameter structs all begin with their size and a reserved pointer.
template <typename Params>
Params params_of(std::size_t struct_size) noexcept {
  Params params{};
  params.structSize = struct_size;
  return params;
}
#define PARAMS(name) params_of<CUpti_##name##_Params>(CUpti_##name##_Params_STRUCT_SIZE)

}  // namespace

ExactSession::ExactSession(const CuptiLibrary& library, CUcontext of, std::uint32_t batch)
    : context(of), library_(library), cupti_(library.functions), batch_size_(batch), config_(cupti_) {
  launches_.reserve(batch);
  range_names_.reserve(batch);
  for (std::uint32_t i = 0; i < batch; ++i) range_names_.push_back(std::to_string(i));
}

ExactSession::~ExactSession() = default;

bool ExactSession::fail(const char* step, CUptiResult result) {
  const std::string_view cure = counter_error_cure(result);
  error_ = std::string(step) + " failed with " + cupti_result_text(cupti_, result);
  if (!cure.empty()) error_ += ": " + std::string(cure);
  state_ = State::failed;
  return false;
}

bool ExactSession::start() {
  preload_counter_library(library_);
  if (!read_device()) return false;
  if (const CUptiResult r = config_.build(chip_, availability_, kExactMetricNames); r != CUPTI_SUCCESS) {
    return fail("choosing counters", r);
  }
  if (config_.passes() != 1) {
    error_ = chip_ + " needs " + std::to_string(config_.passes()) +
             " passes for DRAM and L2 bytes; only a single pass leaves the program as it is";
    state_ = State::failed;
    return false;
  }
  return enable() && set_config() && run();
}

bool ExactSession::read_device() {
  auto init = PARAMS(Profiler_Initialize);
  if (const CUptiResult r = cupti_.ProfilerInitialize(&init); r != CUPTI_SUCCESS)
    return fail("cuptiProfilerInitialize", r);
  if (const CUptiResult r = cupti_.GetDeviceId(context, &gpu_); r != CUPTI_SUCCESS)
    return fail("cuptiGetDeviceId", r);

  auto chip = PARAMS(Device_GetChipName);
  chip.deviceIndex = gpu_;
  if (const CUptiResult r = cupti_.DeviceGetChipName(&chip); r != CUPTI_SUCCESS)
    return fail("cuptiDeviceGetChipName", r);
  chip_ = chip.pChipName;

  auto available = PARAMS(Profiler_GetCounterAvailability);
  available.ctx = context;
  if (const CUptiResult r = cupti_.ProfilerGetCounterAvailability(&available); r != CUPTI_SUCCESS) {
    return fail("cuptiProfilerGetCounterAvailability", r);
  }
  availability_.resize(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = availability_.data();
  if (const CUptiResult r = cupti_.ProfilerGetCounterAvailability(&available); r != CUPTI_SUCCESS) {
    return fail("cuptiProfilerGetCounterAvailability", r);
  }
  return true;
}

bool ExactSession::enable() {
  auto params = PARAMS(RangeProfiler_Enable);
  params.ctx = context;
  if (const CUptiResult r = cupti_.RangeProfilerEnable(&params); r != CUPTI_SUCCESS)
    return fail("cuptiRangeProfilerEnable", r);
  profiler_ = params.pRangeProfilerObject;

  auto size = PARAMS(RangeProfiler_GetCounterDataSize);
  size.pRangeProfilerObject = profiler_;
  const char* names[kExactMetrics];
  std::copy(std::begin(kExactMetricNames), std::end(kExactMetricNames), names);
  size.pMetricNames = names;
  size.numMetrics = kExactMetrics;
  size.maxNumOfRanges = batch_size_;
  size.maxNumRangeTreeNodes = batch_size_;
  if (const CUptiResult r = cupti_.RangeProfilerGetCounterDataSize(&size); r != CUPTI_SUCCESS) {
    return fail("cuptiRangeProfilerGetCounterDataSize", r);
  }
  counter_data_.resize(size.counterDataSize);
  return reset_image();
}

bool ExactSession::reset_image() {
  auto params = PARAMS(RangeProfiler_CounterDataImage_Initialize);
  params.pRangeProfilerObject = profiler_;
  params.counterDataSize = counter_data_.size();
  params.pCounterData = counter_data_.data();
  const CUptiResult r = cupti_.RangeProfilerCounterDataImageInitialize(&params);
  return r == CUPTI_SUCCESS || fail("cuptiRangeProfilerCounterDataImageInitialize", r);
}

bool ExactSession::set_config() {
  auto params = PARAMS(RangeProfiler_SetConfig);
  params.pRangeProfilerObject = profiler_;
  params.configSize = config_.image().size();
  params.pConfig = config_.image().data();
  params.counterDataImageSize = counter_data_.size();
  params.pCounterDataImage = counter_data_.data();
  params.range = CUPTI_UserRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = batch_size_;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  const CUptiResult r = cupti_.RangeProfilerSetConfig(&params);
  return r == CUPTI_SUCCESS || fail("cuptiRangeProfilerSetConfig", r);
}

bool ExactSession::run() {
  auto params = PARAMS(RangeProfiler_Start);
  params.pRangeProfilerObject = profiler_;
  if (const CUptiResult r = cupti_.RangeProfilerStart(&params); r != CUPTI_SUCCESS)
    return fail("cuptiRangeProfilerStart", r);
  state_ = State::running;
  return true;
}

bool ExactSession::push() {
  auto params = PARAMS(RangeProfiler_PushRange);
  params.pRangeProfilerObject = profiler_;
  params.pRangeName = range_names_[launches_.size()].c_str();
  const CUptiResult r = cupti_.RangeProfilerPushRange(&params);
  return r == CUPTI_SUCCESS || fail("cuptiRangeProfilerPushRange", r);
}

bool ExactSession::pop(const ExactLaunch& launch, std::int64_t now_ns) {
  auto params = PARAMS(RangeProfiler_PopRange);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult r = cupti_.RangeProfilerPopRange(&params);
  if (launches_.empty()) batch_began_ns_ = now_ns;
  launches_.push_back(launch);  // within the reserved capacity
  launches_.back().gpu = gpu_;
  if (disturbed.exchange(false)) launches_.back().unmeasured = Unmeasured::shared;
  if (r != CUPTI_SUCCESS) return !fail("cuptiRangeProfilerPopRange", r);
  return launches_.size() == batch_size_ || now_ns - batch_began_ns_ > ExactProfiler::kBatchNs;
}

void ExactSession::decode(bool again) {
  if (state_ != State::running) return;
  auto stop_params = PARAMS(RangeProfiler_Stop);
  stop_params.pRangeProfilerObject = profiler_;
  if (const CUptiResult r = cupti_.RangeProfilerStop(&stop_params); r != CUPTI_SUCCESS) {
    (void)fail("cuptiRangeProfilerStop", r);
    return;
  }
  auto params = PARAMS(RangeProfiler_DecodeData);
  params.pRangeProfilerObject = profiler_;
  if (const CUptiResult r = cupti_.RangeProfilerDecodeData(&params); r != CUPTI_SUCCESS) {
    (void)fail("cuptiRangeProfilerDecodeData", r);
    return;
  }
  evaluate_ranges();
  state_ = State::idle;
  if (!again) return;
  // The configuration survives a stop (measured, docs/decisions.md); setting it anew takes as
  // long again as starting, so it is done only if CUPTI asks for it.
  auto start_params = PARAMS(RangeProfiler_Start);
  start_params.pRangeProfilerObject = profiler_;
  if (reset_image() && cupti_.RangeProfilerStart(&start_params) == CUPTI_SUCCESS) {
    state_ = State::running;
  } else if (set_config()) {
    (void)run();
  }
}

void ExactSession::evaluate_ranges() {
  auto info = PARAMS(RangeProfiler_GetCounterDataInfo);
  info.pCounterDataImage = counter_data_.data();
  info.counterDataImageSize = counter_data_.size();
  if (cupti_.RangeProfilerGetCounterDataInfo(&info) != CUPTI_SUCCESS) return;
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    auto name = PARAMS(Profiler_Host_GetRangeName);
    name.pCounterDataImage = counter_data_.data();
    name.counterDataImageSize = counter_data_.size();
    name.rangeIndex = i;
    name.delimiter = "/";
    if (cupti_.ProfilerHostGetRangeName(&name) != CUPTI_SUCCESS || name.pRangeName == nullptr) continue;
    std::size_t index = launches_.size();
    std::from_chars(name.pRangeName, name.pRangeName + std::strlen(name.pRangeName), index);
    std::free(const_cast<char*>(name.pRangeName));  // CUPTI: the caller frees it
    if (index >= launches_.size()) continue;
    ExactLaunch& launch = launches_[index];
    const bool has_values = config_.evaluate(counter_data_, i, launch.values) == CUPTI_SUCCESS;
    if (has_values && launch.unmeasured == Unmeasured::lost) launch.unmeasured = Unmeasured::no;
  }
}

void ExactSession::stop() {
  decode(false);
  if (profiler_ == nullptr) return;
  auto params = PARAMS(RangeProfiler_Disable);
  params.pRangeProfilerObject = profiler_;
  cupti_.RangeProfilerDisable(&params);
  profiler_ = nullptr;
  state_ = State::ended;
}

}  // namespace rangefinder
