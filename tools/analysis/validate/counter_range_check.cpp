// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <unordered_map>

#include "tools/analysis/timeline/id_bitmap.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

/// Compares launches with the line of their counter range. They arrive in any order. A complete range is
/// dropped, so memory grows with the number of open ranges.
class CounterRangeCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    const auto* const exact = std::get_if<ExactRecord>(&line);
    if (exact == nullptr || exact->counter_range == 0) return;
    if (exact->is_counter_range) {
      take_range(*exact);
    } else {
      take_launch(*exact);
    }
  }

  void finish(const TraceFacts& facts) override {
    if (!facts.whole || !facts.is_final || facts.lines_lost()) return;
    for (const auto& [number, range] : open_) {
      problems_.add_at(facts.folder, "exact",
                       range.described ? "counter range " + std::to_string(number) + " has " +
                                             std::to_string(range.launches) + " launches (" +
                                             std::to_string(range.kernels) + " kernels), its line counts " +
                                             std::to_string(range.promised_launches) + " (" +
                                             std::to_string(range.promised_kernels) + ")"
                                       : std::to_string(range.launches) + " launches share counter range " +
                                             std::to_string(number) + ", which no line describes");
    }
  }

 private:
  struct Range {
    bool described = false;
    std::uint64_t promised_launches = 0, promised_kernels = 0;
    std::uint64_t launches = 0, kernels = 0;
    [[nodiscard]] bool complete() const {
      return described && launches == promised_launches && kernels == promised_kernels;
    }
  };

  void take_range(const ExactRecord& exact) {
    const std::uint64_t number = exact.counter_range;
    if (exact.kernels > exact.launches) {
      problems_.add("exact", "counter range " + std::to_string(number) + " has more kernels than launches");
    }
    Range& range = open_[number];
    if (range.described || settled_.contains(number)) {
      problems_.add("duplicate-id", "a second counter range " + std::to_string(number));
      if (!range.described) open_.erase(number);
      return;
    }
    range.described = true;
    range.promised_launches = exact.launches;
    range.promised_kernels = exact.kernels;
    settle(number, range);
  }

  void take_launch(const ExactRecord& exact) {
    if (settled_.contains(exact.counter_range)) {
      problems_.add("exact", "counter range " + std::to_string(exact.counter_range) +
                                 " has more launches than its line counts");
      return;
    }
    Range& range = open_[exact.counter_range];
    ++range.launches;
    range.kernels += exact.kind == WorkKind::kernel || exact.kind == WorkKind::graph ? 1 : 0;
    settle(exact.counter_range, range);
  }

  void settle(std::uint64_t number, const Range& range) {
    if (!range.complete()) return;
    settled_.insert(number);
    open_.erase(number);
  }

  std::unordered_map<std::uint64_t, Range> open_;
  IdBitmap settled_;
};

}  // namespace

std::unique_ptr<TraceCheck> make_counter_range_check(ProblemLog& problems) {
  return std::make_unique<CounterRangeCheck>(problems);
}

}  // namespace rangefinder
