// SPDX-License-Identifier: Apache-2.0
//
// CUPTI 13.0 does not always use the device memory of a graph's records again. When its pool is
// used up, after some 25 million records, nodes of graphs come without times for ever.
//
//   untimed so far ──▶ look() ── many since the last restart? ──▶ records off, flushed, on again
//
// Refuses to restart more than once in kPauseNs: should that be no cure, the application must not
// pay for it all the time. What came without times is counted as gpu_work_untimed, a restart as
// records_restarted; nothing is repaired afterwards. Drain thread only.
#pragma once

#include <cstdint>

#include "profiler/activity/activity_callbacks.h"
#include "schema/loss.h"

namespace rangefinder {

class NodeRecordGuard {
 public:
  /// Fewer happen for other reasons, where a context ends for example.
  static constexpr std::uint64_t kMinUntimed = 256;
  static constexpr std::int64_t kPauseNs = 10'000'000'000;

  explicit NodeRecordGuard(LossLedger& loss) noexcept : loss_(loss) {}

  /// Each turn; `untimed`: records of graphs that have come without times so far. True: it restarted.
  bool look(const CuptiFunctions& cupti, std::uint64_t untimed, std::int64_t now_ns) noexcept {
    if (untimed - untimed_at_restart_ < kMinUntimed) return false;
    if (restarted_ns_ != 0 && now_ns - restarted_ns_ < kPauseNs) return false;
    restart_node_records(cupti);
    loss_.add(Loss::records_restarted);
    restarted_ns_ = now_ns;
    untimed_at_restart_ = untimed;
    return true;
  }

 private:
  LossLedger& loss_;
  std::uint64_t untimed_at_restart_ = 0;
  std::int64_t restarted_ns_ = 0;
};

}  // namespace rangefinder
