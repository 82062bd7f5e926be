// SPDX-License-Identifier: Apache-2.0
//
// Which group of metrics measures a launch, where several groups take turns (metric_plan.h).
//
//   launches of iterations7 > layers/3    iteration 0 1 2 3 4 5 …
//     first                     group     A A B B C C
//     second                    group     A A B B C C     and so on: all launches of an iteration in one
//     group
//
// A launch is the same one in each iteration if its path and its number in that path are the same. Paths are
// compared as reports show them: the number of an iteration is folded (iteration_names.h), layers keep
// theirs. An iteration is an open range with such a name; without one, launches are numbered within their
// innermost range.
//
// All methods: under the lock of their ExactContext.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace rangefinder {

class Recorder;
struct ExactEntry;

class MetricTurns {
 public:
  /// Each change of groups takes as long as a start. At most these many a group come before a batch is full.
  static constexpr std::size_t kMaxEarlyTurnsPerGroup = 12;
  static constexpr std::size_t kMaxLaunches = 65'536;  ///< further ones are counted as one

  explicit MetricTurns(Recorder& recorder) noexcept : recorder_(recorder) {}

  /// A range is about to open for this launch. Chooses among `groups`; the same number at every call.
  void arrive(const ExactEntry& entry, std::size_t groups);
  /// The launch was measured often enough with `group`, and not at all with another: end the batch now. Not
  /// for launches outside of ranges: there the next one is another kernel.
  [[nodiscard]] bool is_due(std::size_t group) noexcept;
  /// The group to start: `group` again, or the one that measured this launch least often. `group` stays until
  /// its count is more than twice the lowest: a long run has few changes, and in a short one each group comes
  /// early.
  [[nodiscard]] std::size_t choose(std::size_t group) const noexcept;
  /// The range has opened, with `group`.
  void count(std::size_t group) noexcept;

 private:
  struct ShownPath {
    std::uint32_t id = 0;
    std::uint32_t iteration = 0;  ///< recorded path of the level that is the iteration; 0: none
    bool numbered = false;        ///< each iteration has a recorded path of its own
  };
  struct Numbering {
    std::uint64_t iteration = 0;
    std::uint32_t launches = 0;
  };
  [[nodiscard]] ShownPath shown(std::uint32_t path);
  [[nodiscard]] std::span<std::uint16_t> counts() noexcept {
    return {counts_.data() + at_ * groups_, groups_};
  }
  [[nodiscard]] std::span<const std::uint16_t> counts() const noexcept {
    return {counts_.data() + at_ * groups_, groups_};
  }

  Recorder& recorder_;
  std::size_t groups_ = 1;
  std::unordered_map<std::uint32_t, ShownPath> paths_;  // by recorded path
  std::map<std::tuple<std::uint32_t, std::string, std::uint32_t>, std::uint32_t>
      ids_;                                                    // parent, name, domain
  std::unordered_map<std::uint32_t, Numbering> numbering_;     // by shown path
  std::unordered_map<std::uint64_t, std::uint32_t> launches_;  // path and number
  std::vector<std::uint16_t> counts_;                          // by launch and group
  std::size_t at_ = 0;                                         // the launch that arrived
  bool in_range_ = false;
  std::size_t early_turns_ = 0;
};

}  // namespace rangefinder
