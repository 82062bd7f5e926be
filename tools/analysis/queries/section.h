// SPDX-License-Identifier: Apache-2.0
//
// A section of a report: one question about a trace, one .cpp file.
//
//   find_section("memcpy") ─▶ SectionKind: columns, make()     (report/section_kinds.h)
//   SectionReading ─▶ read(): add() for every chunk of the trace, in file order
//                  ─▶ tables(input) ─▶ text, JSON, CSV, Markdown (table_render.h)
//
// A section's memory grows with paths, names, streams and threads, not with rows; an exception states its
// reason. Totals of paths and kernels are already in SectionInput::trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/row_values.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

class Iterations;

/// The options of a section; selection.h has those that select lines.
struct SectionView {
  std::uint64_t top = 0;      ///< rows; 0: all
  std::uint32_t depth = 0;    ///< deepest level of paths; 0: all
  std::string sort;           ///< key of a column; empty: the section's own order
  bool flat = false;          ///< full paths instead of a tree
  bool all = false;           ///< `findings`: also what happens only in set-up and warm-up
  bool fit = false;           ///< `modules`: also the lines of time over bytes
  bool total = false;         ///< `modules`: one row, the sum of the paths that `range` selects
  std::string range;          ///< --range: glob over paths; empty: all
  bool layers = false;        ///< `modules`: also forward and backward pass of each layer, if there are any
  bool check = false;         ///< `graphs`: the check for captures in place of the section
  std::string name;           ///< `kernel`: the kernel; `iterations`: glob of the range, or empty
  bool kernels_only = false;  ///< --kernel is in use: launches without a selected kernel do not count
};

struct SectionInput {
  const TraceTotals& trace;
  const RowValues& values;
  const SectionView& view;
  /// From Section::counted_from() on; nullptr: the rows are of the whole trace.
  const TracePart* counted = nullptr;
};

class Section {
 public:
  Section() = default;
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  virtual ~Section() = default;

  /// Called first, if the section wants iterations (SectionKind::iterations).
  virtual void start(const Iterations&) {}
  /// By default passes each chunk to add(), then calls finish().
  virtual void read(const EachRows& each);
  virtual void add(const SelectedRows&) {}
  virtual void finish() {}
  /// True: --range is applied to the rows of tables, not to what add() gets, as where other paths' work
  /// decides whether a GPU is idle.
  [[nodiscard]] virtual bool reads_all_ranges() const { return false; }
  /// After finish(): the iteration with which the rows for people begin; nullopt: they are of the whole run.
  [[nodiscard]] virtual std::optional<std::size_t> counted_from() const { return {}; }
  /// Called after finish(). The first table is the main one. Rows are in the section's own order.
  [[nodiscard]] virtual std::vector<Table> tables(const SectionInput& input) = 0;
  /// The report text; by default the tables for it.
  [[nodiscard]] virtual std::string text(const SectionInput& input, const TextStyle& style);
  /// Behind everything else: what to do next.
  [[nodiscard]] virtual std::string ending(const SectionInput&, const TextStyle&) { return {}; }
  /// Before the tables of `--md`.
  [[nodiscard]] virtual std::string markdown_head(const SectionInput&) { return {}; }
  /// The value for `--json`; by default each table's rows under its name.
  [[nodiscard]] virtual nlohmann::ordered_json json(const SectionInput& input);
  /// Whether a check failed. Call it after tables().
  [[nodiscard]] virtual bool fails() const { return false; }
  /// Valid values of `--sort`; empty: the keys of the main table's columns.
  [[nodiscard]] virtual std::vector<std::string> sort_keys() const { return {}; }
};

/// A section of `report`. Each is declared once, beside its class.
struct SectionKind {
  std::string_view name;   ///< the value of --section
  std::string_view about;  ///< one line
  std::unique_ptr<Section> (*make)(const SectionView&);
  Columns columns = {};  ///< what add() reads
  /// The section shows bytes: SectionInput::values needs sampled bytes, which need a second pass over the
  /// trace. If false, the values have exact bytes only.
  bool samples = false;
  /// start() needs the iterations: the trace is read before add().
  bool iterations = false;
};
/// kTotalSection: `modules` with SectionView::total.
extern const SectionKind kModulesSection, kTotalSection, kLayersSection, kKernelsSection, kKernelSection,
    kMetricsSection, kRooflineSection, kMemcpySection, kMemorySection, kLaunchesSection, kSyncSection,
    kStreamsSection, kGpuSection, kCommunicationSection, kIdleSection, kStacksSection, kIterationsSection,
    kGraphsSection, kMonitorSection, kConditionsSection, kOverheadSection, kLossSection;

template <typename Made>
[[nodiscard]] std::unique_ptr<Section> make_section([[maybe_unused]] const SectionView& view) {
  if constexpr (std::is_constructible_v<Made, const SectionView&>)
    return std::make_unique<Made>(view);
  else
    return std::make_unique<Made>();
}

/// Arranged, as text, with an empty line between.
[[nodiscard]] std::string render_tables(std::vector<Table> tables, const SectionView& view,
                                        const TextStyle& style);

/// Those that an output shows, with the columns that it shows, arranged.
[[nodiscard]] std::vector<Table> shown_tables(std::vector<Table> tables, bool Outputs::*in,
                                              const SectionView& view);

/// Those that `--csv` shows, with Table::records as rows.
[[nodiscard]] std::vector<Table> csv_tables(std::vector<Table> tables, const SectionView& view);

/// Applies --sort to sortable tables, and --top to all; skips tables that are already arranged.
void arrange(std::vector<Table>& tables, const SectionView& view);

}  // namespace rangefinder
