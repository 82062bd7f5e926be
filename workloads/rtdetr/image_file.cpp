// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/image_file.h"

#include <stb_image.h>
#include <stb_image_write.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace rangefinder::rtdetr {
namespace {

constexpr int kChannels = 3;
constexpr std::int64_t kMaxPixels = 100'000'000;  // limits the memory that a damaged header can request

struct StbFree {
  void operator()(stbi_uc* data) const { stbi_image_free(data); }
};

/// Detects JPEG, PNG and binary PNM by their magic bytes. stb reads more formats, and not all of them safely.
bool is_known_format(const std::string& bytes) {
  return bytes.starts_with("\xff\xd8") || bytes.starts_with("\x89PNG") || bytes.starts_with("P5") ||
         bytes.starts_with("P6");
}

/// Checks what stb does not check in a PNM's header: numbers that are too large, and 16-bit values, for which
/// it reads past the pixels.
bool is_unsound_pnm(const std::string& bytes) {
  std::istringstream file(bytes);
  if (file.get() != 'P') return false;
  (void)file.get();
  constexpr int kNumbers = 3;  // width, height, maximum value
  constexpr long kMax[kNumbers] = {999'999, 999'999, 255};
  for (const long most : kMax) {
    while ((file >> std::ws).peek() == '#') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    long number = 0;
    if (!(file >> number) || number < 0 || number > most) return true;
  }
  return false;
}

/// stb writes past its table if a JPEG's Huffman table has more than 256 codes. In a valid file the marker
/// FF C4 occurs only before such tables.
bool has_long_table(const std::string& bytes) {
  if (!bytes.starts_with("\xff\xd8")) return false;  // not a JPEG: these bytes may occur anywhere
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? std::size_t{static_cast<unsigned char>(bytes[at])} : 0;
  };
  constexpr std::size_t kCounts = 16, kMaxCodes = 256;
  for (std::size_t at = 0; (at = bytes.find("\xff\xc4", at)) != std::string::npos; at += 2) {
    const std::size_t end = at + 2 + byte(at + 2) * 256 + byte(at + 3);
    for (std::size_t table = at + 4; table < end;) {
      std::size_t codes = 0;
      for (std::size_t i = 1; i <= kCounts; ++i) codes += byte(table + i);
      if (codes > kMaxCodes) return true;
      table += 1 + kCounts + codes;
    }
  }
  return false;
}

}  // namespace

Image read_image(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!is_known_format(bytes))
    throw std::runtime_error("cannot read " + path + ": it is not a JPEG, PNG or binary PPM");
  if (is_unsound_pnm(bytes) || has_long_table(bytes) || bytes.size() > std::numeric_limits<int>::max())
    throw std::runtime_error("cannot read " + path + ": it is damaged");
  const auto* const begin = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  Image image;
  int channels_in_file = 0;
  if (stbi_info_from_memory(begin, size, &image.width, &image.height, &channels_in_file) != 0 &&
      std::int64_t{image.width} * image.height > kMaxPixels)
    throw std::runtime_error("cannot read " + path + ": it has more than 100 million pixels");
  const std::unique_ptr<stbi_uc, StbFree> data(
      stbi_load_from_memory(begin, size, &image.width, &image.height, &channels_in_file, kChannels));
  if (data == nullptr) throw std::runtime_error("cannot read " + path + ": " + stbi_failure_reason());
  if (image.width <= 0 || image.height <= 0)
    throw std::runtime_error("cannot read " + path + ": it has no pixels");
  const std::size_t pixel_bytes =
      static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width) * kChannels;
  image.pixels.assign(data.get(), data.get() + pixel_bytes);
  return image;
}

void write_png(const std::string& path, const Image& image) {
  if (stbi_write_png(path.c_str(), image.width, image.height, kChannels, image.pixels.data(),
                     image.width * kChannels) == 0)
    throw std::runtime_error("cannot write " + path);
}

}  // namespace rangefinder::rtdetr
