// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <utility>

#include "tools/analysis/sampling/non_negative_solver.h"
#include "tools/analysis/sampling/unmix_draw.h"

namespace rangefinder {
namespace {

// Fewer samples are too few to hold some out.
constexpr std::size_t kMinSamples = 8 * kChunkSamples;
constexpr int kRounds = 4;
// Rates must predict better than this: without repetition they predict as well as time does.
constexpr double kMaxErrorRatio = 0.98;
// The lag is searched in this many blocks, spread over the trace.
constexpr std::size_t kLagBlocks = 400;
// How to share a column is decided in as many, or more where each group would have few samples.
constexpr std::size_t kTrialBlocks = 400, kGroupsOfTrialBlock = 16;
constexpr TimeNs kMaxLagNs = 2'000, kFirstLagStepNs = 500, kLastLagStepNs = 100;
// A lag must improve the prediction by this part: noise alone always favours some lag.
constexpr double kMinLagGain = 0.002;
// The same for rates per launch: durations vary for other reasons than contention too.
constexpr double kMinPaceGain = 0.01;
constexpr std::size_t kSignSamples = 4;
// Residuals are clamped to this many deviations: fits give outliers little weight too.
constexpr double kMaxResidualDeviations = 4;

/// Finds the lag with the best fit, and accepts it only if the held-out samples confirm it.
class LagSearch {
 public:
  LagSearch(const FitData& data, const RateFit& scale) : data_(data), scale_(scale) {}

  TimeNs find() {
    TimeNs best = 0;
    double least = error_at(0, SampleSet::fitted);
    for (TimeNs step = kFirstLagStepNs; step >= kLastLagStepNs; step /= 2) {
      const TimeNs reach = step == kFirstLagStepNs ? kMaxLagNs : step;
      const TimeNs centre = best;
      for (TimeNs lag = std::max(centre - reach, -kMaxLagNs); lag <= std::min(centre + reach, kMaxLagNs);
           lag += step) {
        if (lag == centre) continue;
        const double error = error_at(lag, SampleSet::fitted);
        if (error >= least) continue;
        least = error;
        best = lag;
      }
    }
    if (best == 0) return 0;
    const double gain = 1 - error_at(best, SampleSet::held_out) / error_at(0, SampleSet::held_out);
    return gain > kMinLagGain ? best : 0;
  }

 private:
  double error_at(TimeNs lag_ns, SampleSet set) const {
    const std::vector<double> shared = time_shared_rates(data_, SampleSet::fitted, lag_ns);
    const RateFit fit = fit_rates(data_, SampleSet::fitted, lag_ns, shared, 1, scale_.rates);
    return prediction_error(data_, set, lag_ns, fit.rates, scale_);
  }

