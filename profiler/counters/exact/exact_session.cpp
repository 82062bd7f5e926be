// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/exact_session.h"

#include <chrono>
#include <cmath>

#include "profiler/counters/counter_errors.h"
#include "profiler/counters/cupti_params.h"
#include "profiler/guest/log.h"

namespace rangefinder {
namespace {

using Clock = std::chrono::steady_clock;

std::string ms_between(Clock::time_point from, Clock::time_point until) {
  return std::to_string(std::lround(std::chrono::duration<double, std::milli>(until - from).count()));
}

}  // namespace

ExactSession::ExactSession(const CuptiLibrary& library, CUcontext context)
    : library_(library), cupti_(library.functions), context_(context) {}

bool ExactSession::fail(const char* step, CUptiResult result) {
  error_ = counter_error_text(cupti_, step, result);
  busy_ = result == CUPTI_ERROR_HARDWARE_BUSY;
  state_ = State::failed;
  return false;
}

bool ExactSession::start(const CounterConfig& config, std::size_t group, std::uint32_t batch) {
  const MetricConfig& wanted = config.config(group);
  batch_size_ = batch;
  while (range_names_.size() < batch) range_names_.push_back(std::to_string(range_names_.size()));
  // A session keeps counting the metrics of its first configuration (docs/internals/decisions.md). Other
  // metrics need another session.
  if (configured_ != nullptr && configured_ != &wanted) disable();
  const Clock::time_point begun = Clock::now();
  if (profiler_ == nullptr && !enable()) return false;
  const Clock::time_point enabled = Clock::now();
  if (configured_ == &wanted) {
    // The configuration survives a stop (docs/internals/decisions.md). Setting it again takes as long as
    // starting, so we do it only if CUPTI requires it.
    if (reset_image() && run() == CUPTI_SUCCESS) return true;
  } else if (!size_image(wanted)) {
    return false;
  }
  if (!reset_image() || !set_config(wanted)) return false;
  const Clock::time_point configured = Clock::now();
  const CUptiResult r = run();
  log_info("exact counters of " + std::to_string(wanted.metrics().size()) + " metrics, " +
           std::to_string(batch_size_) + " ranges per batch: enabled in " + ms_between(begun, enabled) +
           " ms, configured in " + ms_between(enabled, configured) + " ms, started in " +
           ms_between(configured, Clock::now()) + " ms");
  return r == CUPTI_SUCCESS || fail("cuptiRangeProfilerStart", r);
}

bool ExactSession::enable() {
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Enable);
  params.ctx = context_;
  if (const CUptiResult r = cupti_.RangeProfilerEnable(&params); r != CUPTI_SUCCESS)
    return fail("cuptiRangeProfilerEnable", r);
  profiler_ = params.pRangeProfilerObject;
  return true;
}

bool ExactSession::size_image(const MetricConfig& config) {
  std::vector<const char*> names = config.metrics();
  auto size = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_GetCounterDataSize);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = batch_size_;
  size.maxNumRangeTreeNodes = batch_size_;
  if (const CUptiResult r = cupti_.RangeProfilerGetCounterDataSize(&size); r != CUPTI_SUCCESS)
    return fail("cuptiRangeProfilerGetCounterDataSize", r);
  image_.resize(size.counterDataSize);
  return true;
}

bool ExactSession::reset_image() {
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_CounterDataImage_Initialize);
  params.pRangeProfilerObject = profiler_;
  params.counterDataSize = image_.size();
  params.pCounterData = image_.data();
  const CUptiResult r = cupti_.RangeProfilerCounterDataImageInitialize(&params);
  return r == CUPTI_SUCCESS || fail("cuptiRangeProfilerCounterDataImageInitialize", r);
}

bool ExactSession::set_config(const MetricConfig& config) {
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_SetConfig);
  params.pRangeProfilerObject = profiler_;
  params.configSize = config.image().size();
  params.pConfig = config.image().data();
  params.counterDataImageSize = image_.size();
  params.pCounterDataImage = image_.data();
  params.range = CUPTI_UserRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = batch_size_;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  if (const CUptiResult r = cupti_.RangeProfilerSetConfig(&params); r != CUPTI_SUCCESS)
    return fail("cuptiRangeProfilerSetConfig", r);
  configured_ = &config;
  return true;
}

CUptiResult ExactSession::run() {
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Start);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult r = cupti_.RangeProfilerStart(&params);
  if (r != CUPTI_SUCCESS) return r;
  state_ = State::running;
  started_ = true;
  return r;
}

bool ExactSession::push(std::size_t index) {
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_PushRange);
  params.pRangeProfilerObject = profiler_;
  params.pRangeName = range_names_[index].c_str();
  const CUptiResult r = cupti_.RangeProfilerPushRange(&params);
  open_ = r == CUPTI_SUCCESS;
  return r == CUPTI_SUCCESS || fail("cuptiRangeProfilerPushRange", r);
}

bool ExactSession::pop() {
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_PopRange);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult r = cupti_.RangeProfilerPopRange(&params);
  open_ = r != CUPTI_SUCCESS;
  return r == CUPTI_SUCCESS || fail("cuptiRangeProfilerPopRange", r);
}

bool ExactSession::end_batch() {
  if (state_ != State::running) return false;
  auto stop_params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Stop);
  stop_params.pRangeProfilerObject = profiler_;
  if (const CUptiResult r = cupti_.RangeProfilerStop(&stop_params); r != CUPTI_SUCCESS)
    return fail("cuptiRangeProfilerStop", r);
  started_ = false;
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_DecodeData);
  params.pRangeProfilerObject = profiler_;
  if (const CUptiResult r = cupti_.RangeProfilerDecodeData(&params); r != CUPTI_SUCCESS)
    return fail("cuptiRangeProfilerDecodeData", r);
  state_ = State::idle;
  return true;
}

void ExactSession::disable() noexcept {
  if (profiler_ == nullptr) return;
  auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Disable);
  params.pRangeProfilerObject = profiler_;
  cupti_.RangeProfilerDisable(&params);
  profiler_ = nullptr;
  configured_ = nullptr;
  open_ = started_ = false;
  if (state_ == State::running) state_ = State::idle;
}

// Each call may fail like the one before. The last one releases the hardware, if any does.
void ExactSession::abandon() noexcept {
  if (profiler_ == nullptr) return;
  if (open_) {
    auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_PopRange);
    params.pRangeProfilerObject = profiler_;
    cupti_.RangeProfilerPopRange(&params);
  }
  if (started_) {
    auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Stop);
    params.pRangeProfilerObject = profiler_;
    cupti_.RangeProfilerStop(&params);
  }
  disable();
}

}  // namespace rangefinder
