// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/stack_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "profiler/guest/log.h"
#include "profiler/guest/own_thread.h"

namespace rangefinder {
namespace {

using SamplerClock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

constexpr std::int64_t kMeasuredNs = 1'000'000'000;  // between two checks of the cost
constexpr std::uint64_t kMaxTornTurns = 2;

std::int64_t sampler_now_ns() noexcept {
  return std::chrono::nanoseconds(SamplerClock::now().time_since_epoch()).count();
}

}  // namespace

bool thread_runs(std::uint32_t thread) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%u/stat", thread);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 128> text{};
  const ssize_t bytes = read(file, text.data(), text.size());
  ::close(file);
  // "17 (name) R …": the name may have any characters, and 15 at most.
  const std::string_view line(text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  const std::size_t end = line.rfind(") ");
  return end != std::string_view::npos && line.substr(end + 2).starts_with('R');
}

StackSampler::StackSampler(const Sources& sources) : sources_(sources) {}

bool StackSampler::start() noexcept {
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  if (start_own_thread(
          "rf-stacks", [](void* self) { static_cast<StackSampler*>(self)->run(); }, this))
    return true;
  const std::lock_guard lock(mutex_);
  started_ = false;
  return false;
}

void StackSampler::resume() noexcept {
  const std::lock_guard lock(mutex_);
  paused_ = idle_ = false;
  changed_.notify_all();
}

void StackSampler::pause(std::chrono::milliseconds patience) noexcept {
  std::unique_lock lock(mutex_);
  paused_ = true;
  changed_.notify_all();
  (void)changed_.wait_until(lock, SamplerClock::now() + patience,
                            [this] { return !started_ || idle_ || ended_; });
}

bool StackSampler::stop(std::chrono::milliseconds patience) noexcept {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  return changed_.wait_until(lock, SamplerClock::now() + patience, [this] { return !started_ || ended_; });
}

void StackSampler::take(std::vector<StackSampleRecord>& out) {
  out.clear();
  const std::lock_guard lock(mutex_);
  log_.swap(out);
}

void StackSampler::run() noexcept {
  std::int64_t deadline_ns = sampler_now_ns();
  while (wait_for_turn(deadline_ns)) {
    try {
      (void)turn();
      follow_cost(sampler_now_ns());
    } catch (...) {
      lost_.fetch_add(1, std::memory_order_relaxed);
    }
    cpu_ns_.store(sources_.cpu_ns(), std::memory_order_relaxed);
    const std::int64_t now_ns = sampler_now_ns();
    deadline_ns += (std::max<std::int64_t>(now_ns - deadline_ns, 0) / interval_ns_ + 1) * interval_ns_;
  }
  // Notified under the lock: stop()'s caller may destroy this object as soon as it has the lock.
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool StackSampler::wait_for_turn(std::int64_t& deadline_ns) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (paused_ && !idle_) {
      lock.unlock();
      try {
        close_records();
      } catch (...) {  // out of memory: their samples are missing
      }
      lock.lock();
      idle_ = paused_;
      changed_.notify_all();
    } else if (paused_) {
      changed_.wait(lock, [this] { return stopping_ || !paused_; });
      deadline_ns = sampler_now_ns();
      measured_from_ns_ = 0;
    } else {
      const SamplerClock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
      if (!changed_.wait_until(lock, deadline, [this] { return stopping_ || paused_; })) return true;
    }
  }
  return false;
}

bool StackSampler::find_interpreter() {
  if (reader_ != nullptr) return true;
  if (given_up_) return false;
  if (!memory_) memory_.emplace();
  std::string problem;
  auto found = find_python(*memory_, problem);
  if (found && !memory_->works())
    problem = "host stacks need process_vm_readv or /proc/self/mem: both are refused";
  if (!problem.empty()) {
    given_up_ = true;
    say_once(problem + ". They are not recorded.");
    return false;
  }
  if (!found) return false;
  reader_ = std::make_unique<Reader>(
      std::move(*found), *memory_, PythonCode::Tables{sources_.names, sources_.stacks, sources_.omits_files});
  return true;
}

bool StackSampler::turn() {
  if (!find_interpreter()) return false;
  ++turn_;
  reader_->frames.read([this](const PythonThread& thread) { add(thread, sources_.now_ns()); });
  for (auto at = threads_.begin(); at != threads_.end();) {
    // One that was torn has no sample in this turn, and goes on.
    const bool gone = at->second.turn + kMaxTornTurns < turn_;
    if (gone) close(at->second);
    at = gone ? threads_.erase(at) : std::next(at);
  }
  const std::uint64_t torn = reader_->frames.torn();
  lost_.fetch_add(torn - std::exchange(torn_, torn), std::memory_order_relaxed);
  return true;
}

void StackSampler::add(const PythonThread& read, std::int64_t at_ns) {
  if (threads_.size() >= kMaxThreads && !threads_.contains(read.id)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Thread& thread = threads_[read.id];
  thread.turn = turn_;
  std::uint32_t stack = reader_->code.stack(read.frames, thread.latest);
  if (stack == 0) return close(thread);
  // The flag says that some thread collects. Others wait for the GIL, or run outside of it.
  if (read.collecting && thread_runs(read.id)) stack = reader_->code.inner(stack, "(garbage collection)");
  StackSampleRecord& record = thread.record;
  if (record.samples.empty()) {
    record.start_ns = at_ns;
    record.thread = read.id;
    record.interval_ns = static_cast<std::uint32_t>(interval_ns_);
    thread.one_stack = true;
  }
  thread.one_stack = thread.one_stack && (record.samples.empty() || record.samples.back().stack == stack);
  const std::int64_t after_ns = std::max<std::int64_t>(at_ns - record.start_ns, 0);
  record.samples.push_back({static_cast<std::uint32_t>(after_ns / 1000), stack});
  record.end_ns = record.start_ns + after_ns + interval_ns_;
  if (after_ns >= (thread.one_stack ? kWaitingNs : kRecordNs)) close(thread);
}

void StackSampler::close(Thread& thread) {
  if (thread.record.samples.empty()) return;
  const std::size_t samples = thread.record.samples.size();
  StackSampleRecord closed = std::exchange(thread.record, {});
  const std::lock_guard lock(mutex_);
  if (log_.size() < kMaxRecords) return log_.push_back(std::move(closed));
  lost_.fetch_add(samples, std::memory_order_relaxed);
}

void StackSampler::close_records() {
  for (auto& [id, thread] : threads_) close(thread);
  threads_.clear();
}

void StackSampler::set_interval(std::int64_t interval_ns) {
  interval_ns_ = interval_ns;
  for (auto& [id, thread] : threads_) close(thread);  // a record has one interval
}

// Twice the interval is half the cost; it is shortened again where that keeps a margin.
void StackSampler::follow_cost(std::int64_t now_ns) {
  if (measured_from_ns_ != 0 && now_ns - measured_from_ns_ < kMeasuredNs) return;
  const std::uint64_t cpu_ns = sources_.cpu_ns();
  const double share =
      static_cast<double>(cpu_ns - measured_cpu_ns_) / static_cast<double>(now_ns - measured_from_ns_);
  const bool measured = measured_from_ns_ != 0;
  measured_from_ns_ = now_ns;
  measured_cpu_ns_ = cpu_ns;
  if (!measured) return;
  if (share > kMaxShare && interval_ns_ < kMaxIntervalNs) set_interval(interval_ns_ * 2);
  if (share < kMaxShare / 3 && interval_ns_ > kMinIntervalNs) set_interval(interval_ns_ / 2);
}

}  // namespace rangefinder
