// SPDX-License-Identifier: Apache-2.0
//
// Computes what changed between two summaries of a window.
//
// For each module, and for work outside of ranges: the differences of the sums that
// changed. Values that were not measured stay absent. Pure; control thread.
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

  /// `summary`: the next whole summary, an object. Returns {"duration_ns", "modules": [...], "outside":
  /// {...}, "loss": {...}} with the differences to the last one. The first call returns the whole sums.
  [[nodiscard]] nlohmann::json next(const nlohmann::json& summary);
  /// Call when another window begins.
  void reset() { *this = SummaryDelta(); }

 private:
  struct Module {
    Sums sums{};
    std::uint64_t number = 0;  // of the last summary that held this module
  };
  [[nodiscard]] nlohmann::json loss_differences(const nlohmann::json& now);

  // Not the last summary itself: nlohmann::json allocates a small block for each value.
  std::unordered_map<std::string, Module> modules_;  // by path
  Sums outside_{};
  std::map<std::string, std::uint64_t> loss_;
  double duration_ns_ = 0;
  std::uint64_t number_ = 0;  // summaries so far
};

}  // namespace rangefinder
