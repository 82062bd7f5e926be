// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_evaluator.h"

#include <utility>

#include "profiler/guest/own_thread.h"
#include "profiler/guest/thread_cpu.h"

namespace rangefinder {

PmEvaluator::PmEvaluator(PmImage& spare, std::function<void(PmImage&)> work)
    : work_(std::move(work)), spare_(&spare) {
  has_thread_ = start_own_thread(
      "rangefinder-pe", [](void* self) { static_cast<PmEvaluator*>(self)->run(); }, this);
}

PmEvaluator::~PmEvaluator() {
  std::unique_lock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !has_thread_; });
}

bool PmEvaluator::exchange(PmImage*& image) {
  std::unique_lock lock(mutex_);
  if (busy_) return false;
  std::swap(image, spare_);
  if (!has_thread_) {
    work_(*spare_);
    return true;
  }
  busy_ = true;
  changed_.notify_all();
  return true;
}

void PmEvaluator::evaluate(PmImage& image) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
  if (!has_thread_) return work_(image);
  extra_ = &image;
  busy_ = true;
  changed_.notify_all();
}

bool PmEvaluator::is_idle() {
  const std::lock_guard lock(mutex_);
  return !busy_;
}

void PmEvaluator::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
}

void PmEvaluator::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return busy_ || ending_; });
    if (!busy_) break;
    PmImage& image = extra_ != nullptr ? *extra_ : *spare_;
    lock.unlock();
    work_(image);
    cpu_ns_.store(thread_cpu_ns(), std::memory_order_relaxed);
    lock.lock();
    extra_ = nullptr;
    busy_ = false;
    changed_.notify_all();
  }
  has_thread_ = false;
  changed_.notify_all();  // under the lock: the waiting destructor may destroy it at once
}

}  // namespace rangefinder
