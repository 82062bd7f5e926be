// SPDX-License-Identifier: Apache-2.0
//
// Passes the samples of host stacks to the trace of one window.
//
//   StackSampler ─▶ turn() ─▶ TraceFiles::on_stacks()
//
// Drain thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/drain/trace_files.h"
#include "profiler/stacks/stack_sampler.h"
#include "schema/loss.h"

namespace rangefinder {

class StackInput {
 public:
  /// `sampler`: nullptr: nothing is read.
  StackInput(StackSampler* sampler, TraceFiles& trace) : sampler_(sampler), trace_(trace) {}

  /// The window begins: readings begin.
  void begin();
  /// `records`: whether the trace gets what was read since the last turn; not between monitor mode's windows.
  void turn(bool records, LossLedger& loss);
  /// The window has ended: no more readings. The last ones come with the next turn.
  void end();

 private:
  StackSampler* const sampler_;
  TraceFiles& trace_;
  std::vector<StackSampleRecord> records_;
  std::uint64_t lost_ = 0;  // of the process so far
};

}  // namespace rangefinder
