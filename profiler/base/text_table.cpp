// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/text_table.h"

#include <algorithm>

#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

constexpr std::size_t kGap = 2;

std::size_t total_width(const std::vector<std::size_t>& widths, const std::vector<bool>& shown) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) sum += shown[i] ? widths[i] + kGap : 0;
  return sum;
}

}  // namespace

std::vector<std::size_t> TextTable::column_widths() const {
  std::vector<std::size_t> widths;
  for (const TextColumn& column : columns_) widths.push_back(text_width(column.title));
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < std::min(widths.size(), row.cells.size()); ++i) {
      widths[i] = std::max(widths[i], text_width(row.cells[i]));
    }
  }
  return widths;
}

std::vector<bool> TextTable::choose_columns(const std::vector<std::size_t>& widths, std::size_t first_width,
                                            std::size_t width) {
  std::vector<bool> shown(columns_.size(), true);
  omitted_.clear();
  const std::size_t first_needed = std::min(first_width, kept_);
  while (width != 0 && first_needed + total_width(widths, shown) > width) {
    std::size_t least = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool candidate = shown[i] && columns_[i].importance < kAlwaysShown;
      if (candidate && (least == columns_.size() || columns_[i].importance < columns_[least].importance))
        least = i;
    }
    if (least == columns_.size()) break;
    shown[least] = false;
    omitted_.push_back(columns_[least].title);
  }
  return shown;
}

std::string TextTable::line(const Row& row, const std::vector<std::size_t>& widths,
                            const std::vector<bool>& shown, std::size_t first_width) const {
  std::string out =
      side_ == CutSide::front ? cut_front(row.first, first_width) : cut_back(row.first, first_width);
  std::size_t wanted = first_width;
  std::size_t have = text_width(out);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!shown[i]) continue;
    wanted += kGap + widths[i];
    if (i >= row.cells.size() || row.cells[i].empty()) continue;
    const std::size_t cell = text_width(row.cells[i]);
    out.append(wanted - cell - have, ' ');
    out += row.cells[i];
    have = wanted;
  }
  return out;
}

std::string TextTable::omitted_line() const {
  if (omitted_.empty()) return {};
  std::string line = "Omitted for lack of width (--wide shows all): ";
  for (const std::string& title : omitted_) line += (&title == omitted_.data() ? "" : "; ") + title;
  return line + "\n";
}

std::string TextTable::render(std::size_t width, const std::string& emphasis_begin,
                              const std::string& emphasis_end) {
  const std::vector<std::size_t> widths = column_widths();
  std::size_t first_width = text_width(first_);
  for (const Row& row : rows_) first_width = std::max(first_width, text_width(row.first));
  const std::vector<bool> shown = choose_columns(widths, first_width, width);
  if (width != 0) {
    const std::size_t others = total_width(widths, shown);
    const std::size_t room = width > others ? width - others : 0;
    first_width = std::min(first_width, std::max(room, std::size_t{12}));
  }

  Row titles{first_, {}};
  for (const TextColumn& column : columns_) titles.cells.push_back(column.title);
  std::string out = emphasis_begin + line(titles, widths, shown, first_width) + emphasis_end + "\n";
  for (const Row& row : rows_) out += line(row, widths, shown, first_width) + "\n";
  return out;
}

}  // namespace rangefinder
