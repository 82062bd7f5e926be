// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_sampler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/guest/own_thread.h"

namespace rangefinder {

PmSampler::PmSampler(const CuptiLibrary& library, LossLedger& loss, const PmThread::Wanted& wanted,
                     void (*on_refused)(void* user, const std::string& reason),
                     void (*on_prepared)(void* user), void* user)
    : library_(library),
      loss_(loss),
      wanted_(wanted),
      on_refused_(on_refused),
      on_prepared_(on_prepared),
      user_(user) {}

PmThread* PmSampler::thread_of(std::uint32_t gpu) {
  if (threads_[gpu].load(std::memory_order_relaxed) == nullptr) {
    const PmThread::Hooks hooks{
        this, [](void* self, const SamplesRecord& record) { static_cast<PmSampler*>(self)->add(record); },
        [](void* self, SamplingRecord&& record) {
          (void)static_cast<PmSampler*>(self)->queue_.push(std::move(record));
        },
        [](void* self, const std::string& reason) { static_cast<PmSampler*>(self)->refuse(reason); },
        [](void* self) { static_cast<PmSampler*>(self)->notify_prepared(); }};
    threads_[gpu].store(new PmThread(library_, loss_, gpu, wanted_, hooks), std::memory_order_release);
  }
  return threads_[gpu].load(std::memory_order_relaxed);
}

void PmSampler::context_created(CUcontext context) noexcept {
  std::uint32_t gpu = 0;
  if (finished_.load() || library_.functions.GetDeviceId(context, &gpu) != CUPTI_SUCCESS || gpu >= kMaxGpus)
    return;
  try {
    const std::lock_guard lock(mutex_);
    if (find(context) != contexts_.end()) return;
    contexts_.push_back({context, gpu, false, false});
    list_new();
  } catch (...) {
    loss_.add(Loss::record_sink_errors);
  }
}

std::vector<PmSampler::Context>::iterator PmSampler::find(CUcontext context) noexcept {
  return std::find_if(contexts_.begin(), contexts_.end(),
                      [context](const Context& known) { return known.context == context; });
}

void PmSampler::list_new() noexcept {
  std::size_t count = 0;
  for (const Context& known : contexts_) {
    if (known.begun || paused_.load()) continue;
    if (count < new_.size()) new_[count].store(known.context, std::memory_order_relaxed);
    ++count;
  }
  new_count_.store(count, std::memory_order_release);
}

bool PmSampler::is_new(CUcontext context) const noexcept {
  const std::size_t count = new_count_.load(std::memory_order_acquire);
  if (count > new_.size()) return true;
  for (std::size_t i = 0; i < count; ++i) {
    if (new_[i].load(std::memory_order_relaxed) == context) return true;
  }
  return false;
}

void PmSampler::begin_loading() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (waits_.load() || finished_.load() || std::exchange(loading_, true)) return;
  }
  const bool started = start_own_thread(
      "rangefinder-pm", [](void* self) { static_cast<PmSampler*>(self)->load(); }, this);
  if (!started) load();
}

void PmSampler::load() noexcept {
  try {
    PmSession(library_, 0, [] { return true; }).load(wanted_.interval_ns);
  } catch (...) {
    loss_.add(Loss::record_sink_errors);
  }
  notify_prepared();
  const std::lock_guard lock(mutex_);
  loaded_ = true;
  loaded_changed_.notify_all();
}

void PmSampler::wait_until_loaded() noexcept {
  std::unique_lock lock(mutex_);
  if (!loading_ || loaded_ || begin_timed_out_.load()) return;
  if (!loaded_changed_.wait_for(lock, kBeginPatience, [this] { return loaded_; }))
    begin_timed_out_.store(true);
}

