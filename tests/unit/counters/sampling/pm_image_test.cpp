// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_image.h"

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr std::size_t kHead = 40, kSample = 16, kSamples = 100;

std::vector<std::uint8_t> initialized() {
  std::vector<std::uint8_t> bytes(kHead + kSamples * kSample);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  return bytes;
}

/// An image as if `samples` samples had been decoded into it.
PmImage written(std::size_t samples) {
  PmImage image;
  image.data = initialized();
  for (std::size_t i = 0; i < kHead + samples * kSample; ++i) image.data[i] = 0xEE;
  image.times.resize(samples);
  image.populated = samples;
  return image;
}

EmptyPmImage empty_image() {
  return {initialized(), kHead + kSample, kHead + 2 * kSample};
}

}  // namespace

TEST_CASE("an image is emptied for any number of samples") {
  EmptyPmImage empty = empty_image();
  REQUIRE(empty.is_partial());
  for (const std::size_t samples : {std::size_t{0}, std::size_t{1}, kSamples / 2, kSamples - 1, kSamples}) {
    PmImage image = written(samples);
    empty.copy_to(image);
    CHECK(image.data == initialized());
    CHECK(image.empty());
    CHECK(image.populated == 0);
  }
  CHECK(empty.is_partial());
}

TEST_CASE("only the written part is copied after the first images were checked") {
  EmptyPmImage empty = empty_image();
  for (int i = 0; i < EmptyPmImage::kCheckedImages; ++i) {
    PmImage image = written(3);
    empty.copy_to(image);
  }
  PmImage image = written(3);
  image.data.back() ^= 1;
  empty.copy_to(image);
  CHECK(image.data.back() != initialized().back());  // no longer checked
  image.data.back() ^= 1;
  CHECK(image.data == initialized());
}

TEST_CASE("with an unexpected layout images are copied whole") {
  EmptyPmImage empty = empty_image();
  PmImage image = written(3);
  image.data.back() ^= 1;
  empty.copy_to(image);
  CHECK(image.data == initialized());
  CHECK_FALSE(empty.is_partial());
}

TEST_CASE("with implausible sizes images are copied whole") {
  CHECK_FALSE(EmptyPmImage(initialized(), 50, 50).is_partial());
  CHECK_FALSE(EmptyPmImage(initialized(), 50, 101).is_partial());
  CHECK_FALSE(EmptyPmImage().is_partial());
}

TEST_CASE("a sample count beyond the image empties all of it") {
  EmptyPmImage empty = empty_image();
  PmImage image = written(kSamples);
  image.populated = SIZE_MAX / 1024;
  empty.copy_to(image);
  CHECK(image.data == initialized());
}
