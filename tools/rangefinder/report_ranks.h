// SPDX-License-Identifier: Apache-2.0
//
// The report over several traces, the ranks of a job: which rank is slow, where, and at what cost.
//
//   RankLines lines(section);  SectionReading(files, kind, lines, …)   ─▶ trace, communication of one rank
//   RankReport report;         report.add(trace, lines.log())          ─▶ tables over all of them
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/findings/findings.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/ranks/rank_merge.h"
#include "tools/analysis/ranks/rank_waits.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

/// Passes the chunks of a trace to a section, and keeps the collectives for comparing ranks. Has no tables.
class RankLines final : public Section {
 public:
  /// `section` must outlive this.
  explicit RankLines(Section* section) : section_(*section) {}
  void start(const Iterations& iterations) override { section_.start(iterations); }
  void read(const EachRows& each) override {
    bool first = true;
    section_.read([&](const auto& see) {
      each([&](const SelectedRows& rows) {
        see(rows);
        if (first) log_.add(rows);
      });
      first = false;
    });
    log_.finish();
  }
  [[nodiscard]] bool reads_all_ranges() const override { return section_.reads_all_ranges(); }
  [[nodiscard]] std::vector<Table> tables(const SectionInput&) override { return {}; }
  /// After the last chunk.
  [[nodiscard]] const CommunicationLog& log() const noexcept { return log_; }

 private:
  Section& section_;
  CommunicationLog log_;
};

class RankReport {
 public:
  /// Both must outlive this.
  void add(const TraceTotals& trace, const CommunicationLog& log);
  /// "ranks", "clocks", "rank_waits", "merged", "rank_findings". `depth`: deepest level of modules, 0: all.
  void put(nlohmann::ordered_json& out, std::uint32_t depth) const;
  [[nodiscard]] std::string text(const TextStyle& style, std::uint32_t depth) const;

 private:
  struct Compared {
    Table clocks, waits;
  };
  [[nodiscard]] Compared compare() const;

  RankMerge merge_;
  std::vector<RankTrace> traces_;
  std::vector<RankLog> logs_;
};

}  // namespace rangefinder
