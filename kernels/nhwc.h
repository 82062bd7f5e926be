// SPDX-License-Identifier: Apache-2.0
//
// A view of channels-last activations: where they lie and how far apart. It owns nothing and does not
// know whether the memory is the host's or the GPU's.
//
//   element (n, y, x, c) is data[n * image_step() + (y * width + x) * pixel_step() + c]
//
// A pixel step greater than `channels` makes the view a slice of channels of a wider tensor (so a
// concatenation needs no copy); an image step greater than a whole image makes it one level of the
// sequence that the decoder reads. Rows of pixels always follow each other without a gap.
#pragma once

#include <cstdint>

namespace rangefinder::kernels {

template <typename Pointer>
struct BasicNhwcView {
  Pointer data = nullptr;         ///< 16-byte aligned; nullptr: this operand is absent
  int height = 0;                 ///< pixels
  int width = 0;                  ///< pixels
  int channels = 0;               ///< elements of a pixel that belong to this view
  std::int64_t pixel_stride = 0;  ///< elements from a pixel to the next; 0: `channels`
  std::int64_t image_stride = 0;  ///< elements from an image to the next; 0: height * width * pixel stride

  constexpr std::int64_t pixel_step() const { return pixel_stride != 0 ? pixel_stride : channels; }
  constexpr std::int64_t image_step() const {
    return image_stride != 0 ? image_stride : static_cast<std::int64_t>(height) * width * pixel_step();
  }
  constexpr std::int64_t pixels() const { return static_cast<std::int64_t>(height) * width; }
};

using NhwcInput = BasicNhwcView<const void*>;
using NhwcOutput = BasicNhwcView<void*>;

constexpr NhwcInput as_input(const NhwcOutput& view) {
  return {view.data, view.height, view.width, view.channels, view.pixel_stride, view.image_stride};
}

}  // namespace rangefinder::kernels
