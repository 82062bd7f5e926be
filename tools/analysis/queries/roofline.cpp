// SPDX-License-Identifier: Apache-2.0
//
// `--section roofline`: how near each module is to the roof of its arithmetic intensity.
//
//   FLOP/s │        ______ compute roof: the peak of the types it used
//          │      /
//          │    /   x      attained
//          │  / memory roof: FLOP/byte * DRAM peak
//          └──────────── FLOP per DRAM byte
//
// Needs operations and DRAM bytes: --counters exact --metrics roofline.
#include "tools/analysis/queries/roofline.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/hints.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

class RooflineSection final : public Section {
 public:
  std::vector<Table> tables(const SectionInput& input) override { return {roofline(input)}; }

 private:
  static std::string rate(double flop_per_s) { return three_digits(flop_per_s / 1e12) + " TFLOP/s"; }

  static std::string peaks_text(const GpuPeaks& peaks) {
    std::string out = "Peaks: DRAM " + rate_text(static_cast<double>(peaks.dram_bytes_per_s));
    for (const auto& [type, flops] : peaks.flops) {
      std::string name = type;
      std::replace(name.begin(), name.end(), '_', ' ');
      out += ", " + name + " " + rate(flops);
    }
    return out + ".\n";
  }

  static std::vector<Cell> row(const SectionInput& input, const ModuleNames& names, const PathTotals& totals,
                               const Derived& derived, std::uint64_t all_ns) {
    const std::optional<Roof> roof = roof_of(derived, input.values.context().peaks);
    const auto tera = [](std::optional<double> value) { return value ? number_cell(*value / 1e12) : Cell(); };
    return {Cell(CellValue(input.trace.path_text(totals.path)), names.name(totals.path)),
            number_cell(totals.gpu_ns),
            ratio_cell(totals.gpu_ns, all_ns),
            number_cell(*derived.flop_per_dram_byte),
            tera(derived.flop_per_s),
            tera(roof ? std::optional(roof->flop_per_s) : std::nullopt),
            roof ? ratio_cell(*derived.flop_per_s, roof->flop_per_s) : Cell(),
            roof ? text_cell(roof->is) : Cell(),
            derived.limiter ? text_cell(std::string(limiter_name(*derived.limiter))) : Cell()};
  }

  static Table roofline(const SectionInput& input) {
    Table table;
    table.name = "roofline";
    table.empty = "No operations were counted in this selection, or no DRAM bytes. Record with " +
                  metrics_option(RecordedCounters(input.trace), "roofline") +
                  "; a module must run twice for each turn that `rangefinder metrics` lists.";
    table.cut = input.view.flat ? CutSide::front : CutSide::back;
    table.arranged = input.view.sort.empty();
    table.columns = {{"path", "module"},
                     {"gpu_ns", "GPU time", Unit::ns},
                     {"share", "share", Unit::share, 60},
                     {"flop_per_dram_byte", "FLOP/byte", Unit::number},
                     {"tflop_per_s", "TFLOP/s", Unit::number},
                     {"roof_tflop_per_s", "roof", Unit::number},
                     {"of_roof", "of roof", Unit::share},
                     {"roof", "roof is", Unit::text, 80},
                     {"limiter", "limiter", Unit::text, 70}};
    const ModuleView view{input.view.top, input.view.depth, "", input.view.flat};
    std::vector<std::pair<PathTotals, Derived>> rows;
    std::unordered_set<std::uint32_t> shown;
    for (const PathTotals& totals : select_modules(input.trace, input.values, view)) {
      Derived derived = input.values.derived(totals);
      if (!derived.flop_per_dram_byte || !derived.flop_per_s) continue;
      rows.emplace_back(totals, std::move(derived));
      shown.insert(totals.path);
    }
    const ModuleNames names(input.trace, std::move(shown), input.view.flat);
    for (const auto& [totals, derived] : rows)
      table.add(row(input, names, totals, derived, all_gpu_ns(input.trace)));
    table.remarks =
        peaks_text(input.values.context().peaks) +
        "roof: the lower of FLOP/byte times the DRAM peak, and the peak of the types that it computes with.\n"
        "FLOP of the FMA pipe are an upper bound: additions and integer multiplications count as two.\n"
        "limiter latency: below 60 % of every roof.\n";
    return without_empty_columns(std::move(table));
  }
};

}  // namespace

std::optional<Roof> roof_of(const Derived& derived, const GpuPeaks& peaks) {
  const auto& [share, attained, intensity] =
      std::tie(derived.compute_peak_share, derived.flop_per_s, derived.flop_per_dram_byte);
  if (!attained || !intensity || share.value_or(0) <= 0 || peaks.dram_bytes_per_s == 0) return {};
  const double compute = *attained / *share;
  const double memory = *intensity * static_cast<double>(peaks.dram_bytes_per_s);
  return memory <= compute ? Roof{memory, "DRAM"} : Roof{compute, "compute"};
}

const SectionKind kRooflineSection{"roofline",
                                   "FLOP per byte, attained rate and roof of every module",
                                   make_section<RooflineSection>,
                                   {},
                                   true};

}  // namespace rangefinder
