// SPDX-License-Identifier: Apache-2.0
#include "profiler/stacks/python_lines.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr std::int32_t kUnitBytes = 2;

std::uint32_t line_number(std::int64_t line) noexcept {
  return line > 0 && line <= INT32_MAX ? static_cast<std::uint32_t>(line) : 0;
}

/// Until 3.9: a pair applies to what follows it.
std::uint32_t pairs_before(std::span<const std::uint8_t> table, std::int64_t line,
                           std::int32_t position) noexcept {
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    at += table[i];
    if (at > position) break;
    line += static_cast<std::int8_t>(table[i + 1]);
  }
  return line_number(line);
}

/// 3.10: a pair applies to the bytes that it counts.
std::uint32_t pairs_of(std::span<const std::uint8_t> table, std::int64_t line,
                       std::int32_t position) noexcept {
  constexpr std::int8_t kNoLine = -128;
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto lines = static_cast<std::int8_t>(table[i + 1]);
    if (lines != kNoLine) line += lines;
    at += table[i];
    if (at > position) return lines == kNoLine ? 0 : line_number(line);
  }
  return 0;
}

/// Reads the table of 3.11 and later. A byte with the highest bit set begins an entry.
class Locations {
 public:
  explicit Locations(std::span<const std::uint8_t> table) noexcept : left_(table) {}

  [[nodiscard]] std::uint32_t line_at(std::int64_t line, std::int32_t position) noexcept {
    std::int64_t at = 0;
    while (!left_.empty()) {
      const std::uint8_t first = take();
      const unsigned code = first >> 3 & 15;
      const bool has_line = code != kNoLocation;
      line += line_change(code);
      at += ((first & 7) + 1) * kUnitBytes;
      while (!left_.empty() && (left_.front() & 0x80) == 0) (void)take();  // columns
      if (at > position) return has_line ? line_number(line) : 0;
    }
    return 0;
  }

 private:
  static constexpr unsigned kOneLine = 10, kOneLineLast = 12, kNoColumns = 13, kLong = 14, kNoLocation = 15;

  std::uint8_t take() noexcept {
    const std::uint8_t byte = left_.front();
    left_ = left_.subspan(1);
    return byte;
  }
  std::int64_t line_change(unsigned code) noexcept {
    if (code == kNoColumns || code == kLong) return signed_number();
    return code >= kOneLine && code <= kOneLineLast ? static_cast<std::int64_t>(code - kOneLine) : 0;
  }
  /// Enough for a line and its sign; the sum over a damaged table of 64 KiB does not overflow.
  static constexpr unsigned kMaxBits = 36;
  /// Six bits a byte, the lowest first; the lowest of all is the sign.
  std::int64_t signed_number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !left_.empty() && shift < kMaxBits; shift += 6) {
      const std::uint8_t byte = take();
      value |= std::uint64_t{byte & 63u} << shift;
      if ((byte & 64) == 0) break;
    }
    const auto half = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

  std::span<const std::uint8_t> left_;
};

}  // namespace

std::uint32_t python_line(std::uint8_t minor, std::span<const std::uint8_t> table, std::int32_t first_line,
                          std::int32_t position) noexcept {
  constexpr std::uint8_t kOfPairs = 10, kBeforePairs = 9;
  if (position < 0) return line_number(first_line);  // the function has not begun
  if (minor <= kBeforePairs) return pairs_before(table, first_line, position);
  if (minor == kOfPairs) return pairs_of(table, first_line, position);
  return Locations(table).line_at(first_line, position);
}

}  // namespace rangefinder
