// SPDX-License-Identifier: Apache-2.0
//
// The texts of a trace by their ids, as tables of the lake have them: valid UTF-8, at the same address until
// the trace is done.
//
//   rows ─▶ add(rows) ─▶ module(7) == "model/decoder", kernel(3), …
//
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/analysis/model/dense_ids.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/trace_names.h"

namespace rangefinder {

/// Values by ids, each made when it is first asked for.
template <typename Value>
class MadeById {
 public:
  template <typename Make>
  const Value& get(std::uint32_t id, Make&& make) {
    std::uint32_t number = numbers_.find(id);
    if (number == DenseIds::kNone) {
      number = static_cast<std::uint32_t>(values_.size());
      values_.push_back(make());
      numbers_.set(id, number);
    }
    return values_[number];
  }

 private:
  DenseIds numbers_;
  std::vector<Value> values_;
};

class LakeTexts {
 public:
  /// `trace` must be there as long as texts are asked for, and have the names of rows before they are asked
  /// for.
  explicit LakeTexts(const TraceNames& trace) : trace_(trace) {}

  /// Names that TraceNames does not keep. Call it for each chunk, before its rows.
  void add(const SelectedRows& rows);

  [[nodiscard]] std::string_view module(std::uint32_t path) const;
  [[nodiscard]] std::string_view kernel(std::uint32_t name) const;
  [[nodiscard]] std::string_view from_library(std::uint32_t name) const;
  [[nodiscard]] const LaunchConfigRecord* config(std::uint32_t id) const;
  [[nodiscard]] std::string_view domain(std::uint32_t id) const;
  /// A push/pop range's own name, or the text of a start/end range.
  [[nodiscard]] std::string_view range(const RangeRecord& range) const;
  /// The name of push/pop ranges that are no level of a path (ShownPaths::kUnnamed).
  [[nodiscard]] static bool is_unnamed(std::uint32_t name) noexcept { return name == ShownPaths::kUnnamed; }
  [[nodiscard]] std::string_view metric_set(std::uint32_t id) const;
  /// {"metric": value, …}
  [[nodiscard]] std::string_view metrics(const ExactRecord& exact) const;
  /// Functions of a stack, outermost first, joined by ';'.
  [[nodiscard]] std::string_view stack(std::uint32_t id) const;
  /// The innermost function, with its line.
  [[nodiscard]] std::string_view function(std::uint32_t stack) const;
  /// A copy that stays, with U+FFFD for what is not UTF-8.
  [[nodiscard]] std::string_view valid(std::string_view text) const;

 private:
  using Texts = MadeById<std::string_view>;
  std::string_view keep(std::string text) const;

  const TraceNames& trace_;
  std::unordered_map<std::uint32_t, std::string> range_names_;
  std::unordered_map<std::uint32_t, MetricSetRecord> metric_sets_;
  mutable std::deque<std::string> kept_;
  mutable std::unordered_map<std::string_view, std::string_view> valid_;  // copies of texts
  mutable std::pair<std::string_view, std::string_view> last_valid_;      // one of them
  mutable Texts modules_, kernels_, libraries_, names_, stacks_, functions_;
  mutable MadeById<const LaunchConfigRecord*> configs_;
};

}  // namespace rangefinder
