// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/image_file.h"

#include <stb_image.h>
#include <stb_image_write.h>

#include <cstddef>
#include <memory>
#include <stdexcept>

namespace rangefinder::rtdetr {
namespace {

constexpr int kChannels = 3;
constexpr std::int64_t kMostPixels = 100'000'000;  // a damaged header asks for any memory

struct StbFree {
  void operator()(stbi_uc* data) const { stbi_image_free(data); }
};

}  // namespace

Image read_image(const std::string& path) {
  Image image;
  int channels_in_file = 0;
  if (stbi_info(path.c_str(), &image.width, &image.height, &channels_in_file) != 0 &&
      std::int64_t{image.width} * image.height > kMostPixels)
    throw std::runtime_error("cannot read " + path + ": it has more than 100 million pixels");
  const std::unique_ptr<stbi_uc, StbFree> data(
      stbi_load(path.c_str(), &image.width, &image.height, &channels_in_file, kChannels));
  if (data == nullptr) throw std::runtime_error("cannot read " + path + ": " + stbi_failure_reason());
  if (image.width <= 0 || image.height <= 0)
    throw std::runtime_error("cannot read " + path + ": it has no pixels");
  const std::size_t bytes =
      static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width) * kChannels;
  image.pixels.assign(data.get(), data.get() + bytes);
  return image;
}

void write_png(const std::string& path, const Image& image) {
  if (stbi_write_png(path.c_str(), image.width, image.height, kChannels, image.pixels.data(),
                     image.width * kChannels) == 0)
    throw std::runtime_error("cannot write " + path);
}

}  // namespace rangefinder::rtdetr
