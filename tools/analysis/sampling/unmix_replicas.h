// SPDX-License-Identifier: Apache-2.0
//
// Replicas of fitted rates for error estimates: a wild bootstrap, that is fits with residuals of random sign.
//
// Each replica fits new samples: the prediction plus or minus the residual, or the deviation of the noise
// model if that is larger. One sign is drawn for a few consecutive samples, because errors of neighbours are
// correlated. Groups with few samples depend on their prior rate, which is drawn too. So replicas differ as
// much as fits to other runs of the program would.
//
// The jitter replica is not drawn. It is a fit with the times of work moved by the fitted jitter once more.
// The change shows how far the existing jitter has shifted the fit.
#pragma once

#include <array>
#include <vector>

#include "tools/analysis/sampling/unmix.h"
#include "tools/analysis/sampling/unmix_fit.h"

namespace rangefinder {

using Replicas = std::array<std::vector<double>, kReplicas>;

/// `fit` was fitted to all samples of `data`.
[[nodiscard]] Replicas unmixed_replicas(const FitData& data, TimeNs lag_ns, const RateFit& fit,
                                        const PriorRates& prior);

/// Replicas for unknown rates, from the only known fact: how widely the rates of groups differ.
[[nodiscard]] Replicas time_shared_replicas(const std::vector<double>& time_shared);

}  // namespace rangefinder
