// SPDX-License-Identifier: Apache-2.0
//
// The end line that a killed program did not write, from the lines that it did.
//
//   each whole line ─▶ add() ─┐
//   each line dropped ────────┴▶ end() ─▶ counts of lines, launched = recorded + exact + lost, loss
//
// What is not known is taken for lost, never for recorded: a launch whose record is not there counts under
// launch_without_record, though its record may only have been on its way. Lines that were damaged or never
// came count as lines_not_written. A launch made while its thread captured a stream is no launch, unless a
// record names it. Own cost is that of the last summary.json; without one it is 0.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "schema/read_line.h"
#include "tools/analysis/timeline/id_bitmap.h"

namespace rangefinder {

class SalvageLedger {
 public:
  void add(const Line& line);
  void drop_line() { ++dropped_; }

  /// `truth` and `own_cost` come from elsewhere.
  [[nodiscard]] EndRecord end(const CopyTruth& truth, const OwnCost& own_cost) const;
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  static constexpr std::size_t kKinds = 4;  // of WorkKind

  template <typename Other>
  void take(const Other&) {}
  void take(const LaunchRecord& launch);
  void take(const ExactRecord& exact);
  void take(const KernelRecord& record);
  void take(const MemcpyRecord& record) { take_work(record.work); }
  void take(const MemsetRecord& record) { take_work(record.work); }
  void take(const GraphRecord& record) { take_work(record.work); }
  void take(const RangeRecord& range);
  void take(const CaptureRecord& capture);
  void take(const SyncRecord& record) { take_host(record.host); }
  void take(const AllocRecord& record) { take_host(record.host); }
  void take(const EventRecord& record) { take_host(record.host); }
  void take(const MarkRecord& record) { use_range(record.range); }
  void take(const FlushRecord& flush);
  void take_host(const HostWork& host);
  void take_work(const GpuWork& work);
  void use_range(std::uint64_t range);
  [[nodiscard]] std::uint64_t open_counter_ranges() const;

  std::map<std::string, std::uint64_t, std::less<>> lines_;  // by kind, of events
  std::array<IdBitmap, kKinds> launched_, captured_;         // correlations, by WorkKind
  std::array<std::uint64_t, kKinds> exact_{};
  IdBitmap all_launched_, recorded_, exact_kernels_, kernel_records_;
  std::unordered_map<std::uint32_t, std::uint64_t> waiting_;    // records by correlation, launch not yet seen
  std::unordered_map<std::uint32_t, std::uint32_t> capturing_;  // threads: captures begun and not ended
  IdBitmap ranges_;
  std::unordered_set<std::uint64_t> open_ranges_;  // named, not described
  struct CounterRange {
    std::uint64_t launches = 0, described = 0;
  };
  std::unordered_map<std::uint64_t, CounterRange> counter_ranges_;  // not yet complete
  std::array<std::uint64_t, kLossCauses.size()> loss_{};            // of the last heartbeat
  std::uint64_t untimed_ = 0, dropped_ = 0;
  TimeNs last_ns_ = 0;
};

}  // namespace rangefinder
