// SPDX-License-Identifier: Apache-2.0
//
// The damage found in the traces that a command read.
//
//   read_lines: note(ReadSummary::damage) ─▶ the verb shows what is readable ─▶ main: a sentence, exit code 3
//
// One object per process, so no verb can forget to report damage. A caller that judges lines itself, such
// as `validate`, reports them itself; read_lines then notes nothing. Any thread.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

namespace rangefinder {

class ReadDamage {
 public:
  /// Ignores a sentence that a second pass over the files repeats. Keeps the first kMax sentences.
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
