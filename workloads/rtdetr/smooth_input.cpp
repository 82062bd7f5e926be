// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/smooth_input.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/rtdetr/random_values.h"

namespace rangefinder::rtdetr {
namespace {

constexpr int kWaves = 8;
constexpr double kMaxCycles = 12;  // per image

/// A product of one wave along each axis; each is a table of its values.
struct Wave {
  double row_cycles;
  double column_cycles;
  double row_phase;
  double column_phase;
  double height;
};

std::vector<double> wave_along(int size, double cycles, double phase) {
  std::vector<double> values(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i)
    values[static_cast<std::size_t>(i)] = std::sin(2 * std::numbers::pi * (cycles * i / size + phase));
  return values;
}

void add_wave(const Wave& wave, int height, int width, float* channel) {
  const std::vector<double> rows = wave_along(height, wave.row_cycles, wave.row_phase);
  const std::vector<double> columns = wave_along(width, wave.column_cycles, wave.column_phase);
  for (const double row : rows) {
    for (const double column : columns) {
      *channel += static_cast<float>(wave.height * row * column);
      channel += 3;
    }
  }
}

}  // namespace

std::vector<float> make_smooth_input(int images, int height, int width, std::uint64_t seed) {
  const std::size_t image_values = static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * 3;
  std::vector<float> values(static_cast<std::size_t>(images) * image_values, 0.5F);
  RandomValues random(seed, "input");
  for (int image = 0; image < images; ++image) {
    float* const first = values.data() + static_cast<std::size_t>(image) * image_values;
    for (int channel = 0; channel < 3; ++channel) {
      for (int i = 0; i < kWaves; ++i) {
        const Wave wave{kMaxCycles * random.uniform(), kMaxCycles * random.uniform(), random.uniform(),
                        random.uniform(), 0.25 * random.uniform()};
        add_wave(wave, height, width, first + channel);
      }
    }
  }
  for (float& value : values) value = std::clamp(value, 0.0F, 1.0F);
  return values;
}

}  // namespace rangefinder::rtdetr
