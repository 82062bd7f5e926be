// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/work_in_flight.h"

#include <dlfcn.h>
#include <sched.h>

#include <chrono>

namespace rangefinder {

StreamQuery find_stream_query() noexcept {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  return driver == nullptr ? nullptr : reinterpret_cast<StreamQuery>(dlsym(driver, "cuStreamQuery"));
}

bool WorkInFlight::add(CUstream stream, std::uint32_t name, bool may_wait) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (streams_[i].stream == stream) {
      streams_[i].name = name;
      streams_[i].may_wait |= may_wait;
      return true;
    }
  }
  if (count_ == kMaxStreams && !idle() && count_ == kMaxStreams) return false;
  streams_[count_++] = {stream, name, may_wait};
  return true;
}

bool WorkInFlight::idle() noexcept {
  for (std::size_t i = 0; i < count_;) {
    // An error says nothing about the work. The application's own calls will report it.
    if (query_ != nullptr && query_(streams_[i].stream) == CUDA_ERROR_NOT_READY) {
      ++i;
    } else {
      streams_[i] = streams_[--count_];
    }
  }
  return count_ == 0;
}

bool WorkInFlight::wait(std::int64_t patience_ns) noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kSpin{200};
  const Clock::time_point began = Clock::now();
  while (!idle()) {
    const auto waited = Clock::now() - began;
    if (waited > std::chrono::nanoseconds(patience_ns)) return false;
    if (waited > kSpin) sched_yield();
  }
  return true;
}

std::uint32_t WorkInFlight::unfinished() const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (!streams_[i].may_wait && streams_[i].name != 0) return streams_[i].name;
  }
  return 0;
}

bool WorkInFlight::has_waiter() const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (streams_[i].may_wait) return true;
  }
  return false;
}

void WorkInFlight::forget(CUstream stream) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (streams_[i].stream == stream) streams_[i--] = streams_[--count_];
  }
}

}  // namespace rangefinder
