// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/recorder.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

#include "profiler/guest/host_lock.h"
#include "profiler/guest/never_destroyed.h"

namespace rangefinder {

Recorder::Recorder() noexcept {
  for (HostMutex* const mutex :
       {&domain_mutex_, &naming.mutex(), &graphs.mutex(), &threads.mutex(), &paths.mutex(), &names.mutex()})
    fork_locks.add(*mutex);
}

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
  // Waking is a system call: of many threads only the first makes it.
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

void Recorder::become_child() noexcept {
  if (!end_fork_in_child(fork_locks)) return silent.store(true, std::memory_order_relaxed);
  if (recording.load(std::memory_order_relaxed)) silent.store(true, std::memory_order_relaxed);
  threads.forget_after_fork();
}

namespace {

struct RecorderOfTheProcess : Recorder {
  RecorderOfTheProcess() noexcept {
    pthread_atfork([] { begin_fork(recorder().fork_locks); }, [] { end_fork(recorder().fork_locks); },
                   [] { recorder().become_child(); });
  }
};

}  // namespace

Recorder& recorder() noexcept {
  return never_destroyed<RecorderOfTheProcess>();
}

}  // namespace rangefinder
