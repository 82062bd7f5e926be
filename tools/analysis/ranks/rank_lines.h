// SPDX-License-Identifier: Apache-2.0
//
// Reads what comparing ranks needs of one trace, beside a section of its own report.
//
//   RankLines lines(section);  SectionReading(files, kind, lines, …)   ─▶ lines.work()
#pragma once

#include <vector>

#include "tools/analysis/queries/section.h"
#include "tools/analysis/ranks/rank_work.h"

namespace rangefinder {

/// For SectionReading: no section, only the ranks are compared.
inline const SectionKind kRanksOnly{"", "", nullptr, {}};

/// Passes the chunks of a trace to a section, and keeps what comparing ranks needs. Has no tables.
class RankLines final : public Section {
 public:
  /// `section` must outlive this; nullptr: only the ranks are compared.
  explicit RankLines(Section* section) : section_(section) {}
  void start(const Iterations& iterations) override {
    if (section_ != nullptr) section_->start(iterations);
    work_.begin(iterations);
  }
  void read(const EachRows& each) override;
  [[nodiscard]] bool reads_all_ranges() const override {
    return section_ != nullptr && section_->reads_all_ranges();
  }
  [[nodiscard]] std::vector<Table> tables(const SectionInput&) override { return {}; }
  /// After the last chunk.
  [[nodiscard]] const RankWork& work() const noexcept { return work_; }

 private:
  Section* section_;
  RankWork work_;
};

}  // namespace rangefinder
