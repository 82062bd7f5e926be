// SPDX-License-Identifier: Apache-2.0
//
// `--section modules --total`: the paths that --range selects, as one row.
//
//   --range '**/attention/**' --total
//     step/forward/layers/0/attention, …/qkv, …/scores   ─┐ outermost selected paths: disjoint, so each
//     kernel step/backward/layers/0/attention, …                ─┴▶ counts once, however many patterns or
//     levels match
//
// The row has only what the pattern selects, so totals of disjoint patterns add up. GPU time is split into
// the passes of a training by the names of paths (layer_table.h). A pattern that selects a module's forward
// pass and not its backward pass gets a remark. Values of an iteration are means over those after the
// warm-up.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/layer_table.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

using PathSet = std::unordered_set<std::uint32_t>;

/// GPU time by pass of a training.
struct Passes {
  Passes(const TraceTotals& trace, const std::vector<PathTotals>& selected) {
    const std::vector<PathTotals> all = trace.totals.paths();
    PathSet forward;
    for (const PathTotals& row : all) {
      any |= in_backward(trace, row.path);
      if (row.path != 0 && trace.own_name(row.path) == "forward") forward.insert(row.path);
    }
    if (!any) return;
    PathSet counted;
    for (const Layer& layer : joined_layers(trace)) {  // parents come first
      forward.insert(layer.forward.path);
      const bool selected_alone = layer.backward && !trace.shows(layer.backward->path);
      if (!selected_alone || is_within(trace, counted, layer.forward.path)) continue;
      counted.insert(layer.forward.path);
      unselected_ns += layer.backward->gpu_ns;
    }
    for (const PathTotals& row : selected) {
      const std::uint64_t ns = row.gpu_ns_exclusive;
      if (in_backward(trace, row.path)) {
        backward_ns += ns;
      } else {
        (is_within(trace, forward, row.path) ? forward_ns : other_ns) += ns;
      }
    }
  }

  bool any = false;  ///< a path of the trace, selected or not, is in a backward pass
  std::uint64_t forward_ns = 0, backward_ns = 0, other_ns = 0;
  std::uint64_t unselected_ns = 0;  ///< backward pass of modules of which only the forward pass is selected
};

/// The selected paths as one.
struct SelectedTotal {
  SelectedTotal(const TraceTotals& trace, const RowValues& values) : rows(trace.rows()), passes(trace, rows) {
    PathSet counted;
    std::uint64_t backward_calls = 0;
    // Then a launch without a record had no kernel to run: a graph whose conditional nodes were not taken.
    const bool all_recorded =
        trace.end.has_value() && trace.loss[static_cast<std::size_t>(Loss::launch_without_record)] == 0;
    for (const PathTotals& row : rows) {  // parents come first
      if (row.path == 0 && trace.in_range) continue;
      if (row.path != 0) ++paths;
      const bool inner = is_within(trace, counted, row.path);
      counted.insert(row.path);
      if (inner) continue;
      (in_backward(trace, row.path) ? backward_calls : calls) += row.calls;
      kernels += row.kernels;
      gpu_ns += row.gpu_ns;
      timed &= row.has_gpu_time() || (all_recorded && row.kernels == 0 && row.graphs == 0);
      bytes.add(row, values);
    }
    if (calls == 0) calls = backward_calls;
  }

  std::vector<PathTotals> rows;
  Passes passes;
  std::uint64_t paths = 0, calls = 0, kernels = 0, gpu_ns = 0;
  bool timed = true;
  SummedBytes bytes;
};

/// Sums over the iterations after the warm-up.
struct OfIterations {
  std::uint64_t count = 0, kernels = 0, gpu_ns = 0, all_gpu_ns = 0, dram_bytes = 0;
  bool bytes = true;  ///< exact bytes of each selected launch

  void add(const IterationTotals& selected, const IterationTotals& all) {
    ++count;
    kernels += selected.kernels;
    gpu_ns += selected.gpu_ns;
    all_gpu_ns += all.gpu_ns;
    dram_bytes += selected.dram_read_bytes + selected.dram_write_bytes;
    bytes &= selected.measured != 0 && selected.unmeasured == 0;
  }
  /// Mean of an iteration.
  [[nodiscard]] Cell mean(std::uint64_t sum) const {
    return count == 0 ? Cell() : number_cell((sum + count / 2) / count);
  }
};

class TotalSection final : public Section {
 public:
  explicit TotalSection(const SectionView& view) : range_(view.range) {}

  void start(const Iterations& iterations) override {
    selected_.begin(iterations);
    all_.begin(iterations);
  }
  void add(const SelectedRows& rows) override {
    all_.add(rows);
    selected_.add(rows.in_range());
  }
  void finish() override { all_.finish(); }
  /// An iteration's GPU time is that of all paths.
  [[nodiscard]] bool reads_all_ranges() const override { return true; }

