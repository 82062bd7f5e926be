// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace rangefinder {

std::vector<std::uint8_t> image_memory(std::size_t bytes) {
  constexpr std::uintptr_t kPageBytes = 4096;
  std::vector<std::uint8_t> out;
  out.reserve(bytes);  // no page exists yet
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(out.data()) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const auto end = (reinterpret_cast<std::uintptr_t>(out.data()) + bytes) / kPageBytes * kPageBytes;
  if (end > begin)
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));  // NOLINT
  out.resize(bytes);
  return out;
}

EmptyPmImage::EmptyPmImage(std::vector<std::uint8_t> empty, std::size_t bytes_of_one,
                           std::size_t bytes_of_two)
    : empty_(std::move(empty)) {
  if (bytes_of_two <= bytes_of_one || bytes_of_two - bytes_of_one > bytes_of_one) return;
  sample_bytes_ = bytes_of_two - bytes_of_one;
  head_bytes_ = bytes_of_one - sample_bytes_;
}

void EmptyPmImage::copy_to(PmImage& image) noexcept {
  const std::size_t all = std::min(empty_.size(), image.data.size());
  std::size_t used = is_partial() ? std::min(head_bytes_ + image.populated * sample_bytes_, all) : all;
  if (used < all && checked_ < kCheckedImages) {
    ++checked_;
    const auto from = static_cast<std::ptrdiff_t>(used), to = static_cast<std::ptrdiff_t>(all);
    if (!std::equal(empty_.begin() + from, empty_.begin() + to, image.data.begin() + from)) {
      sample_bytes_ = 0;
      used = all;
    }
  }
  std::copy_n(empty_.begin(), used, image.data.begin());
  image.times.clear();
  image.populated = 0;
}

}  // namespace rangefinder
