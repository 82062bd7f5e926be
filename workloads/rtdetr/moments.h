// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance of a map's channels, propagated through the network without running it. The batch norms
// of synthetic weights use them as the moments of their inputs.
//
// Assumes that pixels are normal and independent between channels. For a given filter that is wrong; on
// average over random filters the variance of a sum is still that of independent parts.
#pragma once

#include <vector>

namespace rangefinder::rtdetr {

struct Moments {
  std::vector<double> mean;      ///< by channel
  std::vector<double> variance;  ///< by channel
};

Moments uniform_moments(int channels, double mean, double variance);
Moments after_relu(const Moments& input);
Moments after_silu(const Moments& input);
Moments after_max_pool(const Moments& input);
Moments sum_of(const Moments& first, const Moments& second);
Moments joined(const Moments& first, const Moments& second);  ///< the channels of both

}  // namespace rangefinder::rtdetr
