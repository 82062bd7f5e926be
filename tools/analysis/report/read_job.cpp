// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/report/read_job.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "tools/analysis/ranks/rank_lines.h"
#include "tools/analysis/report/section_reading.h"

namespace rangefinder {

struct ReadJob::One {
  One(const TraceFolder& files, const ReadLimits& limits)
      : reading(files, {"", "", nullptr}, lines,
                {.iterations = true, .more = RankWork::kColumns, .limits = limits}) {}
  /// Ranks that are not numbers, and processes without a rank, come last.
  [[nodiscard]] unsigned long number() const {
    const std::string& text = reading.trace.header.rank;
    char* end = nullptr;
    const unsigned long out = std::strtoul(text.c_str(), &end, 10);
    return text.empty() || *end != '\0' ? ULONG_MAX : out;
  }
  RankLines lines{nullptr};
  SectionReading reading;
};

ReadJob::ReadJob(const std::vector<TraceFolder>& folders, const ReadLimits& limits) {
  for (const TraceFolder& folder : folders) read_.push_back(std::make_unique<One>(folder, limits));
  std::stable_sort(read_.begin(), read_.end(),
                   [](const auto& a, const auto& b) { return a->number() < b->number(); });
  std::vector<JobRank> ranks;
  for (const auto& one : read_)
    ranks.push_back({rank_name(one->reading.trace), &one->reading.trace, &one->lines.work()});
  job_ = std::make_unique<Job>(std::move(ranks));
}

ReadJob::~ReadJob() = default;

}  // namespace rangefinder
