// SPDX-License-Identifier: Apache-2.0
//
// The formula of box_refinement.h, one coordinate at a time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/box_refinement/box_refinement.h"
#include "kernels/box_refinement/box_refinement_arguments.h"

namespace rangefinder::kernels {
namespace {

double inverse_sigmoid(float x) {
  const double clamped = std::clamp(static_cast<double>(x), 0.0, 1.0);
  return std::log(std::max(clamped, 1e-5) / std::max(1 - clamped, 1e-5));
}

/// The logit that `delta` is added to.
double start_of(const BoxRefinementArgs& args, std::int64_t query, int coordinate) {
  if (args.previous != nullptr) {
    const float previous = args.previous[query * 4 + coordinate];
    return std::isnan(previous) ? static_cast<double>(previous) : inverse_sigmoid(previous);
  }
  const std::int32_t index = args.indices[query];
  if (index < 0 || index >= args.anchor_rows) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(args.anchors[std::int64_t{index} * 4 + coordinate]);
}

}  // namespace

void box_refinement_reference(const BoxRefinementArgs& args) {
  if (const char* reason = refusal(args))
    throw std::invalid_argument(std::string("box_refinement: ") + reason);
  auto* const query_input = static_cast<float*>(args.query_input);
  for (std::int64_t query = 0; query < std::int64_t{args.images} * args.queries; ++query) {
    for (int coordinate = 0; coordinate < 4; ++coordinate) {
      const std::int64_t at = query * 4 + coordinate;
      const double logit = static_cast<double>(args.delta[at]) + start_of(args, query, coordinate);
      const auto box = static_cast<float>(1 / (1 + std::exp(-logit)));
      if (args.logits != nullptr) args.logits[at] = static_cast<float>(logit);
      args.boxes[at] = box;
      if (query_input != nullptr) query_input[query * kQueryInputColumns + coordinate] = box;
    }
    if (query_input != nullptr)
      std::fill_n(query_input + query * kQueryInputColumns + 4, kQueryInputColumns - 4, 0.0F);
  }
}

}  // namespace rangefinder::kernels
