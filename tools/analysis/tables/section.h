// SPDX-License-Identifier: Apache-2.0
//
// A part of a report: one question asked of a trace, one file.
//
//   report.cpp ─▶ find_section("memcpy")->make() ─▶ Section      (sections/section_kinds.h)
//   load_trace(…, section) ─▶ line() for every selected line, once, in file order
//                          ─▶ tables(input) ─▶ text, JSON, CSV, Markdown (table_render.h)
//
// A section keeps what grows with paths, names, streams and threads, not with lines, except
// where it says why. What totals of paths and kernels answer is in SectionInput::trace already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/read/line_observer.h"
#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/tables/row_values.h"
#include "tools/analysis/tables/table_render.h"

namespace rangefinder {

/// What the user asked for, beyond which lines are looked at (selection.h).
struct SectionView {
  std::uint64_t top = 0;      ///< rows; 0: all
  std::uint32_t depth = 0;    ///< deepest level of paths; 0: all
  std::string sort;           ///< key of a column; empty: the section's own order
  bool flat = false;          ///< full paths instead of a tree
  std::string name;           ///< section `kernel`: which; section `iterations`: glob of the range, or empty
  bool kernels_only = false;  ///< --kernel is in use: launches without a selected kernel do not count
};

struct SectionInput {
  const TraceTotals& trace;
  const RowValues& values;
  const SectionView& view;
};

class Section : public LineObserver {
 public:
  /// After the last line. The first table is the section's main one; rows in the section's own order.
  [[nodiscard]] virtual std::vector<Table> tables(const SectionInput& input) = 0;
  /// What people read: the tables, arranged as asked for, unless the section has a better form.
  [[nodiscard]] virtual std::string text(const SectionInput& input, const TextStyle& style);
  /// What `--json` holds of it: each table's rows under its name, unless the section knows better.
  [[nodiscard]] virtual nlohmann::ordered_json json(const SectionInput& input);
  /// What `--csv` holds of it; the same tables, unless people and programs need different ones.
  [[nodiscard]] virtual std::vector<Table> plain_tables(const SectionInput& input) { return tables(input); }
  /// Keys that `--sort` takes; empty: those of the main table's columns.
  [[nodiscard]] virtual std::vector<std::string> sort_keys() const { return {}; }
};

/// --sort on tables whose order is not part of what they say, and --top; not on those that are arranged.
void arrange(std::vector<Table>& tables, const SectionView& view);

}  // namespace rangefinder
