// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/analysis/read/line_parts.h"
#include "tools/analysis/read/line_times.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

class TimeCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    const LineTimes times = times_of(line);
    if (times.reversed()) {
      problems_.add("time", "ends at " + std::to_string(times.end_ns) + " ns, before its start at " +
                                std::to_string(times.start_ns) + " ns");
    }
    if (gpu_work(line) == nullptr) return;
    const bool has_start = times.start_ns != kNoTime, has_end = times.end_ns != kNoTime;
    if (has_start != has_end) problems_.add("time", "has only one of start and end");
    if (!has_start && !has_end) ++untimed_;
  }

  void finish(const TraceFacts& facts) override {
    if (facts.whole && facts.is_final && untimed_ > facts.lost(Loss::gpu_work_untimed)) {
      problems_.add_at(facts.folder, "untimed",
                       std::to_string(untimed_) + " pieces of GPU work have no times, the ledger counts " +
                           std::to_string(facts.lost(Loss::gpu_work_untimed)));
    }
  }

 private:
  std::uint64_t untimed_ = 0;
};

}  // namespace

std::unique_ptr<TraceCheck> make_time_check(ProblemLog& problems) {
  return std::make_unique<TimeCheck>(problems);
}

}  // namespace rangefinder
