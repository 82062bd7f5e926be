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
#include "tools/analysis/ranks/rank_lines.h"
#include "tools/analysis/report/section_reading.h"
#include "tools/rangefinder/report_ranks.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

/// `rangefinder report` shows deeper levels.
constexpr std::uint32_t kLevelsShown = 2;

/// One trace, read for comparing ranks.
struct ReadRank {
  explicit ReadRank(const TraceFolder& files)
      : reading(files, {"", "", nullptr}, lines, {.iterations = true, .more = RankWork::kColumns}) {}
  RankLines lines{nullptr};
  SectionReading reading;
};

/// Sort key. Ranks that are not numbers, and processes without a rank, come last.
unsigned long number_of(const ReadRank& rank) {
  const std::string& text = rank.reading.trace.header.rank;
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
  std::vector<std::unique_ptr<ReadRank>> traces;
  std::string text;
  std::size_t without_rank = 0;
  for (const std::filesystem::path& folder : folders) {
    try {
      traces.push_back(std::make_unique<ReadRank>(open_trace_folder(folder)));
    } catch (const Missing& missing) {
      text += "rangefinder: " + std::string(missing.what()) + "\n";
      continue;
    }
    if (traces.back()->reading.trace.header.rank.empty()) ++without_rank;
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const auto& a, const auto& b) { return number_of(*a) < number_of(*b); });
  if (traces.empty()) return text;
  std::vector<JobRank> ranks;
  for (const auto& rank : traces)
    ranks.push_back({rank_name(rank->reading.trace), &rank->reading.trace, &rank->lines.work()});
  return text + "\n" + ranks_text(Job(ranks), style, kLevelsShown) + without_rank_text(without_rank, traces.size()) +
         "\nNext:  rangefinder report " + quoted_for_shell(out) + "\n";
}

}  // namespace rangefinder
