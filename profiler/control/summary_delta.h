// SPDX-License-Identifier: Apache-2.0
//
// What has changed from one summary of a window to the next.
//
// Sums grow, so their differences are what happened in between: for each module and for
// the work outside of ranges the counters below, if any of them changed. Values that were
// not measured stay absent. Pure; control thread.
#pragma once

#include <nlohmann/json.hpp>

namespace rangefinder {

class SummaryDelta {
 public:
  /// `summary`: the next one, whole. Returns {"duration_ns", "modules": [...], "outside": {...},
  /// "loss": {...}} with differences to the last one; the first time to nothing.
  [[nodiscard]] nlohmann::json next(nlohmann::json summary);
  /// Another window begins.
  void reset() { last_ = nullptr; }

 private:
  nlohmann::json last_;
};

}  // namespace rangefinder
