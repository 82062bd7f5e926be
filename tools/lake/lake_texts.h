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

#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/model/trace_names.h"

namespace rangefinder {

/// Values by ids that are dense in every trace that the profiler wrote.
template <typename Value>
class ByDenseId {
 public:
  /// The value of `id`, made by make() when it is first asked for.
  template <typename Make>
  const Value& get(std::uint32_t id, Make&& make) {
    if (id >= kMaxDense) {
      const auto [at, is_new] = rare_.try_emplace(id);
      if (is_new) at->second = make();
      return at->second;
    }
    if (id >= known_.size()) {
      known_.resize(id + std::size_t{1});
      values_.resize(id + std::size_t{1});
    }
    if (!known_[id]) {
      values_[id] = make();
      known_[id] = true;
    }
    return values_[id];
  }

 private:
  static constexpr std::uint32_t kMaxDense = 1 << 20;
  std::vector<bool> known_;
  std::vector<Value> values_;
  std::unordered_map<std::uint32_t, Value> rare_;
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
  [[nodiscard]] std::string_view library(std::uint32_t name) const;
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
  using Texts = ByDenseId<std::string_view>;
  std::string_view keep(std::string text) const;

  const TraceNames& trace_;
  std::unordered_map<std::uint32_t, std::string> range_names_;
  std::unordered_map<std::uint32_t, MetricSetRecord> metric_sets_;
  mutable std::deque<std::string> kept_;
  mutable std::unordered_map<std::string_view, std::string_view> valid_;  // copies of texts
  mutable std::pair<std::string_view, std::string_view> last_valid_;      // one of them
  mutable Texts modules_, kernels_, libraries_, names_, stacks_, functions_;
  mutable ByDenseId<const LaunchConfigRecord*> configs_;
};

}  // namespace rangefinder
