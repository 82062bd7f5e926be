// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on every machine and do not depend on the order of creation: each name has
// its own sequence. splitmix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>
#include <string_view>

namespace rangefinder::rtdetr {

class RandomValues {
 public:
  RandomValues(std::uint64_t seed, std::string_view name) : state_(seed) {
    for (const char character : name) state_ = next() ^ static_cast<std::uint8_t>(character);
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< [0, 1)
  double between(double low, double high) { return low + (high - low) * uniform(); }
  /// Mean 0 and this deviation, uniform: cheaper than a normal distribution and without far outliers.
  double spread(double deviation) {
    constexpr double kSquareRootOf3 = 1.7320508075688772;
    return between(-kSquareRootOf3, kSquareRootOf3) * deviation;
  }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
  }

  std::uint64_t state_;
};

}  // namespace rangefinder::rtdetr
