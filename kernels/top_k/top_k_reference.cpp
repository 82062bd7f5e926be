// SPDX-License-Identifier: Apache-2.0
//
// The order of top_k.h, by std::partial_sort.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/top_k/top_k.h"
#include "kernels/top_k/top_k_arguments.h"

namespace rangefinder::kernels {
namespace {

/// The maximum, or NaN if one of the columns is NaN.
float key_of(const float* row, int columns) {
  float key = row[0];
  for (int column = 1; column < columns && !std::isnan(key); ++column)
    if (std::isnan(row[column]) || row[column] > key) key = row[column];
  return key;
}

bool comes_before(float a, int row_a, float b, int row_b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (std::isnan(a) != std::isnan(b)) return std::isnan(b);
    return row_a < row_b;
  }
  return a != b ? a > b : row_a < row_b;
}

}  // namespace

void top_k_reference(const TopKArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("top_k: ") + reason);
  const auto rows = static_cast<std::size_t>(args.rows);
  const auto k = static_cast<std::size_t>(args.k);
  std::vector<float> keys(rows);
  std::vector<std::int32_t> order(rows);
  for (std::size_t image = 0; image < static_cast<std::size_t>(args.images); ++image) {
    for (std::size_t row = 0; row < rows; ++row)
      keys[row] =
          key_of(args.scores + (image * rows + row) * static_cast<std::size_t>(args.columns), args.columns);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(
        order.begin(), order.begin() + args.k, order.end(), [&](std::int32_t a, std::int32_t b) {
          return comes_before(keys[static_cast<std::size_t>(a)], a, keys[static_cast<std::size_t>(b)], b);
        });
    for (std::size_t i = 0; i < k; ++i) {
      args.indices[image * k + i] = order[i];
      if (args.keys != nullptr) args.keys[image * k + i] = keys[static_cast<std::size_t>(order[i])];
    }
  }
}

}  // namespace rangefinder::kernels
