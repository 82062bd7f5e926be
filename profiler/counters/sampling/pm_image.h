// SPDX-License-Identifier: Apache-2.0
//
// A counter image of PM sampling: cuptiPmSamplingDecodeData writes it, evaluation reads it.
//
//   empty ─▶ decoded into, repeatedly ─▶ evaluated ─▶ EmptyPmImage::copy_to ─▶ empty …
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

struct PmImage {
  struct Time {
    std::int64_t start_ns = 0, end_ns = 0;
    bool wanted = true;  ///< false: skip this sample
  };
  std::vector<std::uint8_t> data;
  std::vector<Time> times;    ///< of the samples in `data`, by index
  std::size_t populated = 0;  ///< samples written, complete or not

  [[nodiscard]] bool empty() const noexcept { return times.empty(); }
};

/// Memory of an image, zeroed. In huge pages where the system has them: the page faults of an image of many
/// samples, 4 KiB each, take longer than the samples wait.
[[nodiscard]] std::vector<std::uint8_t> image_memory(std::size_t bytes);

/// An image as initialised by CUPTI. Initialising it again costs as much as copying all of it (28 MB for
/// 4,096 samples), and would call into the session from another thread. So only the written part is copied.
/// According to the image sizes that CUPTI reports, an image is a head followed by its samples
/// (docs/internals/decisions.md). The first images are checked beyond the written part. If one differs there,
/// images are copied whole from then on.
class EmptyPmImage {
 public:
  static constexpr int kCheckedImages = 3;

  EmptyPmImage() = default;
  /// The sizes are those of images for one and for two samples.
  EmptyPmImage(std::vector<std::uint8_t> empty, std::size_t bytes_of_one, std::size_t bytes_of_two);

  [[nodiscard]] const std::vector<std::uint8_t>& data() const noexcept { return empty_; }
  /// Empties `image`, which was a copy of data() before it was decoded into. One thread at a time.
  void copy_to(PmImage& image) noexcept;
  /// Only the written part is copied.
  [[nodiscard]] bool is_partial() const noexcept { return sample_bytes_ != 0; }

 private:
  std::vector<std::uint8_t> empty_;
  std::size_t head_bytes_ = 0;
  std::size_t sample_bytes_ = 0;  // 0: unknown layout
  int checked_ = 0;
};

}  // namespace rangefinder
