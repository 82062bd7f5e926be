// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/range_windows.h"

#include <algorithm>
#include <new>

#include "profiler/base/path_glob.h"
#include "profiler/events/hold_scope.h"
#include "profiler/guest/slow_path.h"

namespace rangefinder {

bool RangeWindows::arm(const RangeCount& ranges, const std::vector<WindowRequest>& requests,
                       std::uint64_t windows) noexcept {
  try {
    disarm();
    auto wanted = std::make_unique<Wanted>();
    wanted->ranges = ranges;
    if (wanted->ranges.glob.empty()) wanted->ranges.glob = "*";
    wanted->requests = requests;
    if (requests.empty()) wanted->requests.emplace_back();
    old_ = std::move(current_);
    current_ = std::move(wanted);
  } catch (...) {
    return false;
  }
  error_.clear();
  seen_.store(0);
  skipped_.store(0);
  opened_.store(0);
  last_range_.store(0);
  left_.store(windows);
  wanted_.store(current_.get(), std::memory_order_release);
  phase_.store(Phase::counting, std::memory_order_release);
  recorder_.trigger.store(this, std::memory_order_release);
  return true;
}

void RangeWindows::disarm() noexcept {
  phase_.store(Phase::off, std::memory_order_release);
  recorder_.trigger.store(nullptr, std::memory_order_release);
  left_.store(0);
}

std::string RangeWindows::path_text(std::uint32_t path) const {
  const PathNode node = recorder_.paths.node(path);
  std::string text = node.parent == 0 ? std::string() : path_text(node.parent) + "/";
  for (const char character : recorder_.names.text(node.name)) {
    if (character == '/' || character == '\\') text += '\\';
    text += character;
  }
  return text;
}

// Allocates, but only at the first push of each path, and frees it again.
bool RangeWindows::matches(Wanted& wanted, std::uint32_t path) const {
  if (path == 0 || path >= wanted.verdicts.size()) return false;
  std::atomic<Verdict>& verdict = wanted.verdicts[path];
  if (const Verdict known = verdict.load(std::memory_order_relaxed); known != Verdict::unknown)
    return known == Verdict::yes;
  const PathNode node = recorder_.paths.node(path);
  const RangeCount& ranges = wanted.ranges;
  bool yes =
      ranges.domain.empty() || recorder_.names.text(recorder_.domain_name(node.domain)) == ranges.domain;
  // A glob also matches paths below a matching path; only the topmost one counts.
  yes = yes && matches_glob(ranges.glob, path_text(path)) &&
        (node.parent == 0 || !matches_glob(ranges.glob, path_text(node.parent)));
  verdict.store(yes ? Verdict::yes : Verdict::no, std::memory_order_relaxed);
  return yes;
}

void RangeWindows::on_push(std::uint64_t range, std::uint32_t path, std::uint32_t,
                           std::int64_t now_ns) noexcept {
  const Phase phase = phase_.load(std::memory_order_acquire);
  Wanted* const wanted = wanted_.load(std::memory_order_acquire);
  if (phase == Phase::off || wanted == nullptr) return;
  try {
    if (!matches(*wanted, path)) return;
    const std::uint64_t number = seen_.fetch_add(1) + 1;
    const RangeCount& ranges = wanted->ranges;
    if (number <= ranges.after) return;
    Phase counting = Phase::counting;
    if (phase_.compare_exchange_strong(counting, Phase::opening))
      slow_path([&] { open(*wanted, number, now_ns); });
    if (phase_.load() == Phase::open && number == opened_at_.load() + ranges.count - 1)
      last_range_.store(range);
  } catch (...) {
    recorder_.loss.add(Loss::record_sink_errors);
  }
}

void RangeWindows::open(const Wanted& wanted, std::uint64_t number, std::int64_t now_ns) {
  WindowRequest request = wanted.requests[std::min<std::size_t>(opened_.load(), wanted.requests.size() - 1)];
  request.begin_ns = now_ns;
  HoldScope hold(recorder_, HoldCause::session_start);
  std::string error = target_.begin_window(request);
  (void)hold.end();
  opened_at_.store(number);
  Phase opening = Phase::opening;
  if (error.empty()) {
    opened_.fetch_add(1);
    (void)phase_.compare_exchange_strong(opening, Phase::open);
  } else if (error == kNotCompleteYet) {
    skipped_.fetch_add(1);
    (void)phase_.compare_exchange_strong(opening, Phase::counting);
  } else {  // the next range would get the same error
    error_ = std::move(error);
    disarm();
    wake_(user_);
  }
}

void RangeWindows::on_pop(std::uint64_t range, std::int64_t) noexcept {
  if (range != last_range_.load(std::memory_order_relaxed) || range == 0) return;
  Phase open = Phase::open;
  if (!phase_.compare_exchange_strong(open, Phase::off)) return;
  last_range_.store(0);
  slow_path([this] { close(); });
}

void RangeWindows::close() noexcept {
  (void)target_.close_window("range");
  const std::uint64_t left = left_.load();
  const bool more = left > 1;
  left_.store(left == ~std::uint64_t{0} ? left : left - 1);
  seen_.store(0);
  if (more) {
    phase_.store(Phase::counting, std::memory_order_release);
  } else {
    recorder_.trigger.store(nullptr, std::memory_order_release);
  }
  wake_(user_);
}

}  // namespace rangefinder
