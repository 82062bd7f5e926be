// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them: three digits and a unit, thousands separated.
//
//   4812 ─▶ "4,812"    48120000 ns ─▶ "48.1 ms"    8589934592 B ─▶ "8.59 GB"
//
// Bytes are decimal (1 GB = 10^9 B), like memory bandwidth. Standard library only:
// the injected library formats its report with this too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rangefinder {

[[nodiscard]] std::string count_text(std::uint64_t n);
[[nodiscard]] std::string duration_text(std::uint64_t ns);
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// `bytes_per_s` as "3,912 GB/s", always in GB/s so that rows compare.
[[nodiscard]] std::string rate_text(double bytes_per_s);
/// 0.123 as "12.3 %".
[[nodiscard]] std::string percent_text(double part);
/// An error of `percent`: "0.42 %", "54 %", ">999 %".
[[nodiscard]] std::string error_text(double percent);
/// Three significant digits: 4.81, 48.1, 481, 4,812.
[[nodiscard]] std::string three_digits(double value);
/// 1.5 as "1.50x".
[[nodiscard]] std::string factor_text(double factor);

/// A version as CUDA numbers it: 13000 as "13.0".
[[nodiscard]] std::string cuda_version_text(std::int32_t version);

/// "1 kernel", "4,812 kernels".
[[nodiscard]] std::string counted_text(std::uint64_t n, std::string_view singular, std::string_view plural);

/// `text` safe for a terminal: control characters become '?'.
[[nodiscard]] std::string printable(std::string_view text);
/// As a word of a POSIX shell: in single quotes if it has other characters than those of most paths.
[[nodiscard]] std::string quoted_for_shell(const std::string& text);
/// Width of `text` in columns, counted as code points.
[[nodiscard]] std::size_t text_width(std::string_view text);
/// `text` in lines of at most `width` columns (0: one line), broken at spaces; each begins with `indent` and
/// ends with a newline. "" for a text without words.
[[nodiscard]] std::string wrapped_text(std::string_view text, std::size_t width,
                                       const std::string& indent = {});
/// Each line of `text` wrapped, if it is longer than `width` columns (0: none is). Others stay as they are.
[[nodiscard]] std::string wrapped_lines(std::string_view text, std::size_t width);
/// At most `width` columns, the front replaced by "…". For paths, whose end matters most.
[[nodiscard]] std::string cut_front(std::string_view text, std::size_t width);
/// At most `width` columns, the end replaced by "…".
[[nodiscard]] std::string cut_back(std::string_view text, std::size_t width);

}  // namespace rangefinder
