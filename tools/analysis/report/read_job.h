// SPDX-License-Identifier: Apache-2.0
//
// Reads traces as the ranks of one job, each once.
//
//   ReadJob job(find_traces(folder));  straggler_lines(*job)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/analysis/model/trace.h"
#include "tools/analysis/ranks/job.h"

namespace rangefinder {

class ReadJob {
 public:
  /// In the order of their numbers; processes without one come last. Throws NoMatch where
  /// TraceFolder::iteration_range matches nothing, and Missing; with `unreadable`, which gets these
  /// messages, the other traces are compared.
  explicit ReadJob(const std::vector<TraceFolder>& folders, const ReadLimits& limits = {},
                   std::vector<std::string>* unreadable = nullptr);
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
