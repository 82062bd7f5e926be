// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/analysis/sections/table_sections.h"
#include "tools/analysis/tables/byte_fit.h"
#include "tools/analysis/tables/layer_table.h"
#include "tools/analysis/tables/module_table.h"
#include "tools/analysis/tables/rows_json.h"

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
    add_layers(out, input, false);
    Table threads = outside_by_thread(input);
    if (threads.rows.size() > 1) out.push_back(std::move(threads));
    for (Table& table : fit_tables(input, kOutliersOfDepth)) out.push_back(std::move(table));
    return out;
  }

  OrderedJson json(const SectionInput& input) override {
    OrderedJson out{{"modules", rows(input)},
                    {"outside", module_row(input.trace.rows().back(), "", input.values)}};
    if (const Table threads = outside_by_thread(input); !threads.rows.empty()) {
      out["outside_by_thread"] = render_rows(threads);
    }
    std::vector<Table> layers;
    add_layers(layers, input, true);
    for (const Table& table : layers) out[table.name] = render_rows(table);
    if (OrderedJson sets = metric_sets_array(input.trace.totals.groups()); !sets.empty())
      out["metric_sets"] = sets;
    for (const Table& table : fit_tables(input)) out[table.name] = render_rows(table);
    return out;
  }

  /// All values of a module in JSON, one column per value.
  std::vector<Table> plain_tables(const SectionInput& input) override {
    Table modules = table_of_rows("modules", rows(input));
    static_cast<void>(sort_rows(modules, input.view.sort));  // by a column: all rows, not level by level
    modules.arranged = true;
    std::vector<Table> out{std::move(modules)};
    add_layers(out, input, true);
    out.push_back(outside_by_thread(input));
    for (Table& table : fit_tables(input)) out.push_back(std::move(table));
    return out;
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return module_sort_columns(); }

  void line(const Line& line) override {
    if (const auto* const launch = std::get_if<LaunchRecord>(&line)) {
      if (launch->host.path == 0) by_thread_[launch->host.thread].launches += 1;
    } else if (const auto* const thread = std::get_if<ThreadRecord>(&line)) {
      by_thread_[thread->id].name = thread->name;
    }
  }

 private:
  struct ThreadWork {
    std::string name;
    std::uint64_t launches = 0;
  };

  [[nodiscard]] static OrderedJson rows(const SectionInput& input) {
    OrderedJson out = OrderedJson::array();
    for (const PathTotals& row : select_modules(input.trace, input.values, module_view(input.view))) {
      if (row.path != 0) out.push_back(module_row(row, input.trace.path_text(row.path), input.values));
    }
    return out;
  }

  static void add_layers(std::vector<Table>& out, const SectionInput& input, bool plain) {
    if (!input.view.layers) return;
    Table layers = layer_table(input.trace, input.values, module_view(input.view), plain);
    if (layers.rows.empty()) return;
    layers.title = "\nForward and backward pass of each layer";
    out.push_back(std::move(layers));
  }

  [[nodiscard]] static std::vector<Table> fit_tables(const SectionInput& input,
                                                     std::size_t outliers_of_depth = 0) {
    if (!input.view.fit) return {};
    const std::vector<DepthFit> fits = byte_fits(input.trace, input.values);
    return {byte_fit_table(fits, input.view.depth),
            byte_fit_outliers(input.trace, fits, input.view.depth, outliers_of_depth)};
  }

  /// Launches outside any range, by thread: shows where a range is missing.
  [[nodiscard]] Table outside_by_thread(const SectionInput&) const {
    Table out;
    out.name = "outside_by_thread";
    out.title = "\nLaunches outside any range, by thread";
    out.columns = {{"thread_name", "thread", Unit::text},
                   {"thread", "id", Unit::text},
                   {"launches", "launches", Unit::count}};
    for (const auto& [id, work] : by_thread_) {
      if (work.launches == 0) continue;
      out.add({Cell(CellValue(work.name.empty() ? "(no name)" : work.name)),
               Cell(CellValue(std::uint64_t{id}), std::to_string(id)), Cell(work.launches)});
    }
    static_cast<void>(sort_rows(out, "launches"));
    return out;
  }

  std::map<std::uint32_t, ThreadWork> by_thread_;
};

class LayersSection final : public Section {
 public:
  std::vector<Table> tables(const SectionInput& input) override {
    return {layer_table(input.trace, input.values, module_view(input.view))};
  }

  OrderedJson json(const SectionInput& input) override {
    return {{"layers", render_rows(plain_tables(input).front())}};
  }

  std::vector<Table> plain_tables(const SectionInput& input) override {
    return {layer_table(input.trace, input.values, module_view(input.view), true)};
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return layer_sort_columns(); }
};

}  // namespace

std::unique_ptr<Section> make_layers_section(const SectionView&) {
  return std::make_unique<LayersSection>();
}

std::unique_ptr<Section> make_modules_section(const SectionView& view) {
  if (view.total) return make_total_section(view);
  return std::make_unique<ModulesSection>();
}

}  // namespace rangefinder
