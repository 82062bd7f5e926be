// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/report/read_job.h"

#include <algorithm>

#include "tools/analysis/model/missing.h"
#include "tools/analysis/ranks/rank_lines.h"
#include "tools/analysis/report/section_reading.h"

namespace rangefinder {

struct ReadJob::One {
  One(const TraceFolder& files, const ReadLimits& limits)
      : reading(files, kRanksOnly, lines,
                {.iterations = true, .more = RankWork::kColumns, .limits = limits}) {}
  RankLines lines{nullptr};
  SectionReading reading;
};

ReadJob::ReadJob(const std::vector<TraceFolder>& folders, const ReadLimits& limits,
                 std::vector<std::string>* unreadable) {
  for (const TraceFolder& folder : folders) {
    try {
      read_.push_back(std::make_unique<One>(folder, limits));
    } catch (const Missing& missing) {
      if (unreadable == nullptr) throw;
      unreadable->emplace_back(missing.what());
    }
  }
  const auto number = [](const std::unique_ptr<One>& one) {
    return rank_number(one->reading.trace.header).value_or(UINT32_MAX);
  };
  std::stable_sort(read_.begin(), read_.end(),
                   [&number](const auto& a, const auto& b) { return number(a) < number(b); });
  std::vector<JobRank> ranks;
  for (const auto& one : read_)
    ranks.push_back({rank_name(one->reading.trace), &one->reading.trace, &one->lines.work()});
  job_ = std::make_unique<Job>(std::move(ranks));
}

ReadJob::~ReadJob() = default;

}  // namespace rangefinder
