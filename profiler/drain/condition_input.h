// SPDX-License-Identifier: Apache-2.0
//
// Passes the readings of the conditions to the trace of one window.
//
//   ConditionSampler ─▶ turn() ─▶ TraceFiles::on_conditions()
//          ▲              └─ GPUs with a context, a new segment
//          └──────────────────────┘
//
// Drain thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/conditions/condition_sampler.h"
#include "profiler/drain/trace_files.h"
#include "schema/loss.h"

namespace rangefinder {

class ConditionInput {
 public:
  /// `sampler`: nullptr: nothing is read.
  ConditionInput(ConditionSampler* sampler, TraceFiles& trace) : sampler_(sampler), trace_(trace) {}

  /// The window begins: readings begin.
  void begin();
  /// `records`: whether the trace gets what was read since the last turn; not between monitor mode's windows.
  void turn(bool records, LossLedger& loss);
  /// The window has ended: no more readings.
  void end();

 private:
  void follow_gpus();
  void count_lost(LossLedger& loss);

  ConditionSampler* const sampler_;
  TraceFiles& trace_;
  std::vector<ConditionRecord> records_;
  std::size_t contexts_ = 0;
  std::uint32_t segment_ = 0;
  std::uint64_t lost_ = 0;  // of the process so far
};

}  // namespace rangefinder