void PmSampler::begin(CUcontext context) noexcept {
  const bool waits = waits_.load();
  begin_loading();
  wait_until_loaded();
  PmThread* thread = nullptr;
  try {
    const std::lock_guard lock(mutex_);
    if (finished_.load() || paused_.load()) return;
    const auto known = find(context);
    if (known == contexts_.end() || known->begun) return;
    thread = thread_of(known->gpu);
    if (!std::exchange(known->sampled, true))
      thread->context_added(waits ? std::chrono::milliseconds(0) : kStartDelay);
  } catch (...) {
    loss_.add(Loss::record_sink_errors);
  }
  if (thread == nullptr) return;
  if (waits && !begin_timed_out_.load() &&
      !thread->wait_until_begun(std::chrono::steady_clock::now() + kBeginPatience))
    begin_timed_out_.store(true);
  const std::lock_guard lock(mutex_);
  const auto known = find(context);
  if (known == contexts_.end() || !known->sampled) return;  // a window ended meanwhile
  known->begun = true;
  list_new();
}

void PmSampler::context_destroyed(CUcontext context) noexcept {
  PmThread* thread = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto known = find(context);
    if (known == contexts_.end()) return;
    if (known->sampled) thread = threads_[known->gpu].load(std::memory_order_relaxed);
    contexts_.erase(known);
    list_new();
  }
  if (thread != nullptr) thread->context_removed(kContextPatience);
}

void PmSampler::pause(std::chrono::steady_clock::time_point deadline) noexcept {
  std::array<std::uint32_t, kMaxGpus> sampled{};  // contexts by GPU
  {
    const std::lock_guard lock(mutex_);
    paused_.store(true);
    for (Context& known : contexts_) {
      if (std::exchange(known.sampled, false)) ++sampled[known.gpu];
      known.begun = false;
    }
    list_new();
  }
  for (std::uint32_t gpu = 0; gpu < kMaxGpus; ++gpu) {
    PmThread* const thread = threads_[gpu].load(std::memory_order_acquire);
    for (; thread != nullptr && sampled[gpu] != 0; --sampled[gpu])
      thread->context_removed(
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()));
  }
  report_too_short();
}

void PmSampler::resume() noexcept {
  const std::lock_guard lock(mutex_);
  paused_.store(false);
  begin_timed_out_.store(false);
  for (auto& thread : threads_) {
    if (PmThread* const found = thread.load(std::memory_order_acquire); found != nullptr)
      found->begin_window();
  }
  list_new();
}

void PmSampler::finish(std::chrono::steady_clock::time_point deadline) noexcept {
  finished_.store(true);
  for (auto& thread : threads_) {
    if (PmThread* const found = thread.load(std::memory_order_acquire); found != nullptr) found->stop();
  }
  for (auto& thread : threads_) {
    if (PmThread* const found = thread.load(std::memory_order_acquire); found != nullptr)
      found->wait_until_free(deadline);
  }
  if (!paused_.load()) report_too_short();
}

void PmSampler::add(const SamplesRecord& record) {
  if (queue_.push(record)) return;
  std::uint64_t samples = record.idle_samples;
  for (const SampleRun& run : record.runs) samples += run.count;
  loss_.add(Loss::samples_lost, samples);
}

void PmSampler::refuse(const std::string& reason) {
  if (!refused_.exchange(true)) on_refused_(user_, reason);
}

void PmSampler::report_too_short() noexcept {
  const bool late = std::any_of(threads_.begin(), threads_.end(), [](const auto& thread) {
    const PmThread* const found = thread.load(std::memory_order_acquire);
    return found != nullptr && found->is_late();
  });
  if (!late || refused_.load()) return;
  try {
    on_refused_(user_, waits_.load() ? "sampling had not started when it ended"
                                     : "it ended before the first sample, which comes about 0.6 s after the "
                                       "first GPU work. --counters sampled makes the first work wait for it");
  } catch (...) {
    loss_.add(Loss::record_sink_errors);
  }
}

void PmSampler::notify_prepared() noexcept {
  if (prepared_.fetch_add(1) < 2) on_prepared_(user_);
}

std::uint64_t PmSampler::cpu_ns() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& thread : threads_) {
    if (const PmThread* const found = thread.load(std::memory_order_acquire); found != nullptr)
      sum += found->cpu_ns();
  }
  return sum;
}

std::uint64_t PmSampler::samples() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& thread : threads_) {
    if (const PmThread* const found = thread.load(std::memory_order_acquire); found != nullptr)
      sum += found->samples();
  }
  return sum;
}

}  // namespace rangefinder
