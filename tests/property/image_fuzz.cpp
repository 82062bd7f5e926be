// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever an image file holds, reading it gives an image of the size it says, or an
// std::runtime_error, and nothing outside of the file is touched (AddressSanitizer reports it).
//
// Files are small PNGs and PPMs and one photograph as JPEG, damaged.
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/property/corruption.h"
#include "tests/property/fuzz.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "workloads/rtdetr/image_file.h"

namespace rangefinder::fuzz {
namespace {

class ImageFuzzer final : public Fuzzer {
 public:
  ImageFuzzer() {
    for (const int side : {1, 7, 33}) {
      rtdetr::Image image{side, side + 2, {}};
      for (int i = 0; i < image.height * image.width * 3; ++i)
        image.pixels.push_back(static_cast<std::uint8_t>(i * 7));
      rtdetr::write_png(path_, image);
      small_.push_back(test::content(path_));
      small_.push_back("P6\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n255\n" +
                       std::string(image.pixels.begin(), image.pixels.end()));
    }
    photograph_ = test::content(RANGEFINDER_TEST_JPEG).substr(0, 20'000);
  }

  std::string check(Random& random) override {
    // The photograph takes longest.
    std::string text = random.one_in(50) ? photograph_ : random.element(small_);
    corrupt(text, random);
    write_file(path_, text);
    try {
      const rtdetr::Image image = rtdetr::read_image(path_);
      const auto pixels = static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width);
      if (image.height > 0 && image.width > 0 && image.pixels.size() == pixels * 3) return {};
    } catch (const std::runtime_error&) {
      return {};
    }
    return "the image is not of the size it says";
  }

 private:
  test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "image";
  std::vector<std::string> small_;
  std::string photograph_;
};

}  // namespace

MakeFuzzer* const make_image = &made<ImageFuzzer>;

}  // namespace rangefinder::fuzz
