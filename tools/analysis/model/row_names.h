// SPDX-License-Identifier: Apache-2.0
//
// Texts and paths by the numbers that the columns of a trace keep.
//
//   loader's threads ─▶ number_of("cuLaunchKernel") == 3        texts()[3] ◀─ readers of rows
//   loader, in order ─▶ ShownPaths::add()                 paths().id_of(7) ◀─ readers of rows
//
// Texts: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/analysis/model/shown_paths.h"

namespace rangefinder {

class RowNames {
 public:
  /// `paths` must outlive this.
  explicit RowNames(ShownPaths& paths) : paths_(paths) { static_cast<void>(number_of("")); }

  /// Equal texts have one number; "" has 0.
  [[nodiscard]] std::uint32_t number_of(std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto at = numbers_.find(text);
    if (at != numbers_.end()) return at->second;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }
  /// By number, those so far. They are valid as long as this object.
  [[nodiscard]] std::vector<std::string_view> texts() const {
    const std::lock_guard lock(mutex_);
    return {texts_.begin(), texts_.end()};
  }

  /// Whether any text so far has this beginning.
  [[nodiscard]] bool any_text(std::string_view beginning) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(texts_.begin(), texts_.end(),
                       [beginning](const std::string& text) { return text.starts_with(beginning); });
  }

  /// Of the lines that were read. One thread.
  [[nodiscard]] ShownPaths& paths() const noexcept { return paths_; }

 private:
  ShownPaths& paths_;
  mutable std::mutex mutex_;
  std::deque<std::string> texts_;                                // guarded by mutex_
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // of texts_; guarded by mutex_
};

}  // namespace rangefinder
