// SPDX-License-Identifier: Apache-2.0
//
// What recording costs in one window. Its parts count for the process, over all windows.
#pragma once

#include "profiler/activity/buffer_pool.h"
#include "profiler/conditions/condition_sampler.h"
#include "profiler/counters/exact/exact_profiler.h"
#include "profiler/counters/sampling/pm_sampler.h"
#include "profiler/launch/callback_cost.h"
#include "profiler/stacks/stack_sampler.h"
#include "schema/ledger_record.h"

namespace rangefinder {

class CostMeter {
 public:
  /// Each may be nullptr: it is not in use.
  struct Parts {
    const CallbackCost* callback_cost;
    const BufferPool* buffers;
    const ExactProfiler* exact;
    const PmSampler* sampler;
    const ConditionSampler* conditions;
    const StackSampler* stacks;
  };

  /// When the window begins.
  explicit CostMeter(const Parts& parts) : parts_(parts), before_(of_all_windows()) {}

  /// Since the window began, and the CPU time of the calling thread, the drain thread. Without
  /// drain_longest_ns, flush_longest_ns, bytes_written and held_ns.
  [[nodiscard]] OwnCost of_window() const;

 private:
  [[nodiscard]] OwnCost of_all_windows() const;

  const Parts parts_;
  const OwnCost before_;
};

}  // namespace rangefinder
