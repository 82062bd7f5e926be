// SPDX-License-Identifier: Apache-2.0
//
// A text table with aligned columns: the first gets the remaining width, the others are
// right-aligned. If the line is too short, whole columns are omitted, the least important
// first: a wrapped table is worse than a narrow one. omitted_line() lists their titles.
//
//   path                calls   kernels   GPU time
//   model                  50    12,500    48.1 ms
//     backbone             50     6,000    20.3 ms
//
// Standard library only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace rangefinder {

struct TextColumn {
  std::string title;
  int importance = 0;  ///< the lowest is omitted first; kAlwaysShown never
};
inline constexpr int kAlwaysShown = 1'000;

enum class CutSide { front, back };

/// A shorter first column would be unreadable: other columns are omitted first.
inline constexpr std::size_t kMinFirstWidth = 32;

class TextTable {
 public:
  /// `first`: title of the left-aligned column; `side`: the side on which its long texts are cut; `kept`: the
  /// width below which other columns are omitted instead.
  TextTable(std::string first, CutSide side, std::size_t kept = kMinFirstWidth)
      : first_(std::move(first)), side_(side), kept_(kept) {}

  void add_column(std::string title, int importance = kAlwaysShown) {
    columns_.push_back({std::move(title), importance});
  }
  /// One cell for each column; a missing or empty cell stays blank.
  void add_row(std::string first, std::vector<std::string> cells) {
    rows_.push_back({std::move(first), std::move(cells)});
  }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  /// Lines at most `width` columns long (0: no limit), each with a newline.
  /// `emphasis`: texts before and after the title line, as in "\033[1m", "\033[0m".
  [[nodiscard]] std::string render(std::size_t width, const std::string& emphasis_begin = "",
                                   const std::string& emphasis_end = "");
  /// Whether the last render() omitted the column of that title.
  [[nodiscard]] bool omits(const std::string& title) const {
    return std::find(omitted_.begin(), omitted_.end(), title) != omitted_.end();
  }
  /// A line with the titles of the columns that the last render() omitted; "" if none.
  [[nodiscard]] std::string omitted_line() const;

 private:
  struct Row {
    std::string first;
    std::vector<std::string> cells;
  };
  [[nodiscard]] std::vector<std::size_t> column_widths() const;
  [[nodiscard]] std::vector<bool> choose_columns(const std::vector<std::size_t>& widths,
                                                 std::size_t first_width, std::size_t width);
  [[nodiscard]] std::string line(const Row& row, const std::vector<std::size_t>& widths,
                                 const std::vector<bool>& shown, std::size_t first_width) const;

  std::string first_;
  CutSide side_;
  std::size_t kept_;
  std::vector<TextColumn> columns_;
  std::vector<Row> rows_;
  std::vector<std::string> omitted_;
};

}  // namespace rangefinder
