// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/rtdetr/detection_output.h"
#include "workloads/rtdetr/label_font.h"

namespace rangefinder::rtdetr {
namespace {

constexpr int kFramePixels = 2;
constexpr int kTextScale = 2;
constexpr int kTextMargin = 2;
constexpr Colour kTextColour{255, 255, 255};

/// Columns [left, right) of rows [top, bottom), clipped to the image.
struct Area {
  int left;
  int top;
  int right;
  int bottom;
};

void fill(Image& image, const Area& area, const Colour& colour) {
  for (int y = std::max(area.top, 0); y < std::min(area.bottom, image.height); ++y) {
    for (int x = std::max(area.left, 0); x < std::min(area.right, image.width); ++x) {
      const auto at = (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                       static_cast<std::size_t>(x)) *
                      colour.size();
      std::copy(colour.begin(), colour.end(), image.pixels.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
}

/// Rounds a coordinate to a pixel. Far outside stays outside without overflow; NaN is 0.
int pixel(float coordinate, int size) {
  if (std::isnan(coordinate)) return 0;
  const float limit = static_cast<float>(size) + 2 * kFramePixels;
  return static_cast<int>(std::lround(std::clamp(coordinate, -limit, limit)));
}

void draw_frame(Image& image, const Area& box, const Colour& colour) {
  fill(image, {box.left, box.top, box.right, box.top + kFramePixels}, colour);
  fill(image, {box.left, box.bottom - kFramePixels, box.right, box.bottom}, colour);
  fill(image, {box.left, box.top, box.left + kFramePixels, box.bottom}, colour);
  fill(image, {box.right - kFramePixels, box.top, box.right, box.bottom}, colour);
}

void draw_text(Image& image, int left, int top, const std::string& text) {
  for (const char character : text) {
    const GlyphRows& rows = glyph_of(character);
    for (int y = 0; y < kGlyphHeight; ++y)
      for (int x = 0; x < kGlyphWidth; ++x)
        if ((rows[static_cast<std::size_t>(y)] >> (kGlyphWidth - 1 - x) & 1) != 0)
          fill(image,
               {left + x * kTextScale, top + y * kTextScale, left + (x + 1) * kTextScale,
                top + (y + 1) * kTextScale},
               kTextColour);
    left += (kGlyphWidth + 1) * kTextScale;
  }
}

/// Above the box, or inside at the top of the image.
void draw_label(Image& image, const Area& box, const std::string& text, const Colour& colour) {
  const int height = kGlyphHeight * kTextScale + 2 * kTextMargin;
  const int width = static_cast<int>(text.size()) * (kGlyphWidth + 1) * kTextScale + 2 * kTextMargin;
  const int top = std::max(box.top - height, 0);
  const int left = std::clamp(box.left, 0, std::max(image.width - width, 0));
  fill(image, {left, top, left + width, top + height}, colour);
  draw_text(image, left + kTextMargin, top + kTextMargin, text);
}

}  // namespace

Colour label_colour(int label) {
  // Steps of the golden angle give adjacent labels distinct colours; dark enough for white text.
  constexpr double kGoldenAngle = 2.399963229728653;
  constexpr double kThird = 2.0943951023931953;
  Colour colour{};
  for (std::size_t i = 0; i < colour.size(); ++i)
    colour[i] = static_cast<std::uint8_t>(
        std::lround(95 + 85 * std::cos(label * kGoldenAngle + static_cast<double>(i) * kThird)));
  return colour;
}

void draw_detections(Image& image, std::span<const kernels::Detection> detections, int labels) {
  // Draws the best last, so that nothing covers it.
  for (auto one = detections.rbegin(); one != detections.rend(); ++one) {
    const Area box{pixel(one->left, image.width), pixel(one->top, image.height),
                   pixel(one->right, image.width), pixel(one->bottom, image.height)};
    const Colour colour = label_colour(one->label);
    draw_frame(image, box, colour);
    const int percent = static_cast<int>(std::lround(100 * std::clamp(one->score, 0.0F, 1.0F)));
    draw_label(image, box, label_name(one->label, labels) + " " + std::to_string(percent) + "%", colour);
  }
}

}  // namespace rangefinder::rtdetr
