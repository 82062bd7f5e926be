// SPDX-License-Identifier: Apache-2.0
//
// Runs a section of a report over a trace, and gives access to its cells by key.
//
//   SectionRun run("memcpy", recorded("copy_storm"));
//   run.check("memcpy", {{"kind", "HtoD"}}, {{"bytes", 4096}, {"src", "pinned"}})
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/analysis/queries/expected.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/report/section_reading.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder::test {

/// Folder of a run that was recorded on an H200 (tests/replay/).
inline std::filesystem::path recorded(const std::string& name) {
  return std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / name;
}

/// Plain value of a cell as text; "" if it is empty.
inline std::string plain(const Cell& cell) {
  return cell_text(Cell(cell.value), Unit::text, true);
}

class SectionRun {
 public:
  using Where = std::vector<std::pair<std::string, std::string>>;  // key, plain value

  SectionRun(const std::string& section, const std::filesystem::path& folder, const SectionView& wanted = {},
             const SelectionOptions& selected = {})
      : view(wanted), made(find_section(section, view.check)->make(view)) {
    TraceFolder files = open_trace_folder(folder);
    if (section != "kernel") files.iteration_range = view.name;
    const SectionReadOptions options{.selected = selected, .json = true, .total = view.total};
    reading = std::make_unique<SectionReading>(files, *find_section(section, view.check), *made, options);
    tables = shown_tables(made->tables(input()), &Outputs::markdown, {});
  }

  const Table& table(const std::string& name) const {
    for (const Table& table : tables) {
      if (table.name == name) return table;
    }
    throw std::runtime_error("no table " + name);
  }

  /// The first row in which all of `where` holds; a missing column counts as "".
  std::optional<std::size_t> find(const std::string& name, const Where& where) const {
    const Table& in = table(name);
    for (std::size_t row = 0; row < in.rows.size(); ++row) {
      bool all = true;
      for (const auto& [key, value] : where) all = all && text(name, row, key) == value;
      if (all) return row;
    }
    return std::nullopt;
  }

  std::string text(const std::string& name, std::size_t row, const std::string& key) const {
    const Table& in = table(name);
    for (std::size_t i = 0; i < in.columns.size(); ++i) {
      if (in.columns[i].key == key) return plain(in.rows.at(row).at(i));
    }
    return "";
  }
  std::string text(const std::string& name, const Where& where, const std::string& key) const {
    const auto row = find(name, where);
    return row ? text(name, *row, key) : "(no such row)";
  }
  /// Throws if the cell is empty or not a number.
  double number(const std::string& name, std::size_t row, const std::string& key) const {
    return std::stod(text(name, row, key));
  }
  double number(const std::string& name, const Where& where, const std::string& key) const {
    return std::stod(text(name, where, key));
  }

  /// Checks cells of a row by their keys.
  void check(const std::string& name, std::size_t row, std::initializer_list<Expected> cells) const {
    INFO(name << ", row " << row);
    check_expected(
        cells, [&](const std::string& key) { return number(name, row, key); },
        [&](const std::string& key) { return text(name, row, key); });
  }
  void check(const std::string& name, const Where& where, std::initializer_list<Expected> cells) const {
    INFO(name << ", row with " << where.front().second);
    const auto row = find(name, where);
    REQUIRE(row);
    check(name, *row, cells);
  }

  const TraceTotals& trace() const { return reading->trace; }
  SectionInput input() const { return {reading->trace, *reading->values, view}; }

  /// All tables as text for people.
  std::string shown() const {
    std::string out;
    for (const Table& table : tables) out += render_text(table, {0, false, false});
    return out;
  }

  SectionView view;
  std::unique_ptr<Section> made;
  std::unique_ptr<SectionReading> reading;
  std::vector<Table> tables;
};

/// Writes a trace of these lines, after a header, one GPU and one context.
inline void write_trace(TraceOnDisk& trace, const std::vector<std::string>& lines) {
  trace.lines = {line_of(header()), line_of(gpu()), line_of(ContextRecord{1, 0, 7, false})};
  trace.lines.insert(trace.lines.end(), lines.begin(), lines.end());
  trace.write();
}

/// The section over such a trace.
inline SectionRun run_over(const std::string& section, const std::vector<std::string>& lines,
                           const SectionView& view = {}) {
  TraceOnDisk trace;
  write_trace(trace, lines);
  return SectionRun(section, trace.folder.path(), view);
}

inline LaunchRecord call(const char* api, std::uint32_t correlation, TimeNs start, TimeNs end,
                         std::uint32_t in_path = 0) {
  return {{start, end, 4711, in_path, 0}, api, correlation, 1, 0};
}

inline KernelRecord kernel_on(std::uint32_t stream, std::uint32_t correlation, TimeNs start, TimeNs end,
                              std::uint32_t in_path = 0) {
  KernelRecord out = kernel(correlation, in_path, start, end);
  out.work.stream = stream;
  return out;
}

inline MemcpyRecord copy_on(std::uint32_t stream, std::uint32_t correlation, TimeNs start, TimeNs end,
                            std::uint64_t bytes) {
  return {kernel_on(stream, correlation, start, end).work,
          CopyKind::HtoD,
          MemoryKind::pinned,
          MemoryKind::device,
          bytes,
          true};
}

}  // namespace rangefinder::test
