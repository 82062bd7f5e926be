// SPDX-License-Identifier: Apache-2.0
//
// Works around a leak: CUPTI 13.0 does not always reuse the device memory of a graph's records.
// When its pool is used up, after about 25 million records, graph nodes have no times from then on.
//
//   untimed so far ──▶ restart_if_leaking() ── many? ──▶ records disabled, flushed, enabled
//
// Restarts at most once per kPauseNs: if a restart does not help, the application must not keep
// paying for it. Records without times are counted as gpu_work_untimed, restarts as
// records_restarted; nothing is repaired afterwards. Drain thread only.
#pragma once

#include <cstdint>

#include "profiler/activity/activity_callbacks.h"
#include "schema/loss.h"

namespace rangefinder {

class NodeRecordGuard {
 public:
  /// Fewer occur for other reasons, for example when a context ends.
  static constexpr std::uint64_t kMinUntimed = 256;
  static constexpr std::int64_t kPauseNs = 10'000'000'000;

  explicit NodeRecordGuard(LossLedger& loss) noexcept : loss_(loss) {}

  /// Each drain period. `untimed`: graph records without times so far. True: records were restarted.
  bool restart_if_leaking(const CuptiFunctions& cupti, std::uint64_t untimed, std::int64_t now_ns) noexcept {
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