  std::vector<Table> tables(const SectionInput& input) override {
    const SelectedTotal total(input.trace, input.values);
    const OfIterations each = of_iterations();
    Table table;
    table.name = "total";
    table.arranged = true;
    table.columns = {{"range", "range", Unit::text},
                     {"paths", "paths", Unit::count, 40},
                     {"calls", "calls", Unit::count, 60},
                     {"kernels", "kernels", Unit::count, 50},
                     {"gpu_ns", "GPU time", Unit::ns},
                     {"share", "share", Unit::share},
                     {"forward_gpu_ns", "forward", Unit::ns, 80},
                     {"backward_gpu_ns", "backward", Unit::ns, 80},
                     {"other_gpu_ns", "neither", Unit::ns, 70},
                     {"unselected_backward_gpu_ns", "backward, not selected", Unit::ns, 10},
                     {"dram_bytes", "DRAM", Unit::bytes, 85},
                     {"bytes_error_pct", "DRAM ±", Unit::number, 84},
                     {"bytes_partial", "lower bound", Unit::text, 5},
                     {"iterations", "iterations", Unit::count, 20},
                     {"iteration_gpu_ns", "iteration: GPU time", Unit::ns, 30},
                     {"iteration_share", "iteration: share", Unit::share, 30},
                     {"iteration_kernels", "iteration: kernels", Unit::count, 20},
                     {"iteration_dram_bytes", "iteration: DRAM", Unit::bytes, 20}};
    table.add(cells(total, each, all_gpu_ns(input.trace)));
    drop_empty_columns(table);
    table.remarks = remarks(total, each);
    table.single = true;
    return {std::move(table), iteration_facts(all_.iterations())};
  }

 private:
  [[nodiscard]] OfIterations of_iterations() const {
    OfIterations out;
    for (const std::size_t i : all_.seen()) {
      if (all_.counts(i)) out.add(selected_.rows()[i], all_.rows()[i]);
    }
    return out;
  }

  [[nodiscard]] std::vector<Cell> cells(const SelectedTotal& total, const OfIterations& each,
                                        std::uint64_t all_ns) const {
    const auto of_pass = [&total](std::uint64_t ns) { return cell_if(total.passes.any, ns); };
    const bool timed = total.timed && each.count != 0;
    return {text_cell(range_.empty() ? "(all)" : range_),
            number_cell(total.paths),
            number_cell(total.calls),
            number_cell(total.kernels),
            cell_if(total.timed, total.gpu_ns),
            total.timed ? ratio_cell(total.gpu_ns, all_ns) : Cell(),
            of_pass(total.passes.forward_ns),
            of_pass(total.passes.backward_ns),
            cell_if(total.passes.any && total.passes.other_ns != 0, total.passes.other_ns),
            cell_if(total.passes.unselected_ns != 0, total.passes.unselected_ns),
            total.bytes.dram_cell(),
            total.bytes.bound_cell(),
            total.bytes.measured && total.bytes.partial ? Cell(CellValue(true)) : Cell(),
            cell_if(each.count != 0, each.count),
            timed ? each.mean(each.gpu_ns) : Cell(),
            timed ? ratio_cell(each.gpu_ns, each.all_gpu_ns) : Cell(),
            each.mean(each.kernels),
            each.bytes ? each.mean(each.dram_bytes) : Cell()};
  }

  [[nodiscard]] std::string remarks(const SelectedTotal& total, const OfIterations& each) const {
    std::string out;
    const Passes& passes = total.passes;
    if (passes.any && total.timed) {
      out += "Forward pass " + duration_text(passes.forward_ns) + ", backward pass " +
             duration_text(passes.backward_ns);
      if (passes.other_ns != 0) out += ", in neither " + duration_text(passes.other_ns);
      out += ".\n";
    }
    if (passes.unselected_ns != 0) {
      out += "Not in this row: " + duration_text(passes.unselected_ns) +
             " of the backward pass of these modules, which has paths of its own. A pattern that begins with "
             "**/ selects both passes.\n";
    }
    if (each.count != 0 && each.all_gpu_ns != 0 && total.timed) {
      const auto part = static_cast<double>(each.gpu_ns) / static_cast<double>(each.all_gpu_ns);
      out += "An iteration: " + duration_text(each.gpu_ns / each.count) + " of " +
             duration_text(each.all_gpu_ns / each.count) + " GPU time (" + percent_text(part) +
             "); mean of " + counted_text(each.count, "iteration", "iterations") + " of " +
             printable(all_.iterations().path) + (all_.warm_up() == 0 ? "" : " after the warm-up") + ".\n";
    }
    if (total.bytes.measured && total.bytes.partial)
      out += "+: lower bound; part of the work was not measured.\n";
    if (total.bytes.marked()) out += kCarryOverRemark;
    NoNumbers without;
    if (total.bytes.lacks_number()) without.add(total.bytes.need, total.bytes.text().error);
    out += without.remark();
    return out + "Each kernel counts once, whichever ranges match.\n";
  }

  std::string range_;
  IterationLog selected_, all_;
};

}  // namespace

const SectionKind kTotalSection{"modules",
                                "the paths that --range selects, as one row",
                                make_section<TotalSection>,
                                IterationLog::kColumns,
                                true,
                                true};

}  // namespace rangefinder
