// SPDX-License-Identifier: Apache-2.0
//
// The formula of deformable_attention.h, one query of a head at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/deformable_attention/deformable_attention.h"
#include "kernels/deformable_attention/deformable_attention_arguments.h"

namespace rangefinder::kernels {
namespace {

struct Location {
  double x, y;  // 0..1
};

/// Samples of one query and head: everything that does not depend on the channel.
struct Samples {
  std::array<Location, kMaxSamples> location;
  std::array<double, kMaxSamples> weight;
};

Samples samples_of(const DeformableAttentionArgs& args, std::int64_t query, int head) {
  const int count = args.levels * args.points;
  const float* const row = static_cast<const float*>(args.projected) + query * args.projected_row_stride;
  const float* const offsets = row + head * count * 2;
  const float* const logits = row + args.heads * count * 2 + head * count;
  const float* const box = args.reference_boxes + query * 4;
  const auto greatest = static_cast<double>(*std::max_element(logits, logits + count));
  Samples samples{};
  double total = 0;
  for (int s = 0; s < count; ++s) {
    const auto at = static_cast<std::size_t>(s);
    const auto moved = [&](int axis) {
      return static_cast<double>(box[axis]) + static_cast<double>(offsets[s * 2 + axis]) / args.points *
                                                  static_cast<double>(box[2 + axis]) * 0.5;
    };
    samples.location[at] = {moved(0), moved(1)};
    samples.weight[at] = std::exp(static_cast<double>(logits[s]) - greatest);
    total += samples.weight[at];
  }
  for (double& weight : samples.weight) weight /= total;
  return samples;
}

/// `plane`: channel of the level's first position.
double bilinear(const float* plane, std::int64_t row_stride, const FeatureLevel& level, Location location) {
  const double x = location.x * level.width - 0.5;
  const double y = location.y * level.height - 0.5;
  if (std::isnan(x) || std::isnan(y)) return std::nan("");
  if (x <= -1 || x >= level.width || y <= -1 || y >= level.height) return 0;
  const int left = static_cast<int>(std::floor(x));
  const int top = static_cast<int>(std::floor(y));
  double sum = 0;
  for (int tap = 0; tap < 4; ++tap) {
    const int column = left + tap % 2;
    const int row = top + tap / 2;
    if (column < 0 || column >= level.width || row < 0 || row >= level.height) continue;
    const double weight = (1 - std::abs(x - column)) * (1 - std::abs(y - row));
    sum += weight * static_cast<double>(plane[(std::int64_t{row} * level.width + column) * row_stride]);
  }
  return sum;
}

void write_dumps(const DeformableAttentionArgs& args, std::int64_t query, int head, const Samples& samples) {
  const int count = args.levels * args.points;
  for (int s = 0; s < count; ++s) {
    const std::int64_t at = (query * args.heads + head) * count + s;
    const auto sample = static_cast<std::size_t>(s);
    if (args.sampling_locations != nullptr) {
      args.sampling_locations[at * 2] = static_cast<float>(samples.location[sample].x);
      args.sampling_locations[at * 2 + 1] = static_cast<float>(samples.location[sample].y);
    }
    if (args.attention_weights != nullptr)
      args.attention_weights[at] = static_cast<float>(samples.weight[sample]);
  }
}

}  // namespace

void deformable_attention_reference(const DeformableAttentionArgs& args) {
  if (const char* reason = refusal(args))
    throw std::invalid_argument(std::string("deformable_attention: ") + reason);
  auto* target = static_cast<float*>(args.output);
  for (std::int64_t query = 0; query < std::int64_t{args.images} * args.queries; ++query)
    for (int head = 0; head < args.heads; ++head) {
      const Samples samples = samples_of(args, query, head);
      write_dumps(args, query, head, samples);
      const float* const values = static_cast<const float*>(args.value) +
                                  query / args.queries * args.value_image_stride +
                                  std::int64_t{head} * args.head_channels;
      for (int channel = 0; channel < args.head_channels; ++channel) {
        double sum = 0;
        for (int s = 0; s < args.levels * args.points; ++s) {
          const FeatureLevel& level = args.level[static_cast<std::size_t>(s / args.points)];
          const auto at = static_cast<std::size_t>(s);
          sum += samples.weight[at] * bilinear(values + level.start * args.value_row_stride + channel,
                                               args.value_row_stride, level, samples.location[at]);
        }
        *target++ = static_cast<float>(sum);
      }
    }
}

}  // namespace rangefinder::kernels
