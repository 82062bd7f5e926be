// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/detection_output.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "workloads/rtdetr/config.h"
#include "workloads/rtdetr/host_backends.h"
#include "workloads/rtdetr/label_font.h"
#include "workloads/rtdetr/network.h"

using namespace rangefinder::rtdetr;
using rangefinder::kernels::Detection;
using rangefinder::test::TemporaryFolder;

namespace {

constexpr int kLabels = 80;

Colour pixel_of(const Image& image, int x, int y) {
  const std::size_t at =
      3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  return {image.pixels[at], image.pixels[at + 1], image.pixels[at + 2]};
}

Image black(int height, int width) {
  return {height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * 3))};
}

}  // namespace

TEST_CASE("labels have COCO's names where there are 80, numbers elsewhere") {
  CHECK(label_name(0, kLabels) == "person");
  CHECK(label_name(79, kLabels) == "toothbrush");
  CHECK(label_name(80, kLabels) == "label 80");
  CHECK(label_name(-1, kLabels) == "label -1");
  CHECK(label_name(3, 16) == "label 3");
}

TEST_CASE("every name and score can be drawn") {
  const GlyphRows& unknown = glyph_of('\x01');
  for (int label = 0; label < kLabels; ++label)
    for (const char character : label_name(label, kLabels) + "0123456789 %.") {
      INFO(label_name(label, kLabels) << ": " << character);
      CHECK(&glyph_of(character) != &unknown);
    }
}

TEST_CASE("only detections above the threshold are kept, in order") {
  const std::vector<Detection> all{{0.9F, 1, 0, 0, 0, 0}, {0.5F, 2, 0, 0, 0, 0}, {0.6F, 3, 0, 0, 0, 0}};
  const std::vector<Detection> kept = above_threshold(all, 0.5F);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].label == 1);
  CHECK(kept[1].label == 3);
}

TEST_CASE("detections outside the image, and boxes that are not numbers, draw nothing beyond it") {
  Image image = black(20, 30);
  const float far = 1e30F;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  draw_detections(
      image, std::vector<Detection>{{0.9F, 1, -far, -far, far, far}, {nan, 2, nan, nan, nan, nan}}, kLabels);
  CHECK(image.pixels.size() == 20 * 30 * 3);
}

TEST_CASE("a label is above its box in the colour of the box, with the text in it") {
  Image image = black(100, 200);
  draw_detections(image, std::vector<Detection>{{0.876F, 2, 40, 50, 120, 90}}, kLabels);
  const Colour colour = label_colour(2);
  const Colour white{255, 255, 255};
  int text_pixels = 0;
  for (int x = 40; x < 132; ++x)
    for (int y = 32; y < 50; ++y) {
      const Colour here = pixel_of(image, x, y);
      if (here == white) ++text_pixels;
    }
  int expected = 0;
  for (const char character : std::string("car 88%"))
    for (const std::uint8_t row : glyph_of(character)) expected += 4 * __builtin_popcount(row);
  CHECK(text_pixels == expected);
  CHECK(pixel_of(image, 40, 32) == colour);
  CHECK(pixel_of(image, 40, 31) == Colour{0, 0, 0});
  CHECK(pixel_of(image, 80, 70) == Colour{0, 0, 0});  // inside the frame
}

TEST_CASE("the drawn picture and the JSON of the bundled photograph agree") {
  // The tiny network on the CPU: its boxes mean nothing, but both outputs must show them.
  const Config config = config_of("tiny");
  const auto backend = make_reference_backend();
  Network network(
      config, synthetic_weights(config, 1),
      {.element = rangefinder::kernels::ElementType::fp32, .images = 1, .height = 128, .width = 160},
      *backend);
  Image image = read_image(RANGEFINDER_TEST_IMAGES "/still_life.jpg");
  network.load_image(0, image.pixels, image.height, image.width);
  network.forward(nullptr);
  const std::vector<Detection> kept = above_threshold(network.detections().at(0), 0.3F);
  REQUIRE_FALSE(kept.empty());
  const Image original = image;

  draw_detections(image, std::span(kept).first(1), config.labels);
  const TemporaryFolder folder;
  write_png(folder.path() / "drawn.png", image);
  const Image drawn = read_image(folder.path() / "drawn.png");
  const auto line = nlohmann::json::parse(
      detections_json({"still_life.jpg", image.height, image.width, kept}, config.labels));

  CHECK(line["height"] == image.height);
  CHECK(line["detections"].size() == kept.size());
  const auto& best = line["detections"][0];
  const auto box = best["box"].get<std::vector<double>>();
  const Colour colour = label_colour(best["label"].get<int>());
  // The lower edge, which no label covers, and the inside.
  const auto inside = [](double v, int size) {
    return std::clamp(static_cast<int>(std::lround(v)), 0, size);
  };
  const int left = inside(box[0], image.width);
  const int right = inside(box[2], image.width);
  const int bottom = inside(box[3], image.height);
  const int top = inside(box[1], image.height);
  REQUIRE(right - left > 8);
  if (box[3] < image.height)
    for (int x = left; x < right; ++x) CHECK(pixel_of(drawn, x, bottom - 1) == colour);
  if (box[0] >= 0)
    for (int y = std::max(top, 18); y < bottom; ++y) CHECK(pixel_of(drawn, left, y) == colour);
  CHECK((box[3] < image.height || box[0] >= 0));  // at least one of the two edges was checked
  const int below = std::min(bottom + 1, image.height - 1);
  if (below > bottom) CHECK(pixel_of(drawn, left + 4, below) == pixel_of(original, left + 4, below));
}
