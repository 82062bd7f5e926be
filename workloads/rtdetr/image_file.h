// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes photographs with stb: JPEG, PNG and PPM in, PNG out. RGB, 8 bits, rows packed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rangefinder::rtdetr {

struct Image {
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;  ///< (height, width, 3)
};

Image read_image(const std::string& path);                    ///< throws std::runtime_error: file and reason
void write_png(const std::string& path, const Image& image);  ///< throws std::runtime_error

}  // namespace rangefinder::rtdetr
