// SPDX-License-Identifier: Apache-2.0
//
// The formula of preprocess.h: two passes of a triangle filter.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/preprocess/preprocess.h"
#include "kernels/preprocess/preprocess_arguments.h"
#include "kernels/stem/stem.h"

namespace rangefinder::kernels {
namespace {

/// Target pixel i of a line; halves round up. `step`: bytes between source pixels.
std::uint8_t filtered(const std::uint8_t* line, std::int64_t step, const Triangle& triangle, int i) {
  std::int64_t sum = 0;
  std::int64_t total = 0;
  for (int j = triangle.first(i); j < triangle.end(i); ++j) {
    total += triangle.weight(i, j);
    sum += std::int64_t{triangle.weight(i, j)} * line[j * step];
  }
  return static_cast<std::uint8_t>((2 * sum + total) / (2 * total));
}

}  // namespace

void preprocess_reference(const PreprocessArgs& args) {
  if (const char* reason = refusal(args)) throw std::invalid_argument(std::string("preprocess: ") + reason);
  constexpr int kColours = 3;
  const std::int64_t source_row = std::int64_t{args.source_width} * kColours;
  const std::int64_t narrow_row = std::int64_t{args.target_width} * kColours;
  std::vector<std::uint8_t> narrow(static_cast<std::size_t>(args.source_height * narrow_row));
  const Triangle horizontal{args.source_width, args.target_width};
  for (int y = 0; y < args.source_height; ++y)
    for (int x = 0; x < args.target_width; ++x)
      for (int c = 0; c < kColours; ++c)
        narrow[static_cast<std::size_t>(y * narrow_row + x * kColours + c)] =
            filtered(args.image + y * source_row + c, kColours, horizontal, x);
  auto* target = static_cast<float*>(args.output);
  const Triangle vertical{args.source_height, args.target_height};
  for (int y = 0; y < args.target_height; ++y)
    for (int x = 0; x < args.target_width; ++x, target += kPixelStride) {
      for (int c = 0; c < kColours; ++c)
        target[c] =
            static_cast<float>(filtered(narrow.data() + x * kColours + c, narrow_row, vertical, y) / 255.0);
      target[kColours] = 0;
    }
}

}  // namespace rangefinder::kernels
