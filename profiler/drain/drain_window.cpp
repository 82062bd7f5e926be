// SPDX-License-Identifier: Apache-2.0
//
// DrainThread: begin and end of a window, its folder, and its progress as other threads read it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "profiler/base/duration.h"
#include "profiler/base/monotonic_clock.h"
#include "profiler/drain/drain_thread.h"
#include "profiler/guest/above_standard_streams.h"
#include "profiler/guest/log.h"

namespace rangefinder {
namespace {

constexpr std::chrono::milliseconds kLateRecordSleep{5};
constexpr unsigned kMaxTracesPerPid = 99;  // traces of successive processes with the same process id

bool append_line(const std::string& path, const std::string& line) {
  const int file = above_standard_streams(
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file < 0) return false;
  const bool whole = write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  close(file);
  return whole;
}

}  // namespace

void DrainThread::notify_progress() {
  if (!write_error_reported_ && !drain_.error().empty()) {
    write_error_reported_ = true;
    say_once(drain_.error() + ". The application continues; lost lines are counted.");
  }
  const std::lock_guard lock(mutex_);
  progress_.records = drain_.records();
  progress_.bytes_written = drain_.bytes_written();
  if (progress_.written == written_) return;
  progress_.written = written_;
  progress_.summary = drain_.summary();
}

DrainThread::Progress DrainThread::progress(bool with_summary) const {
  const std::lock_guard lock(mutex_);
  if (with_summary) return progress_;
  Progress without{progress_.opened,  progress_.begin_ns,      progress_.folder,  progress_.error,
                   progress_.records, progress_.bytes_written, progress_.written, {}};
  return without;
}

std::uint64_t DrainThread::request_write() noexcept {
  const std::uint64_t number = write_requested_.fetch_add(1, std::memory_order_acq_rel) + 1;
  from_.recorder.wake_drain();
  return number;
}

OwnCost DrainThread::cost_of_all_windows() const {
  OwnCost cost = from_.cost ? from_.cost() : OwnCost{};
  if (from_.buffers != nullptr) {
    cost.activity_buffers_peak = from_.buffers->peak_in_flight();
    cost.activity_buffer_bytes = BufferPool::kBufferBytes;
  }
  if (from_.exact != nullptr) {
    cost.exact_ns = from_.exact->held_ns();
    cost.exact_batches = from_.exact->batches();
  }
  if (from_.sampler != nullptr) {
    cost.sampler_cpu_ns = from_.sampler->cpu_ns();
    cost.samples = from_.sampler->samples();
  }
  return cost;
}

void DrainThread::begin_recording() noexcept {
  // Fails if the window was closed meanwhile.
  std::int64_t never = Recorder::kNever;
  const bool begun = from_.recorder.record_until_ns.compare_exchange_strong(never, Recorder::kAlways);
  // Read the clock only now: for work that begins after this, all threads record events and CUPTI's records
  // are on.
  const std::int64_t now_ns = from_.recorder.clock.now_ns();
  record_from_ns_.store(now_ns, std::memory_order_release);
  if (!from_.begins_when_ready || !begun) return;
  const std::lock_guard lock(mutex_);
  progress_.begin_ns = now_ns;
}

bool DrainThread::open_trace(const std::string& folder, bool names_process, const Header& header,
                             const std::vector<GpuRecord>& gpus) {
  bool opened = drain_.open(folder, header, gpus);
  // The process id was used before: by this process before an exec, or in another container, where process
  // ids are small numbers.
  for (unsigned number = 2; names_process && !opened && drain_.occupied() && number <= kMaxTracesPerPid;
       ++number)
    opened = drain_.open(folder + "-" + std::to_string(number), header, gpus);
  // `rangefinder run` has prepared the folder, so a trace in it is of a process of the same run, parent or
  // child.
  if (!opened && drain_.occupied() && from_.options.run_pid != 0)
    opened = drain_.open(folder + "/pid=" + std::to_string(header.pid), header, gpus);
  return opened;
}

void DrainThread::report_failure(const std::string& reason) {
  if (!from_.late) say_once(reason + ". The application continues without being recorded.");
  const std::lock_guard lock(mutex_);
  progress_.error = reason;
}

void DrainThread::begin_when_due() {
  for (std::int64_t left_ns = 0;
       (left_ns = from_.begin_ns - clock_now_ns()) > 0 && !stopping_.load(std::memory_order_acquire);)
    from_.recorder.sleep_until_woken(std::chrono::nanoseconds(left_ns));
  begin_recording();
}

// Calls that were in progress when the window began are excluded: records were switched on too late for them.
bool DrainThread::is_of_window(const Event& event, std::int64_t from_ns) const noexcept {
  if (names_something(event.kind)) return true;
  // The thread had not seen the window's end yet.
  if (event.start_ns >= drop_from_ns_) return false;
  const bool is_range = event.kind == EventKind::range || event.kind == EventKind::range_start_end;
  return is_range || event.start_ns >= from_ns;
}

// Work launched before the window's end may still run: waits for its records.
void DrainThread::wait_for_late_records() {
  drain_.end_window(window_end_ns_);
  drop_from_ns_ = window_end_ns_;
  const std::int64_t deadline_ns = monotonic_now_ns() + patience_ms_ * kNsPerMs;
  // At least twice: calls that were in progress at the end emit their events a little later.
  for (int turns = 0; turns < 2 || (!drain_.all_joined() && monotonic_now_ns() < deadline_ns); ++turns) {
    if (hurry_.load(std::memory_order_acquire)) return;
    from_.recorder.sleep_until_woken(kLateRecordSleep);
    last_request_ns_ = 0;
    turn(clock_now_ns());
  }
}

void DrainThread::end_window(const char* reason, std::int64_t end_ns, std::uint32_t patience_ms) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_.load(std::memory_order_relaxed)) return;  // the process is about to exit
    reason_ = reason;
    window_end_ns_ = end_ns;
    patience_ms_ = patience_ms;
    stopping_.store(true, std::memory_order_release);
  }
  from_.recorder.wake_drain();
}

bool DrainThread::ended() const noexcept {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void DrainThread::announce() {
  log_info("recording into " + drain_.folder());
  char* const absolute = realpath(drain_.folder().c_str(), nullptr);
  const std::string folder = absolute != nullptr ? absolute : drain_.folder();
  std::free(absolute);
  if (!from_.options.manifest.empty()) (void)append_line(from_.options.manifest, folder + "\n");
  const std::lock_guard lock(mutex_);
  progress_.folder = folder;
  progress_.opened = true;
}

void DrainThread::report_refusal(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    refusal_ = reason;
  } catch (...) {
  }
  has_refusal_.store(true, std::memory_order_release);
}

}  // namespace rangefinder
