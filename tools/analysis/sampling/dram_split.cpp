// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/dram_split.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {
namespace {

constexpr double kBytesPerMib = 1 << 20;
constexpr double kNsPerSecond = 1e9;
/// GPM's own: single values of 100 ms were within 2.3 % of known bytes (docs/internals/conditions.md).
constexpr double kOwnError = 0.025;
/// Of an H200, driver 580: 45 to 150 ms.
constexpr TimeNs kMaxGpmLagNs = 250'000'000;
/// Half a minute, in which the phases of two clocks of 100 ms do not part.
constexpr std::size_t kFittedIntervals = 300;
/// A lag fits about as well as the best one if its residual is at most this many times as large, or this part
/// of the bytes.
constexpr double kAboutAsWell = 2, kSmallResidual = 0.01;

constexpr TimeNs length_of(TimeNs from_ns, TimeNs to_ns) noexcept {
  return std::max<TimeNs>(0, to_ns - from_ns);
}

/// Minimises the squared residual over rates >= 0, by sweeps over the rates. `products`: of the rows' times,
/// `right`: of times and bytes.
template <std::size_t kUnknowns>
std::array<double, kUnknowns> non_negative_rates(
    const std::array<std::array<double, kUnknowns>, kUnknowns>& products,
    const std::array<double, kUnknowns>& right) {
  constexpr int kSweeps = 200;
  std::array<double, kUnknowns> rates{};
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (products[i][i] <= 0) continue;
      double rest = right[i];
      for (std::size_t j = 0; j < kUnknowns; ++j) rest -= j == i ? 0 : products[i][j] * rates[j];
      rates[i] = std::max(0.0, rest / products[i][i]);
    }
  }
  return rates;
}

}  // namespace

void DramSplit::add(const ConditionRecord& record) {
  if (record.subject != ConditionOf::gpu || record.at_ns < 0) return;
  GpuBytes& gpu = gpus_[record.id];
  const auto mib = record.values[static_cast<std::size_t>(Condition::dram_mib)];
  if (gpu.at_ns == kNoTime) {
    if (mib) gpu = {*mib, record.at_ns, {}};
    return;
  }
  if (record.at_ns <= gpu.at_ns) return;
  if (mib && *mib > gpu.mib)
    gpu.intervals.push_back({gpu.at_ns, record.at_ns, static_cast<double>(*mib - gpu.mib) * kBytesPerMib});
  // A line without the value says that it has not changed.
  gpu.mib = mib.value_or(gpu.mib);
  gpu.at_ns = record.at_ns;
}

void DramSplit::add_work(const GpuWork& work, std::uint32_t owner) {
  constexpr TimeNs kLongestNs = 3'600'000'000'000;  // of work in a trace that is not damaged
  if (work.start_ns < 0 || work.end_ns < work.start_ns || work.end_ns - work.start_ns > kLongestNs) return;
  std::vector<StepWork>& all = work_[work.gpu];
  const auto kind = static_cast<std::uint8_t>(work.path % kKinds);
  for (TimeNs at_ns = work.start_ns; at_ns < work.end_ns && all.size() < kMaxSteps;) {
    const TimeNs number = at_ns / kStepNs;
    if (number > UINT32_MAX) return;
    const auto step = static_cast<std::uint32_t>(number);
    const TimeNs until_ns = std::min(work.end_ns, (number + 1) * kStepNs);
    const auto ns = static_cast<std::uint32_t>(until_ns - at_ns);
    // The owners of a step are few, and work is mostly in order.
    auto last = all.rbegin();
    while (last != all.rend() && last->step == step && (last->owner != owner || last->kind != kind)) ++last;
    if (last != all.rend() && last->step == step && last->ns <= UINT32_MAX - ns) {
      last->ns += ns;
    } else {
      all.push_back({step, owner, ns, kind});
    }
    at_ns = until_ns;
  }
}

template <typename See>
void DramSplit::each_work(const Interval& interval, TimeNs lag_ns, const std::vector<StepWork>& work,
                          See&& see) {
  const TimeNs from_ns = std::max<TimeNs>(0, interval.from_ns - lag_ns), to_ns = interval.to_ns - lag_ns;
  auto at = std::lower_bound(work.begin(), work.end(), from_ns / kStepNs,
                             [](const StepWork& one, TimeNs step) { return one.step < step; });
  for (; at != work.end() && at->step * kStepNs < to_ns; ++at) {
    const TimeNs begin_ns = at->step * kStepNs;
    const TimeNs inside_ns = length_of(std::max(begin_ns, from_ns), std::min(begin_ns + kStepNs, to_ns));
    see(*at, at->ns * static_cast<double>(inside_ns) / static_cast<double>(kStepNs));
  }
}

