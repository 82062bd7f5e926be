// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/run_ranks.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>

#include "profiler/base/number_text.h"
#include "profiler/base/out_template.h"
#include "profiler/options/options.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/trace.h"
#include "tools/rangefinder/report_ranks.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

/// `rangefinder report` shows deeper levels.
constexpr std::uint32_t kLevelsShown = 2;

struct Rank {
  explicit Rank(const TraceFolder& files) {
    Trace rows(files, {TotalsFold::kColumns | CommunicationLog::kColumns, {}, {}, Keep::no});
    Selection all;
    rows.on_reading([&](const Chunk& chunk) { communication.add({chunk, rows.names(), all, true}); });
    trace = load_totals(rows, all);
    communication.finish();
  }
  TraceTotals trace;
  CommunicationLog communication;
};

/// Sort key. Ranks that are not numbers, and processes without a rank, come last.
unsigned long number_of(const Rank& rank) {
  const std::string& text = rank.trace.header.rank;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text.c_str(), &end, 10);
  return text.empty() || *end != '\0' ? ULONG_MAX : number;
}

std::string without_rank_text(std::size_t without, std::size_t all) {
  if (without == 0) return {};
  std::string names;
  for (const char* const name : kRankVariables) names += std::string(names.empty() ? "" : ", ") + name;
  return counted_text(without, "process", "processes") + " of " + std::to_string(all) +
         " had no rank: none of " + names + " was set.\n";
}

}  // namespace

std::string shared_out(const std::string& out) {
  if (out.empty() || out == Options{}.out) return "rangefinder-" + std::to_string(getpid());
  if (names_process(out)) {
    throw WrongUse("--out " + out + ": with --ranks all processes share one folder, with a subfolder each" +
                   "\n  Remove %p.");
  }
  return out;
}

std::string ranks_report(const std::vector<std::filesystem::path>& folders, const std::string& out,
                         const TextStyle& style) {
  std::vector<std::unique_ptr<Rank>> traces;
  RankReport report;
  std::string text;
  std::size_t without_rank = 0;
  for (const std::filesystem::path& folder : folders) {
    try {
      traces.push_back(std::make_unique<Rank>(open_trace_folder(folder)));
    } catch (const Missing& missing) {
      text += "rangefinder: " + std::string(missing.what()) + "\n";
      continue;
    }
    if (traces.back()->trace.header.rank.empty()) ++without_rank;
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const auto& a, const auto& b) { return number_of(*a) < number_of(*b); });
  for (const auto& rank : traces) report.add(rank->trace, rank->communication);
  if (traces.empty()) return text;
  return text + "\n" + report.text(style, kLevelsShown) + without_rank_text(without_rank, traces.size()) +
         "\nNext:  rangefinder report " + quoted_for_shell(out) + "\n";
}

}  // namespace rangefinder
