// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "tools/analysis/model/dense_ids.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

class LaunchCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    std::visit([this](const auto& record) { check(record); }, line);
  }

  void finish(const TraceFacts& facts) override {
    // In the trace of a killed program, missing lines may just not have been written yet.
    if (!facts.whole || !facts.is_final || facts.lines_lost()) return;
    end_ids();
    if (const std::uint64_t counted = facts.lost(Loss::record_without_launch); orphans_ > counted) {
      problems_.add_at(facts.folder, "correlation",
                       std::to_string(orphans_) + " GPU records have no launch (one has correlation " +
                           std::to_string(orphan_) + "), the ledger counts " + std::to_string(counted));
    }
    check_exact_kernels(facts);
    if (orphans_ == 0) check_recorded(facts);
    check_ranges(facts);
  }

 private:
  // The other tool may have ended CUPTI, which then counts ids from 1 again. No work after a gap was launched
  // before it.
  void check(const GapRecord&) { end_ids(); }
  /// Adds up the counts of the ids so far, and drops the ids.
  void end_ids() {
    for (const auto& [correlation, records] : waiting_) {
      if (launched_.contains(correlation)) continue;
      orphans_ += records;
      orphan_ = correlation;
    }
    waiting_.clear();
    found_ += recorded_.count_shared(plain_);
    for (IdBitmap* const ids : {&launched_, &plain_, &recorded_}) *ids = IdBitmap();
  }

  void check(const LaunchRecord& launch) {
    plain_.insert(launch.correlation);
    add_launch(launch);
  }
  void add_launch(const LaunchRecord& launch) {
    use_range(launch.host.range);
    if (!launched_.insert(launch.correlation)) {
      problems_.add("correlation", "a second launch with correlation " + std::to_string(launch.correlation));
    }
  }
  void check(const ExactRecord& exact) {
    if (exact.is_counter_range) return use_range(exact.launch.host.range);  // no launch
    add_launch(exact.launch);
    const std::uint32_t correlation = exact.launch.correlation;
    if (exact.kind == WorkKind::kernel && waiting_.count(correlation) == 0) unrecorded_.insert(correlation);
  }

  /// GPU work; other kinds do not count.
  template <typename Record>
  void check(const Record& record) {
    if constexpr (requires { record.work; }) {
      const GpuWork& work = record.work;
      use_range(work.range);
      recorded_.insert(work.correlation);
      ++work_lines_;
      if (!launched_.contains(work.correlation)) ++waiting_[work.correlation];
      if constexpr (std::is_same_v<Record, KernelRecord>) unrecorded_.erase(work.correlation);
    }
  }

  void check(const RangeRecord& range) {
    open_ranges_.erase(range.id);
    if (!ranges_.insert(range.id)) {
      problems_.add("duplicate-id", "a second range with id " + std::to_string(range.id));
    }
  }

  void use_range(std::uint64_t range) {
    // A range's line is written when the range closes, after the lines of the work in it.
    if (range != 0 && !ranges_.contains(range)) open_ranges_.insert(range);
  }

  /// An exact line has no GPU times, so each exact kernel needs a kernel line too.
  void check_exact_kernels(const TraceFacts& facts) const {
    if (unrecorded_.size() <= facts.lost(Loss::launch_without_record)) return;
    problems_.add_at(facts.folder, "correlation",
                     std::to_string(unrecorded_.size()) +
                         " exact kernels have no kernel line (one has correlation " +
                         std::to_string(*unrecorded_.begin()) + "), the ledger counts " +
                         std::to_string(facts.lost(Loss::launch_without_record)));
  }

  /// Compares the launches that have a record but no exact line with the end line. The end line counts them
  /// by kind; this check adds the kinds up, because only the profiler knows the kind of a call. Skipped if
  /// lines are missing, which another check reports.
  void check_recorded(const TraceFacts& facts) const {
    std::uint64_t promised = 0;
    for (const LaunchBalance& balance : facts.end.balance) promised += balance.recorded;
    if (found_ == promised || work_lines_ != promised_lines(facts.end)) return;
    problems_.add_at(facts.folder, "ledger",
                     std::to_string(found_) + " launches have a record of GPU work, the ledger counts " +
                         std::to_string(promised));
  }

  static std::uint64_t promised_lines(const EndRecord& end) {
    std::uint64_t lines = 0;
    for (const auto& [kind, n] : end.records) {
      if (kind == "kernel" || kind == "memcpy" || kind == "memset") lines += n;
    }
    return lines;
  }

  void check_ranges(const TraceFacts& facts) const {
    if (open_ranges_.empty() || facts.anything_lost()) return;
    problems_.add_at(facts.folder, "unknown-id",
                     "no line describes range " + std::to_string(*open_ranges_.begin()) +
                         ", which other lines use, and nothing was lost");
  }

  IdBitmap launched_;
  IdBitmap plain_;     // launches without an exact line
  IdBitmap recorded_;  // correlations of GPU work
  std::uint64_t work_lines_ = 0;
  std::uint64_t found_ = 0, orphans_ = 0;  // launches with a record, records without a launch
  std::uint32_t orphan_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> waiting_;  // records without a launch, by correlation
  std::unordered_set<std::uint32_t> unrecorded_;              // exact kernels, without a kernel line so far
  IdBitmap ranges_;
  std::set<std::uint64_t> open_ranges_;  // used, without a line so far
};

/// Compares launches with the line of their counter range. They arrive in any order. A complete range is
/// dropped, so memory grows with the number of open ranges.
class CounterRangeCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    const auto* const exact = std::get_if<ExactRecord>(&line);
    if (exact == nullptr || exact->counter_range == 0) return;
    if (exact->is_counter_range) {
      describe(*exact);
    } else {
      count_launch(*exact);
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

  void describe(const ExactRecord& exact) {
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

  void count_launch(const ExactRecord& exact) {
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

std::unique_ptr<TraceCheck> make_launch_check(ProblemLog& problems) {
  return std::make_unique<LaunchCheck>(problems);
}

std::unique_ptr<TraceCheck> make_counter_range_check(ProblemLog& problems) {
  return std::make_unique<CounterRangeCheck>(problems);
}

}  // namespace rangefinder
