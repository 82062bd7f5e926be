// SPDX-License-Identifier: Apache-2.0
//
// Rates as they might have come out as well: the fit again, with residuals of shuffled sign.
//
// Each replica fits samples that are what the rates predict plus or minus what they really missed,
// or what the noise model says they may miss, whichever is more; signs are drawn for a few samples
// at a time, as neighbours err together. Groups that were seldom seen lean on their prior rate,
// which is drawn too. So replicas differ as much as fits to other runs of the program would.
//
// One more is no draw: a fit with times of work moved by as much again as they are off already. By
// what that changes, the times as they are have led the fit astray.
#pragma once

#include <array>
#include <vector>

#include "tools/analysis/sampling/unmix.h"
#include "tools/analysis/sampling/unmix_fit.h"

namespace rangefinder {

using Replicas = std::array<std::vector<double>, kReplicas>;

/// `fit` is of all samples of `data`.
[[nodiscard]] Replicas unmixed_replicas(const FitData& data, TimeNs lag_ns, const RateFit& fit,
                                        const PriorRates& prior);

/// Where rates stay unknown, all that is known is how far the rates of groups lie apart.
[[nodiscard]] Replicas time_shared_replicas(const std::vector<double>& time_shared);

}  // namespace rangefinder
