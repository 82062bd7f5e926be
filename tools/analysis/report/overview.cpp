// SPDX-License-Identifier: Apache-2.0
//
// `report DIR`: what ran, one iteration, where its time went, the most valuable findings
// (run_summary.h), and the upper levels of the module tree. The iterations come first. For people the rows
// are, as all above them, without set-up and warm-up; JSON and CSV have the modules of the whole run.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/layer_table.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/report/run_summary.h"
#include "tools/analysis/report/section_kinds.h"

namespace rangefinder {
namespace {

constexpr std::uint32_t kTreeLevels = 3;  // of the tree, from that of the iterations on
constexpr std::uint64_t kRows = 25;

std::string without_text(const RunSummary& run) {
  return run.warm_up == 0 ? "Modules: without what ran before the first iteration and after the last.\n"
                          : "Modules: without set-up, warm-up, and what ran after the last iteration.\n";
}

class OverviewSection final : public Section {
 public:
  explicit OverviewSection(const SectionView& view) : modules_(kModulesSection.make(view)) {}

  void start(const Iterations& iterations) override { reader_.start(iterations); }
  void read(const EachRows& each) override {
    each([this](const SelectedRows& rows) {
      reader_.add(rows);
      modules_->add(rows);
    });
    reader_.finish(each);
    modules_->finish();
  }

  [[nodiscard]] std::optional<std::size_t> counted_from() const override { return reader_.counted_from(); }

  std::vector<Table> tables(const SectionInput& input) override {
    const TraceTotals& trace = input.counted == nullptr ? input.trace : input.counted->trace;
    const RowValues& values = input.counted == nullptr ? input.values : *input.counted->values;
    std::vector<Table> out{module_rows(trace, values, module_view(input))};
    if (input.counted != nullptr) out.front().remarks += without_text(run(input));
    out.front().in.csv = false;
    ModuleView of_layers = module_view(input);
    of_layers.first.clear();
    Table layers = layer_table(trace, values, of_layers);
    layers.title = "Forward and backward pass of each layer";
    layers.in.csv = false;
    if (!layers.rows.empty()) out.push_back(std::move(layers));
    for (Table& table : modules_->tables(input)) {
      if (!std::exchange(table.in, kOnlyCsv).csv) continue;
      out.push_back(std::move(table));
    }
    return out;
  }

  std::string text(const SectionInput& input, const TextStyle& style) override {
    std::string out = run_summary_text(input.trace, run(input), style);
    TextStyle explaining = style;
    explaining.explain = true;
    for (const Table& table : shown_tables(tables(input), &Outputs::text, input.view)) {
      out += "\n" + render_text(table, explaining);
      explaining.explain = false;
    }
    return out + rows_line(input);
  }

  std::string ending(const SectionInput& input, const TextStyle& style) override {
    return "\n" + next_step_text(input.trace, run(input), style);
  }
  std::string markdown_head(const SectionInput& input) override {
    return run_summary_markdown(input.trace, run(input));
  }

  nlohmann::ordered_json json(const SectionInput& input) override {
    nlohmann::ordered_json out{{"opening", run_summary_json(run(input))},
                               {"findings", findings_json(run(input).findings)},
                               {"cannot_tell", cannot_tell_json(run(input).cannot_tell)}};
    out.update(modules_->json(input));
    return out;
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return modules_->sort_keys(); }

 private:
  const RunSummary& run(const SectionInput& input) {
    if (!run_) run_ = reader_.result(input);
    return *run_;
  }

  ModuleView module_view(const SectionInput& input) {
    const SectionView& view = input.view;
    const RunSummary& of = run(input);
    ModuleView out{view.top, view.depth, view.sort, view.flat, {}};
    if (out.depth == 0) out.depth = std::max<std::uint32_t>(of.depth, 1) + kTreeLevels - 1;
    if (out.top == 0) out.top = kRows;
    out.first.insert(of.iteration_paths.begin(), of.iteration_paths.end());
    return out;
  }

  std::string rows_line(const SectionInput& input) {
    std::uint64_t all = 0;
    for (const PathTotals& row : input.trace.rows()) all += row.path != 0 ? 1 : 0;
    if (all <= kRows) return "";
    return "Not all of " + count_text(all) + " modules are shown. All:  rangefinder report " +
           quoted_for_shell(input.trace.files.folder.string()) + " --section modules\n";
  }

  std::unique_ptr<Section> modules_;
  RunSummaryReader reader_;
  std::optional<RunSummary> run_;
};

}  // namespace

const SectionKind kOverviewSection{"overview",
                                   "one iteration, where its time went, findings, the upper modules",
                                   make_section<OverviewSection>,
                                   RunSummaryReader::kColumns | kModulesColumns,
                                   true,
                                   true};

}  // namespace rangefinder