DramSplit::LagFit DramSplit::fit(std::span<const Interval> intervals, TimeNs lag_ns,
                                 const std::vector<StepWork>& work) {
  std::vector<KindTimes> rows;
  std::array<KindTimes, kKinds> products{};
  KindTimes right{};
  for (const Interval& interval : intervals) {
    KindTimes& times = rows.emplace_back();
    each_work(interval, lag_ns, work, [&](const StepWork& one, double ns) { times[one.kind] += ns; });
    for (std::size_t i = 0; i < kKinds; ++i) {
      right[i] += times[i] * interval.bytes;
      for (std::size_t j = 0; j < kKinds; ++j) products[i][j] += times[i] * times[j];
    }
  }
  LagFit out{lag_ns, non_negative_rates(products, right), 0};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double predicted = 0;
    for (std::size_t kind = 0; kind < kKinds; ++kind) predicted += rows[i][kind] * out.rates[kind];
    out.residual += (predicted - intervals[i].bytes) * (predicted - intervals[i].bytes);
  }
  out.residual = std::sqrt(out.residual / static_cast<double>(std::max<std::size_t>(1, rows.size())));
  return out;
}

DramSplit::Lags DramSplit::fit_lags(std::span<const Interval> intervals, const std::vector<StepWork>& work) {
  std::vector<LagFit> fits;
  for (TimeNs lag_ns = 0; lag_ns <= kMaxGpmLagNs; lag_ns += kStepNs)
    fits.push_back(fit(intervals, lag_ns, work));
  const auto best = std::min_element(
      fits.begin(), fits.end(), [](const LagFit& a, const LagFit& b) { return a.residual < b.residual; });
  double squares = 0;
  for (const Interval& interval : intervals) squares += interval.bytes * interval.bytes;
  const double mean = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, intervals.size())));
  const double limit = std::max(kAboutAsWell * best->residual, kSmallResidual * mean);
  Lags out{*best, *best, *best};
  const auto fits_too = [limit](const LagFit& one) { return one.residual <= limit; };
  for (auto at = best; fits_too(*at); --at) {
    out.least = *at;
    if (at == fits.begin()) break;
  }
  for (auto at = best; at != fits.end() && fits_too(*at); ++at) out.most = *at;
  return out;
}

void DramSplit::add_shares(const Interval& interval, const LagFit& fit, const std::vector<StepWork>& work,
                           double peak_per_ns, const OwnerAbove& above, Shares& out) {
  struct OwnerPart {
    double ns = 0, predicted = 0;
  };
  std::unordered_map<std::uint32_t, OwnerPart> owners;
  OwnerPart all;
  each_work(interval, fit.lag_ns, work, [&](const StepWork& one, double ns) {
    const double predicted = ns * fit.rates[one.kind];
    all.ns += ns;
    all.predicted += predicted;
    for (std::uint32_t owner = one.owner; owner != kNoOwner; owner = above(owner)) {
      owners[owner].ns += ns;
      owners[owner].predicted += predicted;
    }
  });
  // What work of this duration may have moved at most: streams overlap, so no more than in all the time.
  const auto length_ns = static_cast<double>(interval.to_ns - interval.from_ns);
  const auto at_most = [&](double ns) {
    if (peak_per_ns <= 0) return ns > 0 ? interval.bytes : 0;
    return std::min(interval.bytes, std::min(ns, length_ns) * peak_per_ns);
  };
  for (const auto& [owner, part] : owners) {
    const double weight = all.predicted > 0 ? part.predicted / all.predicted : part.ns / all.ns;
    const double bytes = interval.bytes * weight;
    const double least = interval.bytes - at_most(all.ns - part.ns);
    DramShare& share = out[owner];
    share.bytes += bytes;
    share.error += std::max({0.0, bytes - least, at_most(part.ns) - bytes}) + kOwnError * bytes;
    share.counted_ns += part.ns;
  }
}

std::unordered_map<std::uint32_t, DramShare> DramSplit::shares(const OwnerAbove& above) {
  Shares out, early, late;
  for (const auto& [id, gpu] : gpus_) {
    if (gpu.intervals.empty()) continue;
    std::vector<StepWork>& work = work_[id];
    std::stable_sort(work.begin(), work.end(),
                     [](const StepWork& a, const StepWork& b) { return a.step < b.step; });
    for (const StepWork& one : work) {
      for (std::uint32_t owner = one.owner; owner != kNoOwner; owner = above(owner))
        out[owner].work_ns += one.ns;
    }
    const auto peak = peaks_.find(id);
    const double peak_per_ns = peak == peaks_.end() ? 0 : peak->second / kNsPerSecond;
    for (std::size_t first = 0; first < gpu.intervals.size(); first += kFittedIntervals) {
      const auto part = std::span<const Interval>(gpu.intervals)
                            .subspan(first, std::min(kFittedIntervals, gpu.intervals.size() - first));
      const Lags lags = fit_lags(part, work);
      for (const Interval& interval : part) {
        add_shares(interval, lags.best, work, peak_per_ns, above, out);
        add_shares(interval, lags.least, work, peak_per_ns, above, early);
        add_shares(interval, lags.most, work, peak_per_ns, above, late);
      }
    }
  }
  for (auto& [owner, share] : out)
    share.error +=
        std::max(std::abs(early[owner].bytes - share.bytes), std::abs(late[owner].bytes - share.bytes));
  return out;
}

}  // namespace rangefinder
