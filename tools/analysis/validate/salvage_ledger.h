// SPDX-License-Identifier: Apache-2.0
//
// Computes the end line that a killed program did not write, from the lines that it wrote.
//
//   each valid line ───▶ add() ─┐
//   each dropped line ──────────┴▶ end() ─▶ counts of lines, launched = recorded + exact + lost, loss
//
// Unknown work counts as lost, never as recorded. A launch without a record counts as launch_without_record,
// although its record may just not have been written yet. Damaged and missing lines count as
// lines_not_written. A launch made while its thread captured a stream is not counted, unless a record refers
// to it. Own cost comes from the last summary.json, or is 0 without one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "schema/read_line.h"
#include "tools/analysis/model/dense_ids.h"
#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {

class SalvageLedger {
 public:
  void add(const Line& line);
  /// `readable`: the line was read, but cannot be kept.
  void drop_line(bool readable) { ++(readable ? refused_ : unreadable_); }
  /// Event lines that the trace lacks although they were on disk. Unreadable lines are among them.
  void miss_lines(std::uint64_t lines) { missing_ = lines; }

  /// Call it after the last line. `own_cost` is copied to the end line.
  [[nodiscard]] EndRecord end(const OwnCost& own_cost);
  [[nodiscard]] std::uint64_t dropped() const noexcept { return refused_ + unreadable_; }

 private:
  static constexpr std::size_t kKinds = 4;  // of WorkKind

  template <typename Record>
  void count(const Record& record) {
    if constexpr (requires { record.work; }) count_work(record.work);
    if constexpr (requires { record.host.start_ns; }) count_host(record.host);
  }
  void count(const LaunchRecord& launch);
  void count(const ExactRecord& exact);
  void count(const KernelRecord& record);
  void count(const RangeRecord& range);
  void count(const CaptureRecord& capture);
  void count(const MarkRecord& record) { use_range(record.range); }
  void count(const FlushRecord& flush);
  void count(const StackSampleRecord& record) { last_ns_ = std::max(last_ns_, record.end_ns); }
  void count_host(const HostWork& host);
  void count_work(const GpuWork& work);
  void use_range(std::uint64_t range);
  [[nodiscard]] std::uint64_t open_counter_ranges() const;

  std::map<std::string, std::uint64_t, std::less<>> lines_;  // event lines by kind
  std::array<IdBitmap, kKinds> launched_, captured_;         // correlations, by WorkKind
  std::array<std::uint64_t, kKinds> exact_{};
  IdBitmap all_launched_, recorded_, exact_kernels_, kernel_records_;
  std::unordered_map<std::uint32_t, std::uint64_t> waiting_;    // records without a launch, by correlation
  std::unordered_map<std::uint32_t, std::uint32_t> capturing_;  // open captures by thread
  IdBitmap ranges_;
  std::unordered_set<std::uint64_t> open_ranges_;  // used, without a line so far
  struct CounterRange {
    std::uint64_t launches = 0, described = 0;
  };
  std::unordered_map<std::uint64_t, CounterRange> counter_ranges_;  // by number
  std::array<std::uint64_t, kLossCauses.size()> loss_{};            // from the last heartbeat
  std::uint64_t untimed_ = 0, refused_ = 0, unreadable_ = 0, missing_ = 0;
  TimeNs last_ns_ = 0;
  TraceTotals totals_;
  TotalsFold fold_{totals_, nullptr};  // for the truth of copies
};

}  // namespace rangefinder
