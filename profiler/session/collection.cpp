// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/collection.h"

#include <thread>

#include "profiler/activity/activity_callbacks.h"
#include "profiler/events/hold_scope.h"
#include "profiler/guest/log.h"
#include "profiler/output/demangle.h"

namespace rangefinder {
namespace {

/// Maximum time that a window's end waits to release counters. Longer work on the GPU keeps them in use.
constexpr std::chrono::milliseconds kCounterPatience{3000};

/// give_up() waits tries x interval until threads have left the calls that they are in.
constexpr int kGiveUpTries = 100;
constexpr std::chrono::milliseconds kGiveUpInterval{5};

/// "CUPTI /usr/local/cuda/…/libcupti.so.13, in the toolkit: used, 13.0 Update 1".
void log_candidates(const std::vector<CuptiCandidate>& candidates, std::uint32_t version) {
  for (const CuptiCandidate& candidate : candidates) {
    std::string outcome = "not there";
    if (candidate.outcome == CuptiOutcome::not_tried) outcome = "not tried";
    if (candidate.outcome == CuptiOutcome::not_loaded) outcome = "cannot be loaded: " + candidate.error;
    if (candidate.outcome == CuptiOutcome::taken) outcome = "used, " + cupti_version_text(version);
    log_debug("CUPTI " + candidate.path + ", " + place_text(candidate.place) + ": " + outcome);
  }
}

/// Which counters, and who chose them.
void log_counters(CounterMode counters, bool requested, bool late, const Options& options) {
  std::string text = std::string("counters ") + counter_mode_text(counters);
  text += late ? ", chosen for this window" : requested ? ", as requested" : ", by default";
  if (counters == CounterMode::sampled)
    text += "; a sample every " + std::to_string(options.sample_interval_us) + " us";
  if (!options.metrics.empty()) text += "; metrics " + options.metrics;
  log_debug(text);
}

void report_skipped_kernel(std::uint32_t name) noexcept {
  try {
    say_once("kernel " + demangle(recorder().names.text(name)) + " did not end within " +
             std::to_string(ExactContext::kPatienceNs / 1'000'000'000) +
             " s: it may wait for work launched after it, so it is no longer measured. Use --exact-skip to "
             "exclude such kernels from the start");
  } catch (...) {
  }
}

}  // namespace

bool Collection::load(std::string& error) {
  if (loaded()) return true;
  CuptiFailure failure;
  std::vector<CuptiCandidate> candidates;
  const bool found = load_cupti({options_.cupti, options_.cupti_folder}, cupti_, failure,
                                logs_debug() ? &candidates : nullptr);
  log_candidates(candidates, found ? cupti_.version : failure.version);
  if (!found) {
    error = failure.reason;
    cupti_.version = 0;
    return false;
  }
  if (!cupti_.remark.empty()) say_once(cupti_.remark);
  buffers_ = std::make_unique<BufferPool>(options_.buffers, recorder().loss);
  callbacks_ = std::make_unique<LaunchCallbacks>(
      cupti_.functions, recorder(),
      LaunchCallbacks::Hooks{hooks_.user, hooks_.context_created, hooks_.context_destroyed,
                             hooks_.profiler_call, hooks_.synchronised});
  loaded_.store(true, std::memory_order_release);
  return true;
}

void Collection::make_exact() {
  if (exact_) return;
  // It calls hooks_ at any time, even after set_metrics() replaced it: hooks_ outlives both.
  exact_ = std::make_unique<ExactProfiler>(
      cupti_, recorder(), *counter_options_,
      ExactProfiler::Hooks{hooks_.user, hooks_.counters_refused,
                           [](void*, std::uint32_t name) { report_skipped_kernel(name); },
                           hooks_.counters_prepared});
}

void Collection::make_sampler() {
  if (sampler_) return;
  const PmThread::Wanted wanted{options_.sample_interval_us * 1000, options_.sample_cpu_percent};
  sampler_ = std::make_unique<PmSampler>(cupti_, recorder().loss, wanted, hooks_.counters_refused,
                                         hooks_.counters_prepared, hooks_.user);
}

bool Collection::set_metrics(const std::string& metrics) {
  if (metrics == counter_options_->metrics) return true;
  if (exact_ && metric_changes_ == kMaxMetricChanges) return false;
  auto changed = std::make_unique<Options>(*counter_options_);
  changed->metrics = metrics;
  if (exact_) {  // leaked with its options: an application call may still be inside
    ++metric_changes_;
    (void)exact_.release();
    (void)counter_options_.release();
    exact_on_ = false;
  }
  counter_options_ = std::move(changed);
  return true;
}

bool Collection::subscribe(std::string& error) {
  char own_name[] = "rangefinder";
  char other_name[64] = {};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = own_name;
  params.oldSubscriberName = other_name;
  params.oldSubscriberSize = sizeof(other_name);
  const CUptiResult r =
      cupti_.functions.Subscribe_v2(&subscriber_, &LaunchCallbacks::on_callback, callbacks_.get(), &params);
  held_.store(r == CUPTI_SUCCESS, std::memory_order_release);
  if (r == CUPTI_SUCCESS) return true;
  subscriber_ = nullptr;
  if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    const std::string name = other_name[0] != '\0' ? " (\"" + std::string(other_name) + "\")" : "";
    error = "another tool" + name +
            " uses CUPTI in this process, and CUPTI serves one tool: start the application without it";
  } else {
    error = "cuptiSubscribe failed with " + cupti_result_text(cupti_.functions, r);
  }
  return false;
}

bool Collection::hold(bool profiler_calls, std::string& error) {
  profiler_calls_ = profiler_calls;
  if (held()) return true;
  if (!subscribe(error)) return false;
  if (callbacks_->enable_resources(subscriber_) &&
      (!profiler_calls || callbacks_->enable_profiler_calls(subscriber_)))
    return true;
  error = "CUPTI refused to enable a callback";
  release();
  return false;
}

bool Collection::enable(bool late, std::string& error) {
  if (late) renew_clock(cupti_.functions);
  if (!late && options_.graphs == GraphTracing::whole)
    callbacks_->record_device_launches(record_device_launches(cupti_.functions));
  if (!register_activity(cupti_.functions, *buffers_, error) ||
      !enable_activity_kinds(cupti_.functions, options_.graphs, error))
    return false;
  if (callbacks_->enable_calls(subscriber_, options_, exact_on_)) return true;
  error = "CUPTI refused to enable a driver API callback";
  return false;
}

void Collection::use_counters(CounterMode counters, bool requested, bool late) {
  exact_on_ = sampler_on_ = false;  // stays so if make_exact() or make_sampler() throws
  if (counters == CounterMode::exact) make_exact();
  if (counters == CounterMode::sampled) make_sampler();
  exact_on_ = counters == CounterMode::exact;
  sampler_on_ = counters == CounterMode::sampled;
  if (sampler_on_) sampler_->set_waits(requested);
  if (late && exact_on_) {
    std::vector<ExactLaunch> of_earlier_window;
    exact_->take(of_earlier_window);
    exact_->resume();
  }
  if (late && sampler_on_) {
    sampler_->take([](const PmRecord&) {});  // of an earlier window
    sampler_->resume();
  }
  callbacks_->set_counters(exact(), sampler(), late);
}

void Collection::discard_buffers() {
  for (FilledBuffer buffer = buffers_->next(); buffer.data != nullptr; buffer = buffers_->next())
    buffers_->give_back(buffer);
}

bool Collection::begin(CounterMode counters, bool requested, bool late, std::string& error) {
  requested_ = requested;
  if (logs_debug()) log_counters(counters, requested, late, *counter_options_);
  const bool was_held = held();
  if (!hold(profiler_calls_, error)) return false;
  discard_buffers();
  use_counters(counters, requested, late);
  if (enable(late, error)) return true;
  quiesce();
  if (was_held) {
    (void)end();
  } else {
    give_up();
  }
  return false;
}

void Collection::quiesce() {
  disable_activity_kinds(cupti_.functions);
  // Counters before callbacks: a thread in a call releases the counter lock in the callback at the call's
  // end.
  if (exact_on_ && !exact_->pause(kCounterPatience))
    log_info("exact counters are still in use: work on the GPU has not ended");
  if (sampler_on_) sampler_->pause(std::chrono::steady_clock::now() + kCounterPatience);
}

bool Collection::end() {
  callbacks_->set_counters(nullptr, nullptr, false);
  return !held() || callbacks_->disable_calls(subscriber_);
}

void Collection::give_up() {
  for (int tries = 0; tries < kGiveUpTries && !end(); ++tries) std::this_thread::sleep_for(kGiveUpInterval);
  release();
}

void Collection::release() {
  if (!held()) return;
  unregister_activity(cupti_.functions);
  cupti_.functions.Unsubscribe(subscriber_);
  subscriber_ = nullptr;
  held_.store(false, std::memory_order_release);
}

void Collection::finish(std::chrono::steady_clock::time_point deadline) noexcept {
  const HoldScope hold(recorder(), HoldCause::session_end);
  if (exact_) exact_->finish();
  if (sampler_) sampler_->finish(deadline);
}

}  // namespace rangefinder
