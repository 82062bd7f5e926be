// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/run_ranks.h"

#include <unistd.h>

#include <algorithm>

#include "profiler/base/number_text.h"
#include "profiler/base/out_template.h"
#include "profiler/options/options.h"
#include "tools/analysis/report/read_job.h"
#include "tools/rangefinder/report_ranks.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

/// `rangefinder report` shows deeper levels.
constexpr std::uint32_t kLevelsShown = 2;

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
  std::vector<TraceFolder> traces;
  for (const std::filesystem::path& folder : folders) traces.push_back(open_trace_folder(folder));
  std::vector<std::string> unreadable;
  const ReadJob job(traces, {}, &unreadable);
  std::string text;
  for (const std::string& message : unreadable) text += "rangefinder: " + message + "\n";
  if (job->ranks.empty()) return text;
  const auto without_rank = std::count_if(job->ranks.begin(), job->ranks.end(), [](const JobRank& rank) {
    return rank.trace->header.rank.empty();
  });
  return text + "\n" + ranks_text(*job, style, kLevelsShown) +
         without_rank_text(static_cast<std::size_t>(without_rank), job->ranks.size()) +
         "\nNext:  rangefinder report " + quoted_for_shell(out) + "\n";
}

}  // namespace rangefinder
