// SPDX-License-Identifier: Apache-2.0
//
// Section `findings` of a report: one row per finding; the evidence follows as text or as a column.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/report/section_kinds.h"

namespace rangefinder {
namespace {

class FindingsSection final : public Section {
 public:
  void start(const Iterations& iterations) override {
    iterations_ = iterations;
    rules_.emplace(iterations_);
  }
  void read(const EachRows& each) override { rules_->read(each); }
  [[nodiscard]] bool reads_all_ranges() const override { return true; }

  std::vector<Table> tables(const SectionInput& input) override {
    return {rows_for_people(input), rows_for_csv(input)};
  }

  std::string text(const SectionInput& input, const TextStyle& style) override {
    std::string out =
        findings_text(findings(input), style, quoted_for_shell(input.trace.files.folder.string()));
    const std::string lacking = cannot_tell_text(rules_->cannot_tell(), style);
    return lacking.empty() ? out : out + "\n" + lacking;
  }

  nlohmann::ordered_json json(const SectionInput& input) override {
    nlohmann::ordered_json out{{"findings", findings_json(findings(input))}};
    out["cannot_tell"] = cannot_tell_json(rules_->cannot_tell());
    return out;
  }

 private:
  Table rows_for_people(const SectionInput& input) {
    Table table = empty_table();
    table.in.csv = false;
    table.columns = {{"severity", "severity", Unit::text, kAlwaysShown},
                     {"share", "share of an iteration", Unit::share, kAlwaysShown},
                     {"saving_ns", "saving an iteration", Unit::ns, kAlwaysShown},
                     {"effect", "finding", Unit::text, kAlwaysShown},
                     {"where", "module", Unit::text, kAlwaysShown},
                     {"id", "rule", Unit::text, 1}};
    for (const Finding& finding : findings(input)) {
      table.add({cell(severity_name(finding.severity)), share(finding),
                 finding.saving_each_ns ? Cell(CellValue(*finding.saving_each_ns)) : saving(finding),
                 cell(finding.effect), cell(finding.where), cell(finding.id)});
    }
    return table;
  }

  Table rows_for_csv(const SectionInput& input) {
    Table table = empty_table();
    table.in = kOnlyCsv;
    table.arranged = true;  // all rows, whatever --top keeps
    const auto unit = [](std::string_view key) {
      return key.ends_with("_ns") ? Unit::ns : key == "share" ? Unit::share : Unit::text;
    };
    for (const char* const key :
         {"id", "severity", "title", "where", "class_source", "call_source", "kernel", "prize_ns", "share",
          "saving_per_iteration_ns", "experimental", "why", "evidence", "next_step", "code"})
      table.columns.push_back({key, key, unit(key), 0});
    for (const Finding& finding : findings(input)) {
      table.add({cell(finding.id), cell(severity_name(finding.severity)), cell(finding.title),
                 cell(finding.where), cell(finding.source.of_class), cell(finding.source.of_call),
                 cell(finding.kernel), saving(finding), share(finding),
                 finding.saving_each_ns ? Cell(CellValue(*finding.saving_each_ns)) : Cell(),
                 Cell(CellValue(finding.experimental)), cell(finding.why), cell(evidence_text(finding)),
                 cell(finding.next_step), cell(finding.code)});
    }
    return table;
  }

  const std::vector<Finding>& findings(const SectionInput& input) {
    if (!found_) found_ = rules_->findings(input);
    return *found_;
  }

  static Table empty_table() {
    Table table;
    table.name = "findings";
    table.sortable = false;
    table.cut = CutSide::back;
    table.empty = "No findings.\n";
    return table;
  }
  static Cell cell(std::string_view value) { return Cell(CellValue(std::string(value))); }
  static Cell share(const Finding& finding) {
    return finding.share ? Cell(CellValue(*finding.share)) : Cell();
  }
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

  Iterations iterations_;
  std::optional<FindingRules> rules_;
  std::optional<std::vector<Finding>> found_;
};

}  // namespace

const SectionKind kFindingsSection{"findings",
                                   "what is slow and why, with the evidence and the next step",
                                   make_section<FindingsSection>,
                                   FindingRules::kColumns,
                                   true,
                                   true};

}  // namespace rangefinder
