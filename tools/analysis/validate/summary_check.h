// SPDX-License-Identifier: Apache-2.0
//
// Compares summary.json with its trace: the totals that the application computed while it ran must equal
// those that the tools compute from the lines. The same for the truth in the end line.
//
//   each line ─▶ line() ─▶ totals, sums of samples ─▶ finish() ═ summary.json
//
// A summary that the tools completed names modules as reports show them, others as the program did.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "tools/analysis/model/shown_paths.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

struct SampleSums {
  using Bytes = std::array<std::uint64_t, 3>;  ///< DRAM read, DRAM written, L2
  std::uint64_t count = 0, idle = 0;
  Bytes bytes{};
  void add(const SamplesRecord& samples);
};

class SummaryCheck {
 public:
  /// Reads the summary, if there is one.
  explicit SummaryCheck(const TraceFolder& files);
  void line(const Line& line);
  /// A line that reports cannot read.
  void broken() { refused_ = refused_ || !first_; }
  /// Compares only a final summary with a complete trace, and nothing with a trace that reports refuse, as it
  /// has no header or is of several processes: the other checks say so. Returns "", or a sentence with the
  /// reason why it did not compare.
  [[nodiscard]] std::string finish(const ReadSummary& read, ProblemLog& problems);
  [[nodiscard]] const std::optional<Header>& first_header() const noexcept { return first_; }

 private:
  nlohmann::json summary_;
  std::optional<ShownPaths> shown_;  ///< of a summary that the tools completed
  TraceTotals trace_;
  TotalsFold fold_{trace_, nullptr};
  SampleSums samples_;
  std::optional<Header> first_;
  bool refused_ = false;
};

}  // namespace rangefinder
