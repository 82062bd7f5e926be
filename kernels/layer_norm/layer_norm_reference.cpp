// SPDX-License-Identifier: Apache-2.0
//
// The formula of layer_norm.h, one row at a time.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/layer_norm/layer_norm_arguments.h"

namespace rangefinder::kernels {
namespace {

const float* row_of(const void* rows, std::int64_t row, int channels) {
  return static_cast<const float*>(rows) + row * channels;
}

std::vector<double> summed_row(const LayerNormArgs& args, int row) {
  std::vector<double> values(static_cast<std::size_t>(args.channels));
  for (std::size_t c = 0; c < values.size(); ++c) {
    values[c] = static_cast<double>(row_of(args.input, row, args.channels)[c]);
    if (args.residual != nullptr)
      values[c] += static_cast<double>(row_of(args.residual, row, args.channels)[c]);
  }
  return values;
}

}  // namespace

void layer_norm_reference(const LayerNormArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("layer_norm: ") + reason);
  for (int row = 0; row < args.rows; ++row) {
    const std::vector<double> values = summed_row(args, row);
    double mean = 0;
    for (const double value : values) mean += value;
    mean /= args.channels;
    double variance = 0;
    for (const double value : values) variance += (value - mean) * (value - mean);
    variance /= args.channels;
    const double scale = 1 / std::sqrt(variance + static_cast<double>(args.epsilon));
    const std::int64_t start = std::int64_t{row} * args.channels;
    for (std::size_t c = 0; c < values.size(); ++c) {
      const double normal =
          static_cast<double>(args.gamma[c]) * (values[c] - mean) * scale + static_cast<double>(args.beta[c]);
      (static_cast<float*>(args.output) + start)[c] = static_cast<float>(normal);
      if (args.position != nullptr)
        (static_cast<float*>(args.output_with_position) + start)[c] = static_cast<float>(
            normal + static_cast<double>(row_of(args.position, row % args.position_rows, args.channels)[c]));
    }
  }
}

}  // namespace rangefinder::kernels
