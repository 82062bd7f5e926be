// SPDX-License-Identifier: Apache-2.0
#include "tools/attach/live_rates.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rangefinder {
namespace {

using Json = nlohmann::json;

std::optional<double> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

void add_to(std::optional<double>& sum, std::optional<double> more) {
  if (more) sum = sum.value_or(0) + *more;
}

/// True if `path` is directly below `under`.
bool is_child(const std::string& path, const std::string& under) {
  return path.empty() ? under.empty() : parent_path(path) == under;
}

double rank(const LiveRow& row, LiveOrder order) {
  switch (order) {
    case LiveOrder::launches:
      return row.launches_per_s;
    case LiveOrder::dram:
      return row.dram_gb_per_s.value_or(-1);
    default:
      return row.gpu_ms_per_s;
  }
}

}  // namespace

std::string parent_path(const std::string& path) {
  std::size_t slash = 0;
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (path[at] == '\\') {
      ++at;
    } else if (path[at] == '/') {
      slash = at;
    }
  }
  return path.substr(0, slash);
}

void LiveRates::add_sums(const std::string& path, const Json& module) {
  Sums& sums = modules_[path];
  sums.gpu_ns += number(module, "gpu_ns").value_or(0);
  sums.exclusive_ns += number(module, "gpu_ns_exclusive").value_or(0);
  sums.kernels += number(module, "kernels").value_or(0);
  const auto read = number(module, "dram_read_bytes"), written = number(module, "dram_write_bytes");
  if (read || written) add_to(sums.dram_bytes, read.value_or(0) + written.value_or(0));
  add_to(sums.l2_bytes, number(module, "l2_bytes"));
}

void LiveRates::add(int pid, const Json& event) {
  if (const auto gpus = event.find("gpus"); gpus != event.end() && gpus->is_array()) {
    double peak = 0;
    for (const Json& gpu : *gpus) peak += number(gpu, "peak_dram_bytes_per_s").value_or(0);
    peaks_[pid] = peak;
  }
  if (event.value("event", "") != "delta") return;
  seconds_[pid] += number(event, "duration_ns").value_or(0) / 1e9;
  for (const Json& module : event.value("modules", Json::array())) add_sums(module.value("path", ""), module);
  if (const auto outside = event.find("outside"); outside != event.end() && !outside->empty())
    add_sums("", *outside);
  const Json loss = event.value("loss", Json::object());
  for (const auto& [cause, count] : loss.items()) lost_ += count.get<std::uint64_t>();
}

double LiveRates::seconds() const noexcept {
  double longest = 0;
  for (const auto& [pid, seconds] : seconds_) longest = std::max(longest, seconds);
  return longest;
}

double LiveRates::peak_bytes_per_s() const noexcept {
  double sum = 0;
  for (const auto& [pid, peak] : peaks_) sum += peak;
  return sum;
}

template <typename Wanted>
std::vector<LiveRow> LiveRates::rows_if(Wanted&& wanted, LiveOrder order) const {
  std::vector<LiveRow> rows;
  const double over = seconds();
  if (!(over > 0)) return rows;
  double all_ns = 0;
  for (const auto& [path, sums] : modules_) {
    if (is_child(path, "")) all_ns += sums.gpu_ns;
  }
  const double peak = peak_bytes_per_s();
  for (const auto& [path, sums] : modules_) {
    if (!wanted(path)) continue;
    LiveRow row;
    row.path = path;
    row.gpu_ms_per_s = sums.gpu_ns / 1e6 / over;
    row.share = all_ns > 0 ? sums.gpu_ns / all_ns : 0;
    row.launches_per_s = sums.kernels / over;
    if (sums.dram_bytes) row.dram_gb_per_s = *sums.dram_bytes / 1e9 / over;
    if (sums.l2_bytes) row.l2_gb_per_s = *sums.l2_bytes / 1e9 / over;
    if (sums.dram_bytes && peak > 0) row.peak_share = *sums.dram_bytes / over / peak;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [order](const LiveRow& a, const LiveRow& b) {
    return order == LiveOrder::name ? a.path < b.path : rank(a, order) > rank(b, order);
  });
  return rows;
}

std::vector<LiveRow> LiveRates::rows(const std::string& under, LiveOrder order) const {
  return rows_if([&under](const std::string& path) { return is_child(path, under); }, order);
}

std::vector<LiveRow> LiveRates::all_rows(LiveOrder order) const {
  return rows_if([](const std::string&) { return true; }, order);
}

void LiveRates::clear() noexcept {
  modules_.clear();
  seconds_.clear();
  lost_ = 0;
}

}  // namespace rangefinder
