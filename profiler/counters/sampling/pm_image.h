// SPDX-License-Identifier: Apache-2.0
//
// A counter image of PM sampling: what cuptiPmSamplingDecodeData writes and evaluation reads.
//
//   empty ─▶ decoded into, again and again ─▶ evaluated ─▶ EmptyPmImage::copy_to ─▶ empty …
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

struct PmImage {
  struct Time {
    std::int64_t start_ns = 0, end_ns = 0;
    bool wanted = true;  ///< false: has no values for us
  };
  std::vector<std::uint8_t> data;
  std::vector<Time> times;    ///< of the samples in `data`, by their index
  std::size_t populated = 0;  ///< samples that something was written of, complete or not

  [[nodiscard]] bool empty() const noexcept { return times.empty(); }
};

/// An image as CUPTI initialized it. To have it initialized again costs no less than to copy all of it,
/// 28 MB for 4,096 samples, and would be a call into the session from another thread. Only what was
/// written is copied: an image is a head and its samples, one after the other, as far as CUPTI's sizes of
/// images tell (docs/decisions.md). The first images are looked at behind that, and if one was written
/// there all are copied whole from then on.
class EmptyPmImage {
 public:
  static constexpr int kLookedAt = 3;

  EmptyPmImage() = default;
  /// Sizes of images of one and of two samples, in bytes.
  EmptyPmImage(std::vector<std::uint8_t> empty, std::size_t bytes_of_one, std::size_t bytes_of_two);

  [[nodiscard]] const std::vector<std::uint8_t>& data() const noexcept { return empty_; }
  /// Makes `image` empty, which was a copy of data() before it was decoded into. One thread at a time.
  void copy_to(PmImage& image) noexcept;
  /// Only what was written is copied.
  [[nodiscard]] bool is_partial() const noexcept { return sample_bytes_ != 0; }

 private:
  std::vector<std::uint8_t> empty_;
  std::size_t head_bytes_ = 0;
  std::size_t sample_bytes_ = 0;  // 0: the layout is not known
  int looked_at_ = 0;
};

}  // namespace rangefinder
