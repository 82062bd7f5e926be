// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/pm_thread.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "profiler/events/recorder.h"
#include "profiler/own_thread.h"

namespace rangefinder {
namespace {

std::uint64_t thread_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

}  // namespace

PmThread::PmThread(const CuptiLibrary& library, LossLedger& loss, std::uint32_t gpu,
                   std::uint32_t interval_ns, const Hooks& hooks)
    : loss_(loss), gpu_(gpu), hooks_(hooks), session_(library, gpu), interval_ns_(interval_ns) {}

void PmThread::context_added() noexcept {
  const std::lock_guard lock(mutex_);
  ++contexts_;
  if (!std::exchange(started_, true)) {
    ended_ = !start_own_thread(
        "rangefinder-pm", [](void* self) { static_cast<PmThread*>(self)->run(); }, this);
    if (ended_) loss_.add(Loss::record_sink_errors);
  }
  changed_.notify_all();
}

void PmThread::context_removed(std::chrono::milliseconds patience) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (contexts_ == 0 || --contexts_ != 0) return;
    changed_.notify_all();
  }
  wait_until_free(std::chrono::steady_clock::now() + patience);
}

void PmThread::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void PmThread::wait_until_free(std::chrono::steady_clock::time_point deadline) noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return !sampling_ || ended_; });
}

void PmThread::wait_until_begun(std::chrono::steady_clock::time_point deadline) noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return begun_ || ended_ || stopping_ || contexts_ == 0; });
}

void PmThread::run() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return contexts_ != 0 || stopping_; });
    if (stopping_) break;
    sampling_ = true;
    lock.unlock();
    bool again = false;
    try {
      again = sample();
    } catch (...) {
      loss_.add(Loss::record_sink_errors);
      session_.close([](const PmSample&) {});
    }
    cpu_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
    lock.lock();
    sampling_ = begun_ = false;
    changed_.notify_all();
    if (!again) break;
  }
  ended_ = true;
  changed_.notify_all();
}

bool PmThread::wait_period() {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, kPeriod, [this] { return contexts_ == 0 || stopping_; });
}

bool PmThread::sample() {
  bool held = session_.prepare(interval_ns_);
  if (held) {
    hooks_.prepared(hooks_.user);
    held = session_.open(interval_ns_);
  }
  if (!held) {
    refuse(session_.error());
    return false;
  }
  tell(interval_ns_, "start");
  last_end_ns_ = 0;  // what was between two sessions nobody wanted
  {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    changed_.notify_all();
  }
  PmEncoder encoder(gpu_, session_.columns(),
                    [this](SamplesRecord&& record) { hooks_.deliver(hooks_.user, std::move(record)); });
  const auto on_sample = [&](const PmSample& sample) { take(encoder, sample); };
  bool healthy = true;
  while (healthy && wait_period()) {
    PmSession::Decoded decoded = PmSession::Decoded::part;
    for (int i = 0; decoded == PmSession::Decoded::part && i < PmSession::kMostRounds; ++i)
      decoded = session_.decode(on_sample);
    encoder.advance(clock_now_ns());
    cpu_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
    if (decoded == PmSession::Decoded::overflow) healthy = reopen_wider();
    if (decoded == PmSession::Decoded::failed) healthy = false;
  }
  if (!session_.close(on_sample)) gap_ = true;
  if (gap_) count_gap(clock_now_ns());
  loss_.add(Loss::samples_lost, session_.take_lost());
  encoder.flush();
  if (healthy) {
    tell(0, "stop");
  } else {
    refuse(session_.error());
  }
  return healthy;
}

bool PmThread::reopen_wider() {
  // Nothing more comes out of a buffer that ran over, the samples in it included.
  session_.close([](const PmSample&) {});
  gap_ = true;
  interval_ns_ = std::min(2 * interval_ns_, kLongestIntervalNs);
  if (!session_.open(interval_ns_)) return false;
  tell(interval_ns_, "overflow");
  return true;
}

void PmThread::take(PmEncoder& encoder, const PmSample& sample) {
  // CUPTI may leave samples out without a word; the clock tells.
  const bool hole = last_end_ns_ != 0 && sample.start_ns - last_end_ns_ > last_length_ns_ / 2;
  if (gap_ || hole) count_gap(sample.start_ns);
  last_end_ns_ = sample.end_ns;
  last_length_ns_ = sample.end_ns - sample.start_ns;
  samples_.fetch_add(1, std::memory_order_relaxed);
  encoder.add(sample);
}

void PmThread::count_gap(std::int64_t until_ns) {
  const std::uint64_t known = session_.take_lost();  // that had no values: they lie in this gap
  const std::int64_t length = last_length_ns_ > 0 ? last_length_ns_ : interval_ns_;
  std::int64_t missing = std::exchange(gap_, false) ? 1 : 0;
  if (last_end_ns_ != 0) missing = std::max(missing, (until_ns - last_end_ns_ + length / 2) / length);
  loss_.add(Loss::samples_lost, std::max(known, static_cast<std::uint64_t>(missing)));
}

void PmThread::tell(std::uint32_t interval_ns, const std::string& reason) {
  SamplingRecord record;
  record.at_ns = clock_now_ns();
  record.gpu = gpu_;
  record.interval_ns = interval_ns;
  if (interval_ns != 0) record.columns = column_names(session_.columns());
  record.reason = reason;
  hooks_.deliver(hooks_.user, std::move(record));
}

void PmThread::refuse(const std::string& reason) {
  tell(0, reason);
  hooks_.refused(hooks_.user, reason);
}

}  // namespace rangefinder
