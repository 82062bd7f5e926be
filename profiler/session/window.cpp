// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/window.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "profiler/events/hold_scope.h"
#include "profiler/guest/log.h"

namespace rangefinder {
namespace {

/// Maximum wait, after a window's end, for driver calls that began in it.
constexpr std::int64_t kCallPatienceNs = 200'000'000;

std::uint64_t lost_in(const LossLedger& loss) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : loss.snapshot()) sum += count;
  return sum;
}

}  // namespace

Window::Window(std::uint64_t number, CounterMode counters, std::int64_t begin_ns, DrainLoop::Sources sources)
    : number_(number), counters_(counters), begin_ns_(begin_ns), drain_(std::move(sources)) {}

void Window::close(const char* reason) noexcept {
  reason_.store(reason);
  try {
    if (logs_debug()) log_debug("window " + std::to_string(number_) + " closes: " + reason);
  } catch (...) {
  }
  end_ns_.store(recorder().clock.now_ns());
  recorder().record_until_ns.store(end_ns_.load(), std::memory_order_seq_cst);
}

bool Window::calls_in_progress(std::int64_t until_ns) const {
  return recorder().clock.now_ns() - until_ns < kCallPatienceNs &&
         recorder().threads.any_work_before(until_ns);
}

void Window::request_end(std::uint32_t patience_ms) noexcept {
  drain_.end_window(reason_.load(), end_ns_.load(), patience_ms);
}

void Window::catch_up() noexcept {
  constexpr std::int64_t kOldNs = 50'000'000, kPatienceNs = 20'000'000;
  const auto now_ns = [] { return recorder().clock.now_ns(); };
  const std::int64_t begin_ns = now_ns();
  if (begin_ns - drain_.flushed_ns() < kOldNs) return;
  const HoldScope hold(recorder(), HoldCause::early_flush);
  drain_.request_flush();
  while (drain_.flushed_ns() < begin_ns && now_ns() - begin_ns < kPatienceNs)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

WindowProgress Window::progress() const {
  DrainLoop::Progress now = drain_.progress(false);
  WindowProgress progress;
  progress.number = number_;
  progress.opened = now.opened;
  progress.folder = std::move(now.folder);
  progress.error = std::move(now.error);
  progress.begin_ns = now.begin_ns != 0 ? now.begin_ns : begin_ns_;
  progress.end_ns = end_ns_.load();
  progress.records = now.records;
  progress.bytes_written = now.bytes_written;
  progress.written = now.written;
  progress.lost = lost_in(recorder().loss);
  return progress;
}

}  // namespace rangefinder
