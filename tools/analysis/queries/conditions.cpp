// SPDX-License-Identifier: Apache-2.0
//
// `--section conditions`: clocks, power and load of the GPUs and resources of the process while the GPU
// worked.
//
// From the start of the first selected GPU work to the end of the last; of a trace without work, all of it.
#include <algorithm>
#include <string>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/condition_log.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kConditionColumns = Column::work_times;

class ConditionsSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<ConditionRecord>([this](const ConditionRecord& record) { log_.add(record); });
    rows.work(kConditionColumns, [this](const auto& record, bool) {
      if (record.work.start_ns == kNoTime || record.work.end_ns == kNoTime) return;
      first_ns_ = std::min(first_ns_, record.work.start_ns);
      last_ns_ = std::max(last_ns_, record.work.end_ns);
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    Table table;
    table.name = "conditions";
    table.empty =
        "No conditions in this trace: it was recorded with --no-conditions, or by a version before 0.3.";
    table.columns = {{"subject", "of"},
                     {"condition", "what"},
                     {"min", "minimum", Unit::count},
                     {"median", "median", Unit::count, kAlwaysShown, "half of the time it was at most this"},
                     {"max", "maximum", Unit::count},
                     {"growth", "total", Unit::count, kAlwaysShown, "of a count: how much it grew"},
                     {"reasons", "share of the time"}};
    for (const auto& [subject, conditions] : log_.subjects()) {
      const std::string name = subject_name(subject, input.trace);
      for (std::size_t i = 0; i < kConditionCount; ++i) {
        const HeldValues values = of_work(conditions[i]);
        if (!values.empty()) table.add(row(name, i, values));
      }
    }
    return {without_empty_columns(std::move(table))};
  }

 private:
  [[nodiscard]] HeldValues of_work(const ConditionLog::Series& series) const {
    if (series.empty() || first_ns_ < last_ns_) return ConditionLog::within(series, first_ns_, last_ns_);
    return ConditionLog::within(series, series.front().at_ns, series.back().at_ns);
  }

  static std::string subject_name(const ConditionSubject& subject, const TraceNames& trace) {
    if (subject.of == ConditionOf::process) return "process";
    if (subject.of == ConditionOf::gpu) return "GPU " + std::to_string(subject.id);
    const auto thread = trace.threads.find(subject.id);
    return "thread " + std::to_string(subject.id) +
           (thread == trace.threads.end() ? "" : " " + thread->second);
  }

  /// "sw_power_cap 92.0 %, gpu_idle 8.0 %"
  static std::string reasons_text(const HeldValues& throttle) {
    std::uint64_t total = 0;
    for (const auto& [bits, ns] : throttle.times_ns()) total += ns;
    std::string out;
    for (const auto& [reason, ns] : throttle_times_ns(throttle)) {
      out += out.empty() ? "" : ", ";
      out += std::string(reason) + " " + percent_text(static_cast<double>(ns) / static_cast<double>(total));
    }
    return out.empty() ? "nothing" : out;
  }

  static std::vector<Cell> row(const std::string& subject, std::size_t condition, const HeldValues& values) {
    const ConditionInfo& info = kConditions[condition];
    std::vector<Cell> out{text_cell(subject),
                          Cell(CellValue(std::string(info.key)), std::string(info.title))};
    if (condition == static_cast<std::size_t>(Condition::throttle)) {
      out.insert(out.end(), {{}, {}, {}, {}, text_cell(reasons_text(values))});
    } else if (info.counts) {
      out.insert(out.end(), {{}, {}, {}, number_cell(values.growth())});
    } else {
      out.insert(out.end(),
                 {number_cell(values.min()), number_cell(values.median()), number_cell(values.max())});
    }
    return out;
  }

  ConditionLog log_;
  TimeNs first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

}  // namespace

const SectionKind kConditionsSection{"conditions",
                                     "clocks, power and load of the GPUs, resources of the process",
                                     make_section<ConditionsSection>, kConditionColumns};

}  // namespace rangefinder
