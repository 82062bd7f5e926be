// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/condition_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/guest/own_thread.h"
#include "profiler/guest/thread_cpu.h"

namespace rangefinder {
namespace {

using SamplerClock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

std::int64_t sampler_now_ns() noexcept {
  return std::chrono::nanoseconds(SamplerClock::now().time_since_epoch()).count();
}

}  // namespace

ConditionSampler::ConditionSampler(const Sources& sources)
    : sources_(sources), counts_dram_(sources.counts_dram) {
  log_.reserve(kMaxRecords);
}

void ConditionSampler::add_gpu(std::uint32_t id, std::string_view uuid) noexcept {
  const std::lock_guard lock(mutex_);
  if (added_count_ == kMaxGpus || uuid.size() >= kMaxUuidBytes) return;
  for (std::size_t i = 0; i < added_count_; ++i) {
    if (added_[i].id == id) return;
  }
  AddedGpu& gpu = added_[added_count_++];
  gpu.id = id;
  std::copy(uuid.begin(), uuid.end(), gpu.uuid.begin());
}

bool ConditionSampler::start() noexcept {
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  if (start_own_thread(
          "rf-conditions", [](void* self) { static_cast<ConditionSampler*>(self)->run(); }, this))
    return true;
  const std::lock_guard lock(mutex_);
  started_ = false;
  return false;
}

void ConditionSampler::pause() noexcept {
  const std::lock_guard lock(mutex_);
  paused_ = true;
  changed_.notify_all();
}

void ConditionSampler::resume() noexcept {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  restart_requested_ = true;
  changed_.notify_all();
}

void ConditionSampler::forget() noexcept {
  const std::lock_guard lock(mutex_);
  forget_requested_ = true;
}

bool ConditionSampler::stop(std::chrono::milliseconds patience) noexcept {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  return changed_.wait_until(lock, SamplerClock::now() + patience, [this] { return !started_ || ended_; });
}

void ConditionSampler::take(std::vector<ConditionRecord>& out) {
  out.clear();
  out.reserve(kMaxRecords);  // it becomes the log
  const std::lock_guard lock(mutex_);
  log_.swap(out);
}

void ConditionSampler::run() noexcept {
  std::int64_t deadline_ns = sampler_now_ns();
  while (wait_for_turn(deadline_ns)) {
    try {
      turn(sampler_now_ns());
    } catch (...) {
      errors_.fetch_add(1, std::memory_order_relaxed);
    }
    cpu_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
    deadline_ns = next_deadline_ns(deadline_ns, sampler_now_ns());
  }
  // Notified under the lock: stop()'s caller may destroy this object as soon as it has the lock.
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool ConditionSampler::wait_for_turn(std::int64_t& deadline_ns) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (paused_) {
      changed_.wait(lock, [this] { return stopping_ || !paused_; });
      deadline_ns = sampler_now_ns();
      continue;
    }
    const SamplerClock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
    if (!changed_.wait_until(lock, deadline, [this] { return stopping_ || paused_; })) return true;
  }
  return false;
}

void ConditionSampler::turn(std::int64_t now_ns) {
  if (process_ == nullptr) process_ = std::make_unique<ProcessConditions>(sources_.root);
  if (threads_ == nullptr) threads_ = std::make_unique<ThreadConditions>(sources_.root);
  follow_requests();
  open_added_gpus();
  for (const std::unique_ptr<Gpu>& gpu : gpus_) {
    const TimeNs at_ns = sources_.now_ns();
    if (counts_dram_.load(std::memory_order_relaxed)) gpu->conditions.count_dram();
    add_values(ConditionOf::gpu, gpu->id, at_ns, gpu->conditions.read(now_ns));
  }
  const TimeNs at_ns = sources_.now_ns();
  add_values(ConditionOf::process, 0, at_ns, process_->read());
  if (!threads_->is_due(now_ns)) return;
  threads_->scan(now_ns, sources_.now_ns(), [this](const ConditionRecord& record) { add_record(record); });
  skipped_threads_.store(threads_->skipped(), std::memory_order_relaxed);
}

void ConditionSampler::follow_requests() {
  bool restart = false, forget = false;
  {
    const std::lock_guard lock(mutex_);
    restart = std::exchange(restart_requested_, false);
    // Requests wait for room: complete records would be lost again, and counted each turn.
    if (log_.size() < kMaxRecords) forget = std::exchange(forget_requested_, false);
  }
  if (restart) {
    for (const std::unique_ptr<Gpu>& gpu : gpus_) gpu->conditions.restart();
    process_->restart();
  }
  if (!restart && !forget) return;
  changes_.forget();
  threads_->forget();
}

void ConditionSampler::open_added_gpus() {
  for (;;) {
    AddedGpu added;
    {
      const std::lock_guard lock(mutex_);
      if (opened_gpus_ == added_count_) return;
      added = added_[opened_gpus_];
    }
    ++opened_gpus_;
    open_gpu(added);
  }
}

void ConditionSampler::open_gpu(const AddedGpu& added) {
  if (!start_nvml()) return;
  auto gpu = std::make_unique<Gpu>(Gpu{added.id, GpuConditions(nvml_, added.uuid.data(), getpid())});
  if (gpu->conditions.is_found()) gpus_.push_back(std::move(gpu));
}

bool ConditionSampler::start_nvml() {
  if (nvml_state_ == Nvml::not_loaded) {
    nvml_state_ = Nvml::unavailable;
    nvml_ = sources_.load_nvml();
    if (nvml_.Init != nullptr && nvml_.Init() == kNvmlSuccess) nvml_state_ = Nvml::ready;
  }
  return nvml_state_ == Nvml::ready;
}

void ConditionSampler::add_values(ConditionOf subject, std::uint32_t id, TimeNs at_ns,
                                  const ConditionValues& values) {
  if (const auto record = changes_.add(at_ns, subject, id, values)) add_record(*record);
}

void ConditionSampler::add_record(const ConditionRecord& record) {
  const std::lock_guard lock(mutex_);
  if (log_.size() < kMaxRecords) {
    log_.push_back(record);
    return;
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
  forget_requested_ = true;  // what was lost counts as written
}

}  // namespace rangefinder
