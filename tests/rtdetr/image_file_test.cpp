// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/image_file.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"

using namespace rangefinder::rtdetr;
using rangefinder::test::TemporaryFolder;

TEST_CASE("a PNG that was written is read back pixel by pixel") {
  const TemporaryFolder folder;
  Image image{2, 3, {}};
  for (std::uint8_t i = 0; i < 18; ++i) image.pixels.push_back(static_cast<std::uint8_t>(13 * i));
  write_png(folder.path() / "a.png", image);

  const Image back = read_image(folder.path() / "a.png");

  CHECK(back.height == 2);
  CHECK(back.width == 3);
  CHECK(back.pixels == image.pixels);
}

TEST_CASE("a PPM is read") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "a.ppm", std::ios::binary) << "P6\n2 1\n255\nabcdef";
  const Image image = read_image(folder.path() / "a.ppm");
  CHECK(image.width == 2);
  CHECK(image.pixels == std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'});
}

TEST_CASE("the bundled photographs are the same picture, as PNG and as JPEG") {
  const Image png = read_image(RANGEFINDER_TEST_IMAGES "/still_life.png");
  const Image jpeg = read_image(RANGEFINDER_TEST_IMAGES "/still_life.jpg");
  REQUIRE(jpeg.height == png.height);
  REQUIRE(jpeg.width == png.width);
  double difference = 0;
  for (std::size_t i = 0; i < png.pixels.size(); ++i)
    difference += std::abs(static_cast<int>(png.pixels[i]) - static_cast<int>(jpeg.pixels[i]));
  CHECK(difference / static_cast<double>(png.pixels.size()) < 4);  // steps of 255
}

TEST_CASE("errors for a file that is not an image, and for a missing one, have name and reason") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "text.png") << "no image";
  CHECK_THROWS_WITH(read_image(folder.path() / "text.png"), ContainsSubstring("text.png"));
  CHECK_THROWS_AS(read_image(folder.path() / "absent.png"), std::runtime_error);
  CHECK_THROWS_AS(write_png(folder.path() / "no/folder.png", Image{1, 1, {1, 2, 3}}), std::runtime_error);
}
