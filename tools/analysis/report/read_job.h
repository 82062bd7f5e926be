// SPDX-License-Identifier: Apache-2.0
//
// Reads traces as the ranks of one job, each once.
//
//   ReadJob job(find_traces(folder));  straggler_lines(*job)
#pragma once

#include <memory>
#include <vector>

#include "tools/analysis/model/trace.h"
#include "tools/analysis/ranks/job.h"

namespace rangefinder {

class ReadJob {
 public:
  /// In the order of their ranks. Throws Missing, and NoMatch where TraceFolder::iteration_range matches
  /// nothing.
  explicit ReadJob(const std::vector<TraceFolder>& folders, const ReadLimits& limits = {});
  ~ReadJob();
  ReadJob(const ReadJob&) = delete;
  ReadJob& operator=(const ReadJob&) = delete;
  const Job& operator*() const { return *job_; }
  const Job* operator->() const { return job_.get(); }

 private:
  struct One;
  std::vector<std::unique_ptr<One>> read_;
  std::unique_ptr<Job> job_;
};

}  // namespace rangefinder
