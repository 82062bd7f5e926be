// SPDX-License-Identifier: Apache-2.0
//
// Answers about traces, kept while their trace does not change, and the trace of the last one.
//
//   IndexedTrace, name of the answer ─┬─ kept ──────────────────────────────▶ Answer
//                                     └─ else: WholeTrace, read once ─▶ make ─▶ Answer
//
// One trace is in memory at a time, within ReadLimits, and one answer is made at a time over all threads:
// both take memory and a core.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "tools/analysis/queries/whole_trace.h"
#include "tools/serve/trace_index.h"

namespace rangefinder {

/// Any thread.
class KeptAnswers {
 public:
  struct Answer {
    std::string text;
    std::string damage;  ///< of the trace, ReadSummary::damage
  };
  using SharedAnswer = std::shared_ptr<const Answer>;
  using Make = std::function<std::string(WholeTrace&)>;

  /// `columns`: what the answers read.
  explicit KeptAnswers(Columns columns) : columns_(columns) {}

  /// `name`: of the answer, with its parameters. Throws Missing.
  [[nodiscard]] SharedAnswer get(const IndexedTrace& trace, const std::string& name, const Make& make);

 private:
  struct Kept {
    std::string key;
    SharedAnswer answer;
  };
  [[nodiscard]] SharedAnswer find(const std::string& key);
  [[nodiscard]] SharedAnswer keep(const std::string& key, Answer answer);
  [[nodiscard]] WholeTrace& whole(const IndexedTrace& trace);

  const Columns columns_;
  std::mutex mutex_;                   // held while an answer is made
  std::list<Kept> kept_;               // guarded by mutex_; last used first
  std::unique_ptr<WholeTrace> whole_;  // guarded by mutex_
  std::string state_;                  // guarded by mutex_; of whole_
};

}  // namespace rangefinder
