// SPDX-License-Identifier: Apache-2.0
//
// Reads traces as the ranks of a job, as `report` does.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "tools/analysis/ranks/job.h"
#include "tools/analysis/ranks/rank_lines.h"
#include "tools/analysis/report/section_reading.h"

namespace rangefinder::test {

class ReadJob {
 public:
  explicit ReadJob(const std::vector<std::filesystem::path>& folders) {
    for (const std::filesystem::path& folder : folders)
      read_.push_back(std::make_unique<One>(open_trace_folder(folder)));
    std::vector<JobRank> ranks;
    for (const auto& one : read_)
      ranks.push_back({rank_name(one->reading.trace), &one->reading.trace, &one->lines.work()});
    job_ = std::make_unique<Job>(std::move(ranks));
  }
  const Job& operator*() const { return *job_; }
  const Job* operator->() const { return job_.get(); }

 private:
  struct One {
    explicit One(const TraceFolder& files)
        : reading(files, {"", "", nullptr}, lines, {.iterations = true, .more = RankWork::kColumns}) {}
    RankLines lines{nullptr};
    SectionReading reading;
  };
  std::vector<std::unique_ptr<One>> read_;
  std::unique_ptr<Job> job_;
};

}  // namespace rangefinder::test
