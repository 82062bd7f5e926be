// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/monitor_rates.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {
namespace {

constexpr double kNsPerSecond = 1e9;

}  // namespace

std::uint32_t MonitorRates::parent_of(std::uint32_t path) const {
  const auto at = parents_.find(path);
  return at == parents_.end() ? 0 : at->second;
}

void MonitorRates::fold(Sums& sums, std::uint64_t window_ns) noexcept {
  const double rate = static_cast<double>(sums.now_ns) * kNsPerSecond / static_cast<double>(window_ns);
  sums.rate_sum += rate;
  sums.rate_squares += rate * rate;
  sums.now_ns = 0;
}

void MonitorRates::end_window() {
  if (start_ns_ == kNoTime || period_window_ns_ == 0) return;
  for (const std::uint32_t path : in_window_) fold(by_path_[path], period_window_ns_);
  in_window_.clear();
  ++ended_windows_;
  period_window_ns_ = 0;
}

void MonitorRates::add(const MonitorRecord& record) {
  if (record.start_ns != start_ns_) {
    end_window();
    start_ns_ = record.start_ns;
    period_window_ns_ = record.window_ns;
    window_ns_ += record.window_ns;
    if (record.end_ns > record.start_ns)
      observed_ns_ += static_cast<std::uint64_t>(record.end_ns - record.start_ns);
  }
  MonitorRow& own = by_path_[record.path].row;
  own.ranges += record.ranges;
  own.range_ns += record.range_ns;
  const std::uint64_t gpu_ns = record.kernel_ns + record.copy_ns;
  for (std::uint32_t path = record.path;; path = parent_of(path)) {
    Sums& sums = by_path_[path];
    sums.row.path = path;
    sums.row.launches += record.launches;
    sums.row.kernels += record.kernels;
    sums.row.copies += record.copies;
    sums.row.gpu_ns += gpu_ns;
    if (gpu_ns != 0 && record.window_ns != 0) {
      if (sums.now_ns == 0) in_window_.push_back(path);
      sums.now_ns += gpu_ns;
    }
    if (path == 0 || parent_of(path) == 0) break;
  }
}

std::uint64_t MonitorRates::windows() const noexcept {
  return ended_windows_ + (period_window_ns_ != 0 ? 1 : 0);
}

std::vector<MonitorRow> MonitorRates::rows() const {
  const auto n = static_cast<double>(windows());
  std::vector<MonitorRow> out;
  out.reserve(by_path_.size());
  for (const auto& [path, sums] : by_path_) {
    Sums all = sums;
    if (all.now_ns != 0) fold(all, period_window_ns_);
    MonitorRow row = all.row;
    for (std::uint32_t up = path; up != 0; up = parent_of(up)) ++row.depth;
    if (n > 0) row.gpu_ns_per_s = all.rate_sum / n;
    if (n > 1) {
      const double variance = (all.rate_squares - all.rate_sum * row.gpu_ns_per_s) / (n - 1);
      row.gpu_ns_per_s_sd = std::sqrt(std::max(variance, 0.0));
    }
    out.push_back(row);
  }
  std::sort(out.begin(), out.end(), [](const MonitorRow& a, const MonitorRow& b) { return a.path < b.path; });
  return out;
}

}  // namespace rangefinder
