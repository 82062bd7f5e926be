// SPDX-License-Identifier: Apache-2.0
//
// What has changed from one summary of a window to the next.
//
// Sums grow, so their differences are what happened in between: for each module and for
// the work outside of ranges the counters below, if any of them changed. Values that were
// not measured stay absent. Pure; control thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

namespace rangefinder {

class SummaryDelta {
 public:
  static constexpr std::size_t kSums = 8;
  using Sums = std::array<double, kSums>;

  /// `summary`: the next one, whole, an object. Returns {"duration_ns", "modules": [...], "outside": {...},
  /// "loss": {...}} with differences to the last one; the first time to nothing.
  [[nodiscard]] nlohmann::json next(const nlohmann::json& summary);
  /// Another window begins.
  void reset() { *this = SummaryDelta(); }

 private:
  struct Module {
    Sums sums{};
    std::uint64_t number = 0;  // of the last summary that had it
  };
  [[nodiscard]] nlohmann::json loss_differences(const nlohmann::json& now);

  // Not the last summary itself: JSON is a small block of memory for each of its values.
  std::unordered_map<std::string, Module> modules_;  // by path
  Sums outside_{};
  std::map<std::string, std::uint64_t> loss_;
  double duration_ns_ = 0;
  std::uint64_t number_ = 0;  // summaries so far
};

}  // namespace rangefinder
