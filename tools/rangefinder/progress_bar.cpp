// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/progress_bar.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <string>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/read_progress.h"

namespace rangefinder {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kDelay{1000}, kPeriod{200};

void write_all(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// `since`: time since the start of this pass.
std::string bar_text(std::chrono::duration<double> since) {
  const std::uint64_t done = read_progress.done(), total = read_progress.total();
  if (total == 0) return {};
  if (done >= total) return "\r\033[Kcomputing  (" + bytes_text(done) + " read)";
  const double part = static_cast<double>(done) / static_cast<double>(total);
  std::string out = "\r\033[Kreading  " + std::to_string(std::lround(100 * part)) + " %  " +
                    bytes_text(done) + " of " + bytes_text(total);
  if (part > 0.02) {
    const auto left = std::lround(since.count() * (1 - part) / part);
    out += "  " + std::to_string(left) + " s left";
  }
  return out;
}

}  // namespace

ProgressBar::ProgressBar() {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { draw_until_done(); });
}

ProgressBar::~ProgressBar() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  done_.notify_all();
  thread_.join();
}

void ProgressBar::draw_until_done() {
  std::unique_lock lock(mutex_);
  auto pass_began = Clock::now();
  std::uint64_t pass = read_progress.passes();
  if (done_.wait_for(lock, kDelay, [this] { return ended_; })) return;
  do {
    if (const std::uint64_t now = read_progress.passes(); now != pass) {
      pass = now;
      pass_began = Clock::now();
    }
    write_all(bar_text(Clock::now() - pass_began));
  } while (!done_.wait_for(lock, kPeriod, [this] { return ended_; }));
  write_all("\r\033[K");
}

}  // namespace rangefinder
