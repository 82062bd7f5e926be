// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

/// Checks that push/pop ranges of a thread and a domain are nested or disjoint. A range's line is written
/// when it closes, after the ranges in it, which are then dropped. Memory: up to kMaxKept closed ranges
/// without a known parent per thread and domain, for up to kMaxStacks of those.
class NestingCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    const auto* const range = std::get_if<RangeRecord>(&line);
    if (range == nullptr || range->name != 0) return;  // start/end ranges need not nest
    if (range->end_ns != kNoTime && range->end_ns < range->start_ns) return;  // TimeCheck reports it
    const std::pair key{range->thread, range->domain};
    const auto known = closed_.find(key);
    if (known == closed_.end() && closed_.size() >= kMaxStacks) return;
    std::vector<Closed>& closed = known == closed_.end() ? closed_[key] : known->second;
    take({range->start_ns, range->end_ns == kNoTime ? INT64_MAX : range->end_ns, range->id}, closed);
  }

 private:
  static constexpr std::size_t kMaxKept = 1'024;
  static constexpr std::size_t kMaxStacks = 65'536;
  struct Closed {
    TimeNs start_ns, end_ns;
    std::uint64_t id;
  };

  void take(const Closed& range, std::vector<Closed>& closed) {
    if (!closed.empty() && range.end_ns < closed.back().end_ns) {  // lines are not in closing order
      const Closed& other = closed.back();
      if (range.start_ns < other.start_ns && range.end_ns > other.start_ns) cross(range, other);
      return;
    }
    while (!closed.empty() && closed.back().start_ns >= range.start_ns) closed.pop_back();
    if (!closed.empty() && closed.back().end_ns > range.start_ns && closed.back().end_ns < range.end_ns) {
      cross(range, closed.back());
    }
    if (closed.size() == kMaxKept) closed.erase(closed.begin(), closed.begin() + kMaxKept / 2);
    closed.push_back(range);
  }

  void cross(const Closed& range, const Closed& other) const {
    problems_.add("nesting", "range " + std::to_string(range.id) + " (" + std::to_string(range.start_ns) +
                                 " to " + std::to_string(range.end_ns) + " ns) is partly inside range " +
                                 std::to_string(other.id) + " (" + std::to_string(other.start_ns) + " to " +
                                 std::to_string(other.end_ns) + " ns) of the same thread and domain");
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Closed>> closed_;  // by thread and domain
};

}  // namespace

std::unique_ptr<TraceCheck> make_nesting_check(ProblemLog& problems) {
  return std::make_unique<NestingCheck>(problems);
}

}  // namespace rangefinder
