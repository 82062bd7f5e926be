// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/analysis/queries/byte_fit.h"
#include "tools/analysis/queries/layer_table.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// In the text. JSON and CSV have all.
constexpr std::size_t kOutliersOfDepth = 5;

ModuleView module_view(const SectionView& view) {
  return {view.top, view.depth, view.sort, view.flat};
}

class ModulesSection final : public Section {
 public:
  std::vector<Table> tables(const SectionInput& input) override {
    std::vector<Table> out{module_rows(input.trace, input.values, module_view(input.view))};
    out.front().records = rows(input);
    Table outside;
    outside.name = "outside";
    outside.single = true;
    outside.in = kOnlyJson;
    outside.records =
        record_rows(OrderedJson::array({module_row(input.trace.rows().back(), input.trace, input.values)}));
    out.push_back(std::move(outside));
    Table threads = outside_by_thread(input);
    threads.in = threads.rows.empty() ? Outputs{false, false, false, false} : kOnlyJson;
    out.push_back(threads);
    if (input.view.layers) {
      Table layers = layer_table(input.trace, input.values, module_view(input.view));
      layers.title = "\nForward and backward pass of each layer";
      if (!layers.rows.empty()) out.push_back(std::move(layers));
    }
    threads.in = threads.rows.size() > 1 ? Outputs{true, true, false, true} : kOnlyCsv;
    out.push_back(std::move(threads));
    Table sets;
    sets.name = "metric_sets";
    sets.in = kOnlyJson;
    sets.records = record_rows(metric_sets_array(input.trace.totals.groups()));
    if (!sets.records->empty()) out.push_back(std::move(sets));
    if (input.view.fit) add_fits(out, input);
    return out;
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return module_sort_columns(); }

  void add(const SelectedRows& rows) override {
    rows.launches(kModulesColumns, [this](const auto& call, bool) {
      if constexpr (!is_exact_record<decltype(call)>) put(call);
    });
  }

 private:
  void put(const LaunchRecord& launch) {
    if (launch.host.path == 0) ++launches_outside_[launch.host.thread];
  }

  using Records = std::shared_ptr<const OrderedJson>;

  static Records record_rows(OrderedJson rows) {
    return std::make_shared<const OrderedJson>(std::move(rows));
  }

  /// As in summary.json.
  [[nodiscard]] static Records rows(const SectionInput& input) {
    OrderedJson out = OrderedJson::array();
    for (const PathTotals& row : select_modules(input.trace, input.values, module_view(input.view))) {
      if (row.path != 0) out.push_back(module_row(row, input.trace, input.values));
    }
    return record_rows(std::move(out));
  }

  static void add_fits(std::vector<Table>& out, const SectionInput& input) {
    const std::vector<DepthFit> fits = byte_fits(input.trace, input.values);
    const auto outliers = [&](std::size_t of_depth, const Outputs& in) {
      Table table = byte_fit_outliers(input.trace, fits, input.view.depth, of_depth);
      table.in = in;
      return table;
    };
    out.push_back(byte_fit_table(fits, input.view.depth));
    out.push_back(outliers(kOutliersOfDepth, kForPeople));
    out.push_back(outliers(0, kForPrograms));
  }

  /// Launches outside any range, by thread: shows where a range is missing.
  [[nodiscard]] Table outside_by_thread(const SectionInput& input) const {
    Table out;
    out.name = "outside_by_thread";
    out.title = "\nLaunches outside any range, by thread";
    out.columns = {{"thread_name", "thread", Unit::text},
                   {"thread", "id", Unit::text},
                   {"launches", "launches", Unit::count}};
    for (const auto& [id, launches] : launches_outside_) {
      const auto name = input.trace.threads.find(id);
      const bool named = name != input.trace.threads.end() && !name->second.empty();
      out.add({Cell(CellValue(named ? name->second : "(no name)")),
               Cell(CellValue(std::uint64_t{id}), std::to_string(id)), Cell(launches)});
    }
    static_cast<void>(sort_rows(out, "launches"));
    return out;
  }

  std::map<std::uint32_t, std::uint64_t> launches_outside_;  // by thread
};

class LayersSection final : public Section {
 public:
  std::vector<Table> tables(const SectionInput& input) override {
    return {layer_table(input.trace, input.values, module_view(input.view))};
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return layer_sort_columns(); }
};

}  // namespace

const SectionKind kLayersSection{
    "layers", "forward and backward pass of every module in one row", make_section<LayersSection>, {}, true};

const SectionKind kModulesSection{"modules", "time and bytes of every NVTX range, as a tree",
                                  [](const SectionView& view) {
                                    return view.total ? kTotalSection.make(view)
                                                      : make_section<ModulesSection>(view);
                                  },
                                  kModulesColumns, true};

}  // namespace rangefinder
