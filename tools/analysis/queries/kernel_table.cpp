// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/kernel_table.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/kernel_kinds.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/queries/rows_json.h"

namespace rangefinder {
namespace {

std::uint64_t mean_ns(const KernelTotals& row) {
  return row.timed == 0 ? 0 : row.total_ns / row.timed;
}

using SortKey = std::uint64_t (*)(const KernelTotals&, const RowValues&);

const std::map<std::string, SortKey>& sort_keys() {
  static const std::map<std::string, SortKey> kKeys{
      {"count", [](const KernelTotals& row, const RowValues&) { return row.count; }},
      {"total_ns", [](const KernelTotals& row, const RowValues&) { return row.total_ns; }},
      {"mean_ns", [](const KernelTotals& row, const RowValues&) { return mean_ns(row); }},
      {"min_ns", [](const KernelTotals& row, const RowValues&) { return row.min_ns; }},
      {"max_ns", [](const KernelTotals& row, const RowValues&) { return row.max_ns; }},
      {"dram_read_bytes",
       [](const KernelTotals& row, const RowValues& values) { return values.bytes(row).read; }},
      {"dram_write_bytes",
       [](const KernelTotals& row, const RowValues& values) { return values.bytes(row).write; }},
      {"l2_bytes", [](const KernelTotals& row, const RowValues& values) { return values.bytes(row).l2; }},
  };
  return kKeys;
}

const KernelNameRecord* name_of(const TraceTotals& trace, std::uint32_t id) {
  const auto it = trace.kernel_names.find(id);
  return it == trace.kernel_names.end() ? nullptr : &it->second;
}

std::vector<std::string> labels_of(const TraceTotals& trace, const std::vector<KernelTotals>& rows) {
  std::vector<std::string_view> names;
  for (const KernelTotals& row : rows) {
    const KernelNameRecord* const name = name_of(trace, row.name);
    names.push_back(name == nullptr ? "(unknown)" : std::string_view(name->demangled));
  }
  return kernel_labels(names);
}

/// Sampled bytes are known only by not being 0.
Cell bytes_cell(const RowBytes& all, std::uint64_t bytes) {
  if (all.source != RowBytes::Source::exact && all.dram() + all.l2 == 0) return {};
  Cell out{CellValue(bytes)};
  if (all.partial()) out.sign = "+";
  return out;
}

std::vector<Cell> cells(const KernelTotals& row, Cell title, double all_ns, const KernelSpreads& spreads,
                        const RowBytes& bytes) {
  std::vector<Cell> out{std::move(title), Cell(row.count)};
  if (row.timed > 0) {
    const auto spread = spreads.find(row.name);
    const bool has_spread = spread != spreads.end();
    out.insert(out.end(),
               {Cell(row.total_ns), Cell(static_cast<double>(row.total_ns) / all_ns), Cell(mean_ns(row)),
                has_spread ? Cell(spread->second.median_ns) : Cell(),
                has_spread ? Cell(spread->second.p95_ns) : Cell(), Cell(row.min_ns), Cell(row.max_ns)});
  } else {
    out.resize(out.size() + 7);  // without times
  }
  for (const std::uint64_t part : {bytes.read, bytes.write, bytes.l2}) out.push_back(bytes_cell(bytes, part));
  return out;
}

/// Theoretical occupancy, its limiter, and the number of waves.
void add_occupancy(std::vector<Cell>& row, const KernelSpreads& spreads, std::uint32_t name) {
  const auto at = spreads.find(name);
  if (at == spreads.end() || !at->second.occupancy) {
    row.resize(row.size() + 3);
    return;
  }
  const Occupancy& occupancy = *at->second.occupancy;
  const std::string limiter = occupancy.limiter();
  row.insert(row.end(), {Cell(occupancy.share()), limiter.empty() ? Cell() : Cell(CellValue(limiter)),
                         Cell(occupancy.waves)});
}

using OrderedJson = nlohmann::ordered_json;

class KernelsSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.work(kKernelsColumns, [this](const auto& record, bool begins) {
      if constexpr (is_kernel_record<decltype(record)>) {
        if (begins) put(record);
      }
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    const KernelSpreads by_name = spreads(input.trace);
    Table table = kernel_rows(input.trace, input.values, input.view, by_name);
    table.records = std::make_shared<const OrderedJson>(rows(input, by_name));
    return {std::move(table)};
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return kernel_sort_columns(); }

 private:
  /// As in summary.json, and with what its totals do not have.
  static OrderedJson rows(const SectionInput& input, const KernelSpreads& by_name) {
    OrderedJson out = OrderedJson::array();
    for (const KernelTotals& row : select_kernels(input.trace, input.values, input.view)) {
      const auto name = input.trace.kernel_names.find(row.name);
      OrderedJson object =
          kernel_row(row, name == input.trace.kernel_names.end() ? nullptr : &name->second, input.values);
      if (const auto at = by_name.find(row.name); at != by_name.end()) {
        object["median_ns"] = at->second.median_ns;
        object["p95_ns"] = at->second.p95_ns;
        if (const auto& occupancy = at->second.occupancy) {
          object["occupancy"] = occupancy->share();
          object["occupancy_limiter"] = occupancy->limiter();
          object["waves"] = occupancy->waves;
        }
      }
      if (std::string origin = input.trace.origins.text(row.name); !origin.empty())
        object["origin"] = std::move(origin);
      out.push_back(std::move(object));
    }
    return out;
  }

  using Place = std::pair<std::uint32_t, std::uint32_t>;  // GPU, LaunchConfigRecord
  struct Seen {
    DurationHistogram durations;
    std::map<Place, std::uint64_t> ns_by_place;
  };

  void put(const KernelRecord& kernel) {
    if (kernel.work.start_ns == kNoTime) return;
    const auto ns = static_cast<std::uint64_t>(kernel.work.end_ns - kernel.work.start_ns);
    Seen& seen = kernels_[kernel.name];
    seen.durations.add(ns);
    seen.ns_by_place[{kernel.work.gpu, kernel.config}] += ns;
  }

  KernelSpreads spreads(const TraceTotals& trace) const {
    KernelSpreads out;
    for (const auto& [name, seen] : kernels_) {
      out.emplace(name, KernelSpread{seen.durations.quantile_ns(0.5), seen.durations.quantile_ns(0.95),
                                     occupancy(trace, seen)});
    }
    return out;
  }

  /// For the configuration with most GPU time.
  std::optional<Occupancy> occupancy(const TraceTotals& trace, const Seen& seen) const {
    const auto longest = std::max_element(seen.ns_by_place.begin(), seen.ns_by_place.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto [gpu_id, config_id] = longest->first;
    const auto config = trace.configs.find(config_id);
    const GpuRecord* const gpu = trace.gpu(gpu_id);
    if (config == trace.configs.end() || gpu == nullptr) return {};
    return occupancy_of(*gpu, config->second);
  }

  std::unordered_map<std::uint32_t, Seen> kernels_;
};

}  // namespace

const std::vector<std::string>& kernel_sort_columns() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, key] : sort_keys()) names.push_back(name);
    return names;
  }();
  return kNames;
}

