// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/python_lines.h"

#include <cstdint>
#include <vector>

#include "tests/catch.h"

namespace rangefinder {
namespace {

struct Lines {
  std::uint8_t minor;
  std::int32_t first_line;
  std::vector<std::uint8_t> table;
  /// {first position, line}, up to the next one; line 0: none. The last is the end of the instructions.
  std::vector<std::pair<std::int32_t, std::uint32_t>> runs;
};

// One function with a loop, a call over two lines and a handler, compiled by each version, and what its
// co_lines() says (3.9: dis.findlinestarts()).
const std::vector<Lines> kCompiled{
    {9,
     300,
     {0, 1, 4, 1, 12, 1, 8, 1, 10, 3, 4, 1, 2, 255, 8, 2, 2, 1, 12, 1, 12, 1, 24, 6},
     {{0, 301},
      {4, 302},
      {16, 303},
      {24, 304},
      {34, 307},
      {38, 308},
      {40, 307},
      {48, 309},
      {50, 310},
      {62, 311},
      {74, 312},
      {98, 318},
      {102, 0}}},
    {10,
     300,
     {4, 1, 12, 1, 8, 1, 10, 1, 4, 3, 2, 1, 8, 255, 2, 2, 10, 1, 4, 8, 12, 249, 20, 1, 4, 6, 2, 249},
     {{0, 301},
      {4, 302},
      {16, 303},
      {24, 304},
      {34, 307},
      {38, 308},
      {40, 307},
      {48, 309},
      {50, 310},
      {60, 318},
      {64, 311},
      {76, 312},
      {96, 318},
      {100, 311},
      {102, 0}}},
    {11,
     300,
     {128, 0,   216, 12,  13,  128, 69,  221, 13,  18,  144, 49,  137, 88,  140, 88,  240, 0,   6,   5,
      25,  240, 0,   6,   5,   25,  136, 1,   216, 11,  12,  136, 113, 137, 53,  240, 0,   5,   9,   25,
      216, 12,  17,  144, 81,  137, 74,  136, 69,  136, 69,  240, 6,   0,   13,  18,  144, 97,  216, 22,
      23,  241, 3,   1,   23,  24,  241, 0,   1,   13,  25,  136, 69,  136, 69,  240, 4,   3,   5,   38,
      221, 16,  20,  144, 85,  145, 11,  148, 11,  136, 5,   136, 5,   248, 221, 11,  21,  240, 0,   1,
      5,   38,  240, 0,   1,   5,   38,  240, 0,   1,   5,   38,  216, 16,  37,  208, 16,  37,  157, 69,
      160, 33,  153, 72,  156, 72,  208, 16,  37,  209, 16,  37,  212, 16,  37,  136, 5,   136, 5,   136,
      5,   240, 3,   1,   5,   38,  248, 248, 248, 240, 14,  0,   12,  17,  128, 76},
     {{0, 300},
      {2, 301},
      {6, 302},
      {40, 303},
      {50, 304},
      {62, 307},
      {66, 308},
      {68, 307},
      {80, 309},
      {82, 310},
      {114, 0},
      {116, 311},
      {134, 312},
      {188, 311},
      {190, 0},
      {196, 318},
      {200, 0}}},
    {12,
     300,
     {128, 0,   216, 12,  13,  128, 69,  220, 13,  18,  144, 49,  139, 88,  242, 0,   6,   5,   25,  136,
      1,   216, 11,  12,  136, 113, 138, 53,  216, 12,  17,  144, 81,  137, 74,  137, 69,  240, 6,   0,
      13,  18,  144, 97,  216, 22,  23,  241, 3,   1,   23,  24,  241, 0,   1,   13,  25,  137, 69,  240,
      11,  6,   5,   25,  240, 14,  3,   5,   38,  220, 16,  20,  144, 85,  147, 11,  136, 5,   240, 16,
      0,   12,  17,  128, 76,  248, 244, 15,  0,   12,  22,  242, 0,   1,   5,   38,  220, 28,  33,  160,
      33,  155, 72,  214, 16,  37,  144, 113, 146, 17,  209, 16,  37,  249, 210, 16,  37,  136, 5,   209,
      16,  37,  240, 12,  0,   12,  17,  128, 76,  240, 15,  1,   5,   38,  250},
     {{0, 300},   {2, 301},  {6, 302},   {34, 303},  {44, 304},  {56, 307}, {60, 308},
      {62, 307},  {74, 302}, {76, 309},  {78, 310},  {100, 318}, {104, 0},  {106, 311},
      {122, 312}, {168, 0},  {172, 312}, {184, 318}, {188, 311}, {190, 0},  {196, 0}}},
    {13,
     300,
     {128, 0,   216, 12,  13,  128, 69,  220, 13,  18,  144, 49,  142, 88, 136, 1,  216, 11,  12,
      136, 113, 143, 53,  216, 12,  17,  137, 74,  138, 69,  240, 6,   0,  13,  18, 216, 22,  23,
      241, 3,   1,   23,  24,  241, 0,   1,   13,  25,  138, 69,  241, 11, 0,   14, 22,  240, 14,
      3,   5,   38,  220, 16,  20,  144, 85,  147, 11,  136, 5,   240, 16, 0,   12, 17,  128, 76,
      248, 244, 15,  0,   12,  22,  243, 0,   1,   5,   38,  220, 28,  33, 160, 33, 156, 72,  211,
      16,  37,  153, 72,  144, 113, 146, 17,  154, 72,  249, 210, 16,  37, 136, 5,  208, 16,  37,
      136, 5,   240, 12,  0,   12,  17,  128, 76,  240, 15,  1,   5,   38, 250},
     {{0, 300},   {2, 301},  {6, 302},   {34, 303},  {54, 304},  {66, 307}, {68, 308},
      {70, 307},  {84, 302}, {88, 309},  {90, 310},  {112, 318}, {116, 0},  {118, 311},
      {136, 312}, {184, 0},  {188, 312}, {200, 318}, {204, 311}, {206, 0},  {212, 0}}},
};

TEST_CASE("lines are those that the interpreter states") {
  for (const Lines& code : kCompiled) {
    for (std::size_t i = 0; i + 1 < code.runs.size(); ++i) {
      for (std::int32_t at = code.runs[i].first; at < code.runs[i + 1].first; at += 2) {
        INFO("Python 3." << int{code.minor} << ", position " << at);
        CHECK(python_line(code.minor, code.table, code.first_line, at) == code.runs[i].second);
      }
    }
  }
}

TEST_CASE("a function that has not begun is at its first line") {
  for (const Lines& code : kCompiled) CHECK(python_line(code.minor, code.table, code.first_line, -1) == 300);
}

TEST_CASE("a damaged table has lines or none, and ends") {
  for (const Lines& code : kCompiled) {
    for (std::size_t bytes = 0; bytes < code.table.size(); ++bytes) {
      const std::vector<std::uint8_t> cut(code.table.begin(), code.table.begin() + static_cast<long>(bytes));
      for (const std::int32_t at : {0, 50, 1'000'000, INT32_MAX}) {
        CHECK(python_line(code.minor, cut, code.first_line, at) < 1000);
      }
    }
    const std::vector<std::uint8_t> ones(64, 0xff);
    (void)python_line(code.minor, ones, INT32_MAX, INT32_MAX);
    (void)python_line(code.minor, ones, INT32_MIN, 10);
  }
}

}  // namespace
}  // namespace rangefinder
