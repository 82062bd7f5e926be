// SPDX-License-Identifier: Apache-2.0
//
// A view of channels-last activations: an address and strides. It owns nothing, and the memory may be the
// host's or the GPU's.
//
//   element (n, y, x, c) is data[n * image_step() + (y * width + x) * pixel_step() + c]
//
// A pixel step greater than `channels` makes the view a slice of channels of a wider tensor (so a
// concatenation needs no copy). An image step greater than a whole image makes it one level of the
// decoder's input sequence. Rows of pixels have no gap between them.
#pragma once

#include <cstdint>

namespace rangefinder::kernels {

template <typename Pointer>
struct BasicNhwcView {
  Pointer data = nullptr;         ///< 16-byte aligned; nullptr: this operand is absent
  int height = 0;                 ///< pixels
  int width = 0;                  ///< pixels
  int channels = 0;               ///< elements of a pixel that belong to this view
  std::int64_t pixel_stride = 0;  ///< elements between pixels; 0: `channels`
  std::int64_t image_stride = 0;  ///< elements between images; 0: height * width * pixel stride

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
