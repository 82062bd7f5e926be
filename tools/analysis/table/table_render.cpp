// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/table/table_render.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_map>

#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename Number>
std::string plain(Number value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string plain_text(const CellValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using Value = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<Value, std::monostate>)
          return "";
        else if constexpr (std::is_same_v<Value, std::string>)
          return v;
        else if constexpr (std::is_same_v<Value, bool>)
          return v ? "yes" : "no";
        else
          return plain(v);
      },
      value);
}

/// Human units for a value that is not negative.
std::string positive_text(double value, Unit unit) {
  const auto whole = [value] { return static_cast<std::uint64_t>(std::llround(value)); };
  switch (unit) {
    case Unit::count:
      return count_text(whole());
    case Unit::ns:
      return duration_text(whole());
    case Unit::bytes:
      return bytes_text(whole());
    case Unit::bytes_per_s:
      return rate_text(value);
    case Unit::share:
      return percent_text(value);
    case Unit::percent:
      return percent_text(value / 100);
    case Unit::factor:
      return factor_text(value);
    case Unit::number:
      return three_digits(value);
    case Unit::text:
      break;
  }
  return plain(value);
}

std::string human_text(const CellValue& value, Unit unit) {
  double number = 0;
  if (const auto* const n = std::get_if<std::uint64_t>(&value))
    number = static_cast<double>(*n);
  else if (const auto* const i = std::get_if<std::int64_t>(&value))
    number = static_cast<double>(*i);
  else if (const auto* const d = std::get_if<double>(&value))
    number = *d;
  else
    return plain_text(value);
  if (!std::isfinite(number)) return "";
  return number < 0 ? "-" + positive_text(-number, unit) : positive_text(number, unit);
}

/// The colour of a row: by its verdict, or dim below 1 % of the time. "": none.
const char* row_colour(const Table& table, const std::vector<Cell>& row) {
  constexpr std::array<std::string_view, 3> kBad{"worse", "slower", "more"};
  constexpr std::array<std::string_view, 4> kGood{"better", "faster", "less", "fewer"};
  constexpr double kSmallShare = 0.01;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string& key = table.columns[i].key;
    const auto* const text = std::get_if<std::string>(&row[i].value);
    const auto is_text = [text](std::string_view one) { return *text == one; };
    if (key == "verdict" && text != nullptr) {
      if (std::any_of(kBad.begin(), kBad.end(), is_text)) return "\033[31m";
      if (std::any_of(kGood.begin(), kGood.end(), is_text)) return "\033[32m";
    }
    const auto* const share = std::get_if<double>(&row[i].value);
    if (key == "share" && share != nullptr && *share < kSmallShare) return "\033[2m";
  }
  return "";
}

/// The lines of `text`, the first of which has the titles and each other a row, in the rows' colours.
std::string coloured_rows(const Table& table, const std::string& text) {
  std::size_t begin = text.find('\n') + 1;
  std::string out = text.substr(0, begin);
  for (const std::vector<Cell>& row : table.rows) {
    const std::size_t end = text.find('\n', begin);
    const std::string colour = row_colour(table, row);
    out += colour + text.substr(begin, end - begin) + (colour.empty() ? "" : "\033[0m") + "\n";
    begin = end + 1;
  }
  return out;
}

/// "calls: ranges; kernels: launched kernels" of the columns that `text` shows.
std::string explanation(const Table& table, const TextTable& text, std::size_t width) {
  std::string out;
  for (const TableColumn& column : table.columns) {
    if (column.about.empty() || text.omits(column.title)) continue;
    out += (out.empty() ? "" : "; ") + column.title + ": " + column.about;
  }
  return wrapped_text(out, width);
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '<' || c == '`' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

/// Replaces leading spaces by em spaces: they show the level, and Markdown would drop them.
std::string markdown_indent(const std::string& text) {
  const std::size_t spaces = text.find_first_not_of(' ');
  if (spaces == std::string::npos || spaces == 0) return markdown_cell(text);
  std::string out;
  for (std::size_t i = 0; i < spaces; i += 2) out += "&emsp;";
  return out + markdown_cell(text.substr(spaces));
}

void flatten(const std::string& prefix, const OrderedJson& value,
             std::vector<std::pair<std::string, Cell>>& out) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      flatten(prefix.empty() ? key : prefix + "." + key, member, out);
    }
  } else if (value.is_array()) {
    std::string joined;
    for (const OrderedJson& item : value) {
      joined += (joined.empty() ? "" : ";") + (item.is_string() ? item.get<std::string>() : item.dump());
    }
    out.emplace_back(prefix, CellValue(std::move(joined)));
  } else if (value.is_string()) {
    out.emplace_back(prefix, CellValue(value.get<std::string>()));
  } else if (value.is_boolean()) {
    out.emplace_back(prefix, CellValue(value.get<bool>()));
  } else if (value.is_number_unsigned()) {
    out.emplace_back(prefix, CellValue(value.get<std::uint64_t>()));
  } else if (value.is_number_integer()) {
    out.emplace_back(prefix, CellValue(value.get<std::int64_t>()));
  } else if (value.is_number()) {
    out.emplace_back(prefix, CellValue(value.get<double>()));
  }
}

