// SPDX-License-Identifier: Apache-2.0
//
// Section `findings` of a report: one row per finding; the evidence follows as text or as a column.
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/findings.h"

namespace rangefinder {
namespace {

class FindingsSection final : public Section {
 public:
  explicit FindingsSection(const SectionView& view) : rules_(view.name) {}

  void line(const Line& line) override { rules_.line(line); }
  [[nodiscard]] bool takes_all_ranges() const override { return true; }

  std::vector<Table> tables(const SectionInput& input) override {
    Table table = empty_table();
    table.columns = {{"title", "finding", Unit::text, kAlwaysShown},
                     {"prize_ns", "potential saving", Unit::ns, kAlwaysShown},
                     {"id", "rule", Unit::text, 1}};
    const std::vector<Finding>& found = findings(input);
    for (const Finding& finding : found) table.add({cell(finding.title), saving(finding), cell(finding.id)});
    if (!found.empty()) table.remarks = "\n" + findings_text(found, TextStyle{});
    return {std::move(table)};
  }

  std::vector<Table> plain_tables(const SectionInput& input) override {
    Table table = empty_table();
    for (const char* const key : {"id", "severity", "title", "where", "prize_ns", "evidence", "next_step"})
      table.columns.push_back({key, key, std::string_view(key) == "prize_ns" ? Unit::ns : Unit::text, 0});
    for (const Finding& finding : findings(input)) {
      table.add({cell(finding.id), cell(std::string(severity_name(finding.severity))), cell(finding.title),
                 cell(finding.where), saving(finding), cell(evidence_text(finding)),
                 cell(finding.next_step)});
    }
    return {std::move(table)};
  }

  nlohmann::ordered_json json(const SectionInput& input) override {
    return {{"findings", findings_json(findings(input))}};
  }

 private:
  /// FindingRules::findings() may be called only once.
  const std::vector<Finding>& findings(const SectionInput& input) {
    if (!computed_) found_ = rules_.findings(input);
    computed_ = true;
    return found_;
  }

  static Table empty_table() {
    Table table;
    table.name = "findings";
    table.sortable = false;
    table.cut = CutSide::back;
    table.empty = "No findings.\n";
    return table;
  }
  static Cell cell(const std::string& value) { return Cell(CellValue(value)); }
  static Cell saving(const Finding& finding) {
    return finding.saving_ns ? Cell(CellValue(*finding.saving_ns)) : Cell();
  }
  static std::string evidence_text(const Finding& finding) {
    std::string out;
    for (const Evidence& one : finding.evidence) {
      out += (out.empty() ? "" : "; ") + one.text + " " + cell_text(Cell(one.value), one.unit, false);
    }
    return out;
  }

  FindingRules rules_;
  std::vector<Finding> found_;
  bool computed_ = false;
};

}  // namespace

std::unique_ptr<Section> make_findings_section(const SectionView& view) {
  return std::make_unique<FindingsSection>(view);
}

}  // namespace rangefinder
