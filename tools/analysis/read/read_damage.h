// SPDX-License-Identifier: Apache-2.0
//
// What could not be read of the traces that a command used.
//
//   read_trace: note(ReadSummary::damage) ─▶ the verb shows what there is ─▶ main: a sentence, exit code 3
//
// One per process, so that no verb can forget it. A visitor that judges lines itself, as `validate` does,
// says so in its own words: of those nothing is noted. Any thread.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace rangefinder {

class ReadDamage {
 public:
  /// The same sentence, of a second pass over the files, once. The first few will do.
  void note(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    const bool known = std::find(sentences_.begin(), sentences_.end(), sentence) != sentences_.end();
    if (!known && sentences_.size() < kMax) sentences_.push_back(sentence);
  }
  [[nodiscard]] std::vector<std::string> sentences() const {
    const std::lock_guard lock(mutex_);
    return sentences_;
  }

 private:
  static constexpr std::size_t kMax = 20;
  mutable std::mutex mutex_;
  std::vector<std::string> sentences_;  // guarded by mutex_
};

inline ReadDamage read_damage;

}  // namespace rangefinder