/// An integer, or six significant digits: more are noise.
std::string raw_text(const CellValue& value) {
  const double* const number = std::get_if<double>(&value);
  if (number == nullptr || !std::isfinite(*number)) return plain_text(value);
  char text[352];
  const bool large = std::abs(*number) >= 99'999.95 || *number == std::trunc(*number);
  const auto end = large ? std::to_chars(text, text + sizeof text, *number, std::chars_format::fixed, 0)
                         : std::to_chars(text, text + sizeof text, *number, std::chars_format::general, 6);
  return {text, end.ptr};
}

}  // namespace

std::string cell_text(const Cell& cell, Unit unit, bool raw) {
  if (!cell.shown.empty()) return printable(cell.shown.text());
  if (cell.empty()) return "";
  return printable(raw ? raw_text(cell.value) : human_text(cell.value, unit) + cell.sign.text());
}

std::string render_text(const Table& table, const TextStyle& style) {
  std::string out = table.title.empty() ? "" : table.title + "\n";
  if (table.rows.empty() || table.columns.empty()) {
    if (!table.empty.empty()) return out + table.empty + "\n";
    return table.columns.empty() && !table.remarks.empty() ? out + wrapped_lines(table.remarks, style.width)
                                                           : "";
  }
  TextTable text(table.columns.front().title, table.cut, table.min_first_width);
  for (std::size_t i = 1; i < table.columns.size(); ++i) {
    text.add_column(table.columns[i].title, table.columns[i].importance);
  }
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 1; i < row.size(); ++i) {
      cells.push_back(cell_text(row[i], table.columns[i].unit, style.raw));
    }
    text.add_row(cell_text(row.front(), table.columns.front().unit, style.raw), std::move(cells));
  }
  const std::string lines =
      text.render(style.width, style.colour ? "\033[1m" : "", style.colour ? "\033[0m" : "");
  out += style.colour ? coloured_rows(table, lines) : lines;
  out += wrapped_lines(table.remarks, style.width);
  if (style.explain) out += explanation(table, text, style.width);
  return out + wrapped_text(text.omitted_line(), style.width);
}

std::string render_markdown(const Table& table, bool raw) {
  std::string out = table.title.empty() ? "" : "**" + markdown_cell(table.title) + "**\n\n";
  if (table.rows.empty() || table.columns.empty()) return table.empty.empty() ? "" : out + table.empty + "\n";
  std::string rule = "|";
  out += "|";
  for (const TableColumn& column : table.columns) {
    out += " " + markdown_cell(column.title) + " |";
    rule += column.unit == Unit::text ? "---|" : "---:|";
  }
  out += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += " " + markdown_indent(cell_text(row[i], table.columns[i].unit, raw)) + " |";
    }
    out += "\n";
  }
  return table.remarks.empty() ? out : out + "\n" + table.remarks;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos &&
      (text.empty() || std::string_view("=+-@\t ").find(text.front()) == std::string_view::npos)) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string render_csv(const Table& table) {
  std::string out;
  for (const TableColumn& column : table.columns) out += (out.empty() ? "" : ",") + csv_field(column.key);
  out += "\r\n";
  for (const auto& row : table.rows) {
    const char* separator = "";
    for (const Cell& cell : row) {
      const bool text = std::holds_alternative<std::string>(cell.value);
      out += separator + (text ? csv_field(plain_text(cell.value)) : plain_text(cell.value));
      separator = ",";
    }
    out += "\r\n";
  }
  return out;
}

OrderedJson render_rows(const Table& table) {
  if (table.records != nullptr) return *table.records;
  OrderedJson out = OrderedJson::array();
  for (const auto& row : table.rows) {
    OrderedJson object = OrderedJson::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::visit(
          [&](const auto& v) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
              object[table.columns[i].key] = v;
            }
          },
          row[i].value);
    }
    out.push_back(std::move(object));
  }
  return out;
}

Table table_of_rows(std::string name, const OrderedJson& rows) {
  Table out;
  out.name = std::move(name);
  std::unordered_map<std::string, std::size_t> positions;
  std::vector<std::vector<std::pair<std::string, Cell>>> flat;
  for (const OrderedJson& row : rows) {
    flatten("", row, flat.emplace_back());
    for (const auto& [key, cell] : flat.back()) {
      if (positions.emplace(key, out.columns.size()).second) out.columns.push_back({key, key, Unit::text});
    }
  }
  for (auto& row : flat) {
    std::vector<Cell> cells(out.columns.size());
    for (auto& [key, cell] : row) cells[positions.at(key)] = std::move(cell);
    out.add(std::move(cells));
  }
  return out;
}

}  // namespace rangefinder
