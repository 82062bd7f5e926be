// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_thread.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/base/monotonic_clock.h"
#include "profiler/counters/sampling/pm_evaluator.h"
#include "profiler/events/recorder.h"
#include "profiler/guest/log.h"
#include "profiler/guest/own_thread.h"
#include "profiler/guest/thread_cpu.h"

namespace rangefinder {

/// Decoding and evaluation between one open and close. No evaluation runs after destruction.
class PmThread::Reading {
 public:
  Reading(PmThread& owner, PmEncoder& encoder)
      : owner_(owner),
        encoder_(encoder),
        image_(&owner.session_.image(0)),
        evaluator_(owner.session_.image(1), [this](PmImage& image) { evaluate(image); }) {}

  PmSession::Decoded decode() {
    const PmSession::Decoded decoded = decode_waiting();
    // If the previous image is still being evaluated, this image takes the next samples too.
    if (!image_->empty()) (void)evaluator_.exchange(image_);
    return decoded;
  }

  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return evaluator_.cpu_ns(); }

  /// After the session's stop: decodes the remaining samples. False: samples are missing at the end.
  bool finish() {
    PmSession::Decoded decoded = PmSession::Decoded::part;
    for (int i = 0; i < kMaxRounds && decoded == PmSession::Decoded::part; ++i) {
      decoded = decode_waiting();
      evaluate_all();
    }
    return decoded == PmSession::Decoded::all && !dropped_;
  }

  /// Evaluates all decoded samples and waits for that.
  void evaluate_all() {
    evaluator_.wait_until_idle();
    if (!image_->empty()) (void)evaluator_.exchange(image_);
    evaluator_.wait_until_idle();
  }

 private:
  /// Maximum number of images decoded after the end, so that the program's exit does not wait longer.
  static constexpr int kMaxRounds = 16;
  /// An image holds these and what comes while they are decoded.
  static constexpr std::size_t kRoom = PmSession::kImageSamples / 4 * 3;

  PmSession::Decoded decode_waiting() {
    PmSession& session = owner_.session_;
    if (session.waiting() + image_->times.size() > kRoom) {
      if (!image_->empty()) {
        evaluator_.wait_until_idle();
        (void)evaluator_.exchange(image_);
      }
      if (const std::size_t waiting = session.waiting(); waiting > kRoom) return decode_late(waiting);
    }
    if (evaluator_.is_idle()) session.drop_late_images();
    return decode_once(*image_);
  }

  PmSession::Decoded decode_once(PmImage& image) {
    const std::size_t before = image.times.size();
    const PmSession::Decoded decoded = owner_.session_.decode(image);
    // A gap before a sample shows in its time; only missing samples at the end need this flag.
    dropped_ = decoded == PmSession::Decoded::part || (dropped_ && image.times.size() == before);
    return decoded;
  }

  /// Of samples that an image does not hold CUPTI would drop the rest. One late image is evaluated while the
  /// next is decoded, until no more wait than usual.
  PmSession::Decoded decode_late(std::size_t waiting) {
    next_late_ = 1 - next_late_;
    PmImage* const image = owner_.session_.late_image(next_late_, waiting + waiting / 2);
    if (image == nullptr) return decode_once(*image_);
    const PmSession::Decoded decoded = decode_once(*image);
    log_info("GPU " + std::to_string(owner_.gpu_) + ": some " + std::to_string(waiting) +
             " samples waited, decoded " + std::to_string(image->times.size()) +
             (decoded == PmSession::Decoded::all ? "" : ", not all"));
    evaluator_.evaluate(*image);
    return decoded;
  }

  void evaluate(PmImage& image) {
    try {
      owner_.session_.evaluate(image, [this](const PmSample& sample) { owner_.take(encoder_, sample); });
      encoder_.advance(clock_now_ns());
    } catch (...) {
      owner_.loss_.add(Loss::record_sink_errors);
    }
  }

  PmThread& owner_;
  PmEncoder& encoder_;
  PmImage* image_;
  bool dropped_ = false;  // samples after the last one are missing
  std::size_t next_late_ = 1;
  PmEvaluator evaluator_;
};

PmThread::PmThread(const CuptiLibrary& library, LossLedger& loss, std::uint32_t gpu, const Wanted& wanted,
                   const Hooks& hooks)
    : loss_(loss),
      gpu_(gpu),
      hooks_(hooks),
      session_(library, gpu, [this] { return is_wanted(); }),
      interval_ns_(wanted.interval_ns),
      pace_(wanted.max_cpu_percent) {}

void PmThread::context_added(std::chrono::milliseconds delay) noexcept {
  const std::lock_guard lock(mutex_);
  ++contexts_;
  delay_ = delay;
  Start none = Start::none;
  (void)start_.compare_exchange_strong(none, Start::due);
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

bool PmThread::wait_until_begun(std::chrono::steady_clock::time_point deadline) noexcept {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline,
                             [this] { return begun_ || ended_ || stopping_ || contexts_ == 0; });
}

