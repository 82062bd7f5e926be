// SPDX-License-Identifier: Apache-2.0
//
// Texts and paths by the numbers that the columns of a trace keep.
//
//   loader's threads ─▶ number_of("cuLaunchKernel") == 3     texts()[3] ◀─ readers of rows
//   loader, in order ─▶ show(7, 2)                        shown_path(7) ◀─ readers of rows
//
// number_of() and texts(): any thread. The rest: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/analysis/read/dense_ids.h"

namespace rangefinder {

class RowNames {
 public:
  /// `unknown(recorded)`: the shown path of one that has no path line.
  explicit RowNames(std::function<std::uint32_t(std::uint32_t)> unknown) : unknown_(std::move(unknown)) {
    static_cast<void>(number_of(""));
  }

  /// Equal texts have one number; "" has 0.
  [[nodiscard]] std::uint32_t number_of(std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }
  /// By number, those known by now. They are valid as long as this object.
  [[nodiscard]] std::vector<std::string_view> texts() const {
    const std::lock_guard lock(mutex_);
    return {texts_.begin(), texts_.end()};
  }

  /// Whether a text with this beginning is known.
  [[nodiscard]] bool any_text(std::string_view beginning) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(texts_.begin(), texts_.end(),
                       [beginning](const std::string& text) { return text.starts_with(beginning); });
  }

  /// `omitted`: ranges of this path are no level.
  void show(std::uint32_t recorded, std::uint32_t shown, bool omitted = false) {
    if (omitted) omitted_.insert(recorded);
    paths_.set(recorded, shown);
  }
  [[nodiscard]] std::uint32_t shown_path(std::uint32_t recorded) {
    const std::uint32_t shown = paths_.find(recorded);
    return shown != DenseIds::kNone ? shown : add_path(recorded);
  }
  void forget_paths() {
    paths_ = {};
    omitted_.clear();
  }
  [[nodiscard]] bool is_omitted(std::uint32_t recorded) const {
    return !omitted_.empty() && omitted_.count(recorded) != 0;
  }

 private:
  std::uint32_t add_path(std::uint32_t recorded) {
    const std::uint32_t shown = unknown_(recorded);
    show(recorded, shown);
    return shown;
  }

  std::function<std::uint32_t(std::uint32_t)> unknown_;
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;                                // guarded by mutex_
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // of texts_; guarded by mutex_
  DenseIds paths_;                                               // by recorded id
  std::unordered_set<std::uint32_t> omitted_;
};

}  // namespace rangefinder
