// SPDX-License-Identifier: Apache-2.0
//
// Input for runs without a photograph: random, smooth, in 0..1. White noise would leave every map near its
// mean after a few convolutions; smooth input keeps structure at all scales.
#pragma once

#include <cstdint>
#include <vector>

namespace rangefinder::rtdetr {

/// (images, height, width, 3) packed. The same seed gives the same values; images differ.
std::vector<float> make_smooth_input(int images, int height, int width, std::uint64_t seed);

}  // namespace rangefinder::rtdetr
