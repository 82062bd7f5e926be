// SPDX-License-Identifier: Apache-2.0
//
// Characters of 5 x 7 pixels for the names beside the boxes. An unknown character is drawn as a frame.
#pragma once

#include <array>
#include <cstdint>

namespace rangefinder::rtdetr {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 7;

/// Top row first; bit 4 is the leftmost pixel.
using GlyphRows = std::array<std::uint8_t, kGlyphHeight>;

const GlyphRows& glyph_of(char character);

}  // namespace rangefinder::rtdetr