  const FitData& data_;
  const RateFit& scale_;
};

/// The test of fitted rates on the held-out samples.
struct Trial {
  bool valid = false;
  bool per_launch = false;
  TimeNs lag_ns = 0;
  double ratio = 1;
  std::vector<double> rates;  ///< of the fitted samples, at no lag
};

/// Fits at the lag and compares the prediction of held-out samples, by the noise of `scale`.
double held_out_error(const FitData& data, TimeNs lag_ns, const RateFit& scale) {
  const std::vector<double> shared = time_shared_rates(data, SampleSet::fitted, lag_ns);
  const RateFit fit = fit_rates(data, SampleSet::fitted, lag_ns, shared, kRounds, scale.rates);
  return prediction_error(data, SampleSet::held_out, lag_ns, fit.rates, scale);
}

Trial try_unmixing(const FitData& data, std::span<const double> mean_durations) {
  const std::vector<double> shared = time_shared_rates(data, SampleSet::fitted, 0);
  RateFit fit = fit_rates(data, SampleSet::fitted, 0, shared, kRounds, shared);
  if (!fit.valid) return {};

  const FitData lag_data = data.some(kLagBlocks);
  const TimeNs lag_ns = LagSearch(lag_data, fit).find();
  const double time_shared_error = prediction_error(data, SampleSet::held_out, 0, shared, fit);
  if (time_shared_error <= 0) return {};

  const double per_ns = lag_ns == 0 ? prediction_error(data, SampleSet::held_out, 0, fit.rates, fit)
                                    : held_out_error(data, lag_ns, fit);
  FitData by_launch = data;
  by_launch.pace = Pace(mean_durations);
  const double per_launch = held_out_error(by_launch, lag_ns, fit);
  const bool better = per_launch < (1 - kMinPaceGain) * per_ns;
  return {true, better, lag_ns, (better ? per_launch : per_ns) / time_shared_error, std::move(fit.rates)};
}

using Replicas = std::array<std::vector<double>, kReplicas>;

std::uint64_t key_of(std::size_t replica, std::uint64_t what) noexcept {
  return drawn_bits(std::uint64_t{replica + 1} << 48 ^ what);
}

/// Sums of weight * overlap * residual with random signs, by replica and group.
Replicas drawn_misses(const FitData& data, TimeNs lag_ns, const RateFit& fit, NormalEquations& equations) {
  Replicas misses;
  for (std::vector<double>& sums : misses) sums.resize(2 * data.groups);
  std::uint64_t row_number = 0;
  for_each_row(data, SampleSet::all, lag_ns, [&](const UnmixRow& row, double units, std::size_t chunk) {
    const double variance = fit.noise.variance(row, fit.rates), deviation = std::sqrt(variance);
    const double residual = std::abs(units - predicted_units(row, fit.rates));
    const double miss = std::clamp(residual, deviation, kMaxResidualDeviations * deviation);
    equations.add_row(row.entries, units, 1 / variance);
    const std::uint64_t stretch = std::uint64_t{chunk} << 20 | row_number++ / kSignSamples;
    const std::uint64_t signs = drawn_bits(stretch);  // one bit per replica
    for (const RowEntry& entry : row.entries) {
      for (std::size_t k = 0; k < kReplicas; ++k) {
        const double pull = (signs >> k & 1 ? miss : -miss) / variance;
        misses[k][head_of(entry.group)] += pull * entry.head_ns;
        misses[k][tail_of(entry.group)] += pull * entry.tail_ns;
      }
    }
  });
  return misses;
}

std::vector<double> jitter_rates(const FitData& data, TimeNs lag_ns, const RateFit& fit,
                                 const PriorRates& prior) {
  FitData moved = data;
  moved.jitter_ns = fit.noise.edge_ns;
  NormalEquations equations(data.groups);
  for_each_row(moved, SampleSet::all, lag_ns, [&](const UnmixRow& row, double units, std::size_t) {
    equations.add_row(row.entries, units, 1 / fit.noise.variance(row, fit.rates));
  });
  std::vector<double> rates = fit.rates;
  NonNegativeSolver(equations).solve(equations.right_side(), prior, rates);
  return rates;
}

/// Replicas of fitted rates for error estimates: a wild bootstrap, that is fits with residuals of random
/// sign.
///
/// Each replica fits new samples: the prediction plus or minus the residual, or the deviation of the noise
/// model if that is larger. One sign is drawn for a few consecutive samples, because errors of neighbours are
/// correlated. Groups with few samples depend on their prior rate, which is drawn too. So replicas differ as
/// much as fits to other runs of the program would.
///
/// The jitter replica is not drawn. It is a fit with the times of work moved by the fitted jitter once more.
/// The change shows how far the existing jitter has shifted the fit.
///
/// `fit` was fitted to all samples of `data`.
Replicas unmixed_replicas(const FitData& data, TimeNs lag_ns, const RateFit& fit, const PriorRates& prior) {
  NormalEquations equations(data.groups);
  Replicas misses = drawn_misses(data, lag_ns, fit, equations);
  const NonNegativeSolver solver(equations);
  const std::vector<double> predicted = solver.times(fit.rates);

  Replicas replicas;
  replicas[kJitterReplica] = jitter_rates(data, lag_ns, fit, prior);
  for (std::size_t k = 0; k < kDrawnReplicas; ++k) {
    PriorRates drawn = prior;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      misses[k][i] += predicted[i];
      const double deviation = 1 / std::sqrt(prior.precision[i]);
      drawn.rate[i] = std::max(0.0, fit.rates[i] + deviation * drawn_normal(key_of(k, i)));
    }
    replicas[k] = fit.rates;
    solver.solve(misses[k], drawn, replicas[k]);
  }
  return replicas;
}

/// Replicas for unknown rates, from the only known fact: how widely the rates of groups differ.
Replicas time_shared_replicas(const std::vector<double>& time_shared) {
  // Sharing by time has already pulled the rates together.
  constexpr double kMinSpread = 0.7, kMaxSpread = 2;
  double sum = 0, squares = 0, count = 0;
  for (const double rate : time_shared) {
    if (rate <= 0) continue;
    sum += std::log(rate);
    squares += std::log(rate) * std::log(rate);
    count += 1;
  }
  const double variance = count > 1 ? squares / count - sum * sum / (count * count) : 0;
  const double spread = std::clamp(std::sqrt(std::max(0.0, variance)), kMinSpread, kMaxSpread);
  Replicas replicas;
  for (std::size_t k = 0; k < kReplicas; ++k) {
    replicas[k].resize(time_shared.size());
    for (std::size_t i = 0; i < time_shared.size(); ++i) {
      replicas[k][i] = std::exp(spread * drawn_normal(key_of(k, i / 2)));
    }
  }
  return replicas;
}

// Jitter in the records' times pulls the rates of neighbours towards each other. Adding the same jitter again
// pulls them about as far again, so that shift is subtracted. The jitter replica then holds the rates as
// fitted.
void correct_jitter(ColumnRates& column) {
  for (std::size_t i = 0; i < column.rates.size(); ++i) {
    const double pulled = column.replicas[kJitterReplica][i] - column.rates[i];
    column.rates[i] = std::max(0.0, column.rates[i] - pulled);
    for (std::vector<double>& replica : column.replicas) replica[i] = std::max(0.0, replica[i] - pulled);
  }
}

std::size_t samples_with_work(const FitData& data) {
  std::size_t samples = 0;
  for_each_row(data, SampleSet::all, 0, [&](const UnmixRow&, double, std::size_t) { ++samples; });
  return samples;
}

ColumnRates column_rates(FitData data, std::span<const double> mean_durations) {
  ColumnRates column;
  const FitData some = data.some(std::max(kTrialBlocks, data.groups / kGroupsOfTrialBlock));
  const std::size_t samples = samples_with_work(some);
  if (samples < kMinSamples)
    column.min_run =
        static_cast<double>(kMinSamples) / static_cast<double>(std::max<std::size_t>(samples, 1));
  const Trial trial = samples < kMinSamples ? Trial{} : try_unmixing(some, mean_durations);
  if (trial.valid) column.held_out_ratio = trial.ratio;
  column.unmixed = trial.valid && trial.ratio < kMaxErrorRatio;
  if (!column.unmixed) {
    column.rates.assign(2 * data.groups, 1.0);
    column.replicas = time_shared_replicas(time_shared_rates(data, SampleSet::all, 0));
    return column;
  }
  column.lag_ns = static_cast<std::int32_t>(trial.lag_ns);
  column.per_launch = trial.per_launch;
  if (trial.per_launch) data.pace = Pace(mean_durations);
  const std::vector<double> shared = time_shared_rates(data, SampleSet::all, trial.lag_ns);
  RateFit fit = fit_rates(data, SampleSet::all, trial.lag_ns, shared, kRounds, trial.rates);
  column.replicas = unmixed_replicas(data, trial.lag_ns, fit, prior_of(shared));
  column.rates = std::move(fit.rates);
  column.noise = fit.noise;
  correct_jitter(column);
  return column;
}

}  // namespace

UnmixedRates unmix(std::span<const SampleBlock> blocks, std::vector<double> mean_durations,
                   BackgroundRates background, unsigned jobs) {
  UnmixedRates out;
  out.background = std::move(background);
  out.mean_durations = std::move(mean_durations);
  std::atomic<std::size_t> next = 0;
  const auto fit_columns = [&] {
    for (std::size_t c = next++; c < kSharedColumns; c = next++) {
      out.columns[c] =
          column_rates({blocks, out.mean_durations.size(), out.background, c}, out.mean_durations);
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < std::min<std::size_t>(jobs, kSharedColumns); ++i) {
    others.push_back(std::async(std::launch::async, fit_columns));
  }
  fit_columns();
  for (std::future<void>& other : others) other.get();
  return out;
}

}  // namespace rangefinder
