// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/problem_log.h"

#include <utility>

namespace rangefinder {

void ProblemLog::add(const char* kind, const std::string& text) {
  keep({place_.file == nullptr ? std::string() : place_.file->string(), place_.number, kind, text});
}

void ProblemLog::add_at(const std::string& file, const char* kind, const std::string& text) {
  keep({file, 0, kind, text});
}

void ProblemLog::keep(Problem problem) {
  ++count_;
  ++by_kind_[problem.kind];
  if (first_.size() < max_kept_) first_.push_back(std::move(problem));
}

}  // namespace rangefinder