std::vector<KernelTotals> select_kernels(const TraceTotals& trace, const RowValues& values,
                                         const SectionView& view) {
  std::vector<KernelTotals> rows = trace.selected().kernels();
  const SortKey key = sort_keys().at(view.sort.empty() ? "total_ns" : sort_key(view.sort));
  std::stable_sort(rows.begin(), rows.end(), [&](const KernelTotals& a, const KernelTotals& b) {
    return key(a, values) > key(b, values);
  });
  if (view.top != 0 && rows.size() > view.top) rows.resize(view.top);
  return rows;
}

std::vector<TableColumn> kernel_columns() {
  return {{"name", "kernel", Unit::text},
          {"count", "count", Unit::count},
          {"total_ns", "total", Unit::ns},
          {"share", "share", Unit::share, 60},
          {"mean_ns", "mean", Unit::ns, 50},
          {"median_ns", "median", Unit::ns, 46},
          {"p95_ns", "p95", Unit::ns, 47},
          {"min_ns", "min", Unit::ns, 20},
          {"max_ns", "max", Unit::ns, 30},
          {"dram_read_bytes", "DRAM read", Unit::bytes, 55},
          {"dram_write_bytes", "DRAM write", Unit::bytes, 54},
          {"l2_bytes", "L2", Unit::bytes, 40},
          {"occupancy", "occupancy", Unit::share, 25},
          {"occupancy_limiter", "limited by", Unit::text, 5},
          {"waves", "waves", Unit::number, 15},
          {"library", "library", Unit::text, 10},
          {"unit", "unit", Unit::text, 56, "where a product computes, if its name says so"},
          {"origin", "from", Unit::text, 57,
           "what a generated kernel computes: operators and the program's lines"}};
}

Table kernel_rows(const TraceTotals& trace, const RowValues& values, const SectionView& view,
                  const KernelSpreads& spreads) {
  Table table;
  table.name = "kernels";
  table.empty = "No kernel in this trace.";
  table.arranged = true;
  table.cut = CutSide::back;
  table.min_first_width = kKernelLabelWidth;
  table.columns = kernel_columns();
  const std::vector<KernelTotals> rows = select_kernels(trace, values, view);
  std::uint64_t all_ns = 0;
  for (const KernelTotals& row : trace.selected().kernels()) all_ns += row.total_ns;
  const std::vector<std::string> labels = labels_of(trace, rows);
  const double total = static_cast<double>(std::max<std::uint64_t>(all_ns, 1));
  bool partial = false;
  EstimateRemark estimate;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KernelNameRecord* const name = name_of(trace, rows[i].name);
    Cell title(CellValue(name == nullptr ? std::string("(unknown)") : name->demangled), labels[i]);
    const RowBytes bytes = values.bytes(rows[i]);
    partial = partial || bytes.partial();
    estimate.add(rows[i].total_ns, bytes);
    std::vector<Cell> row = cells(rows[i], std::move(title), total, spreads, bytes);
    add_occupancy(row, spreads, rows[i].name);
    row.push_back(name == nullptr ? Cell() : Cell(CellValue(name->from_library)));
    const std::string_view unit = name == nullptr ? std::string_view() : product_unit(name->demangled);
    row.push_back(unit.empty() ? Cell() : text_cell(std::string(unit)));
    std::string origin = trace.origins.text(rows[i].name);
    row.push_back(origin.empty() ? Cell() : text_cell(std::move(origin)));
    table.add(std::move(row));
  }
  if (partial) table.remarks = "+: lower bound; some launches of that kernel have no byte counts.\n";
  table.remarks += estimate.text("kernel");
  table.remarks += kShortNamesRemark;
  return without_empty_columns(std::move(table));
}

const SectionKind kKernelsSection{"kernels", "time and bytes by kernel name", make_section<KernelsSection>,
                                  kKernelsColumns, true};

}  // namespace rangefinder
