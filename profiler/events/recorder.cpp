// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/recorder.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <new>

#include "profiler/events/host_lock.h"

namespace rangefinder {

std::uint32_t Recorder::add_domain(std::uint32_t name) noexcept {
  const HostLock lock(domain_mutex_);
  if (!lock) {
    loss.add(Loss::names_folded);
    return 0;
  }
  const std::uint32_t count = domains_.load(std::memory_order_relaxed);
  for (std::uint32_t id = 1; id < count; ++id) {
    if (domain_names_[id].load(std::memory_order_relaxed) == name) return id;
  }
  const bool last = count >= kMaxDomains - 1;
  if (last) loss.add(Loss::names_folded);
  if (count == kMaxDomains) return kMaxDomains - 1;
  domain_names_[count].store(last ? kOtherName : name, std::memory_order_release);
  domains_.store(count + 1, std::memory_order_release);
  return count;
}

void Recorder::wake_drain() noexcept {
  // Waking is a system call: only the first of many late threads makes it.
  if (wake.load(std::memory_order_relaxed) != 0 || wake.exchange(1, std::memory_order_release) != 0) return;
  syscall(SYS_futex, &wake, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Recorder::sleep_until_woken(std::chrono::nanoseconds limit) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec wait{static_cast<time_t>(seconds.count()), static_cast<long>((limit - seconds).count())};
  if (wake.load(std::memory_order_acquire) == 0) {
    syscall(SYS_futex, &wake, FUTEX_WAIT_PRIVATE, 0, &wait, nullptr, 0);
  }
  wake.store(0, std::memory_order_release);
}

void Recorder::lock_for_fork() noexcept {
  if (!may_lock_for_fork()) return;
  domain_mutex_.lock();
  naming.mutex().lock();
  threads.mutex().lock();
  paths.mutex().lock();
  names.mutex().lock();
  locked_too_ = locks_too.load(std::memory_order_acquire);
  if (locked_too_ != nullptr) locked_too_->lock();
  set_forking(true);
}

void Recorder::unlock_in_parent() noexcept {
  if (!may_lock_for_fork()) return;
  set_forking(false);
  if (locked_too_ != nullptr) locked_too_->unlock();
  names.mutex().unlock();
  paths.mutex().unlock();
  threads.mutex().unlock();
  naming.mutex().unlock();
  domain_mutex_.unlock();
}

void Recorder::unlock_in_child() noexcept {
  if (!may_lock_for_fork()) {
    // Forked by a signal's handler in the middle of a section: what it guards stays as it is now.
    silent.store(true, std::memory_order_relaxed);
    return refuse_all_locks();
  }
  unlock_in_parent();
  if (recording.load(std::memory_order_relaxed)) silent.store(true, std::memory_order_relaxed);
  threads.forget_after_fork();
}

namespace {

Recorder* make_recorder() noexcept {
  // In static storage, not on the heap: it must exist even where memory is out. Never destroyed.
  alignas(Recorder) static std::byte storage[sizeof(Recorder)];
  Recorder* const made = new (storage) Recorder;
  pthread_atfork([] { recorder().lock_for_fork(); }, [] { recorder().unlock_in_parent(); },
                 [] { recorder().unlock_in_child(); });
  return made;
}

}  // namespace

Recorder& recorder() noexcept {
  static Recorder* const instance = make_recorder();
  return *instance;
}

}  // namespace rangefinder