void PmThread::run() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return contexts_ != 0 || stopping_; });
    if (stopping_) break;
    if (delay_.count() != 0 &&
        changed_.wait_for(lock, delay_, [this] { return contexts_ == 0 || stopping_; }))
      continue;
    sampling_ = true;
    lock.unlock();
    bool again = false;
    try {
      again = sample();
    } catch (...) {
      loss_.add(Loss::record_sink_errors);
      session_.close();
    }
    cpu_ns_.store(evaluation_ns_ + thread_cpu_ns(), std::memory_order_relaxed);
    lock.lock();
    sampling_ = begun_ = false;
    changed_.notify_all();
    if (!again) break;
  }
  ended_ = true;
  changed_.notify_all();
}

bool PmThread::is_wanted() {
  const std::lock_guard lock(mutex_);
  return contexts_ != 0 && !stopping_;
}

bool PmThread::wait_period() {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, kPeriod, [this] { return contexts_ == 0 || stopping_; });
}

bool PmThread::open() {
  bool held = session_.prepare(interval_ns_);
  if (held) {
    hooks_.prepared(hooks_.user);
    held = session_.open(interval_ns_);
  }
  if (!held && is_wanted()) refuse(session_.error());
  return held;
}

bool PmThread::sample() {
  if (!open()) return !is_wanted();
  start_.store(Start::done, std::memory_order_relaxed);
  report_change(interval_ns_, "start");
  last_end_ns_ = 0;  // the time between two sessions is no gap
  {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    changed_.notify_all();
  }
  PmEncoder encoder(gpu_, session_.columns(),
                    [this](const SamplesRecord& record) { hooks_.samples(hooks_.user, record); });
  bool healthy = true;
  for (bool again = true; again;) {
    again = false;
    Reading reading(*this, encoder);
    PmSession::Decoded decoded = PmSession::Decoded::all;
    std::optional<PmPace::Change> change;
    pace_.begin(monotonic_now_ns());
    while (decoded <= PmSession::Decoded::part && !change && wait_period()) {
      decoded = reading.decode();
      cpu_ns_.store(evaluation_ns_ + thread_cpu_ns() + reading.cpu_ns(), std::memory_order_relaxed);
      change = pace_.check({monotonic_now_ns(), cpu_ns(), samples(), lost_.load(std::memory_order_relaxed)},
                           interval_ns_);
    }
    healthy = decoded != PmSession::Decoded::failed;
    reading.evaluate_all();
    if (decoded == PmSession::Decoded::overflow) {
      // A buffer that overflowed yields nothing more, not even the samples in it.
      gap_ = true;
      healthy = again = reopen(2 * interval_ns_, "overflow");
    } else if (healthy) {
      gap_ = !(session_.stop() && reading.finish()) || gap_;
      if (change) {
        // Nothing is lost: the trace says from when to when there are no samples, and why.
        if (gap_) count_gap(clock_now_ns());
        last_end_ns_ = 0;
        report_change(0, change->reason);
        healthy = again = reopen(change->interval_ns, change->reason);
      }
    }
    evaluation_ns_ += reading.cpu_ns();
  }
  session_.close();
  if (gap_) count_gap(clock_now_ns());
  count_lost(session_.take_lost());
  encoder.flush();
  if (healthy) {
    report_change(0, "stop");
  } else {
    refuse(session_.error());
  }
  return healthy;
}

bool PmThread::reopen(std::uint32_t interval_ns, const char* reason) {
  session_.close();
  interval_ns_ = std::min(interval_ns, kMaxIntervalNs);
  if (!session_.open(interval_ns_)) return false;
  report_change(interval_ns_, reason);
  return true;
}

void PmThread::take(PmEncoder& encoder, const PmSample& sample) {
  // CUPTI may drop samples silently; the times reveal it.
  const bool hole = last_end_ns_ != 0 && sample.start_ns - last_end_ns_ > last_length_ns_ / 2;
  if (gap_ || hole) count_gap(sample.start_ns);
  last_end_ns_ = sample.end_ns;
  last_length_ns_ = sample.end_ns - sample.start_ns;
  samples_.fetch_add(1, std::memory_order_relaxed);
  encoder.add(sample);
}

void PmThread::count_gap(std::int64_t until_ns) {
  const std::uint64_t known = session_.take_lost();  // samples without values lie in this gap
  const std::int64_t length = last_length_ns_ > 0 ? last_length_ns_ : interval_ns_;
  std::int64_t missing = std::exchange(gap_, false) ? 1 : 0;
  if (last_end_ns_ != 0) missing = std::max(missing, (until_ns - last_end_ns_ + length / 2) / length);
  count_lost(std::max(known, static_cast<std::uint64_t>(missing)));
}

void PmThread::count_lost(std::uint64_t samples) noexcept {
  loss_.add(Loss::samples_lost, samples);
  lost_.fetch_add(samples, std::memory_order_relaxed);
}

void PmThread::report_change(std::uint32_t interval_ns, const std::string& reason) {
  SamplingRecord record;
  record.at_ns = clock_now_ns();
  record.gpu = gpu_;
  record.interval_ns = interval_ns;
  if (interval_ns != 0) record.columns = column_names(session_.columns());
  record.reason = reason;
  hooks_.change(hooks_.user, std::move(record));
}

void PmThread::refuse(const std::string& reason) {
  report_change(0, reason);
  hooks_.refused(hooks_.user, reason);
}

}  // namespace rangefinder
