// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/cost_meter.h"

#include "profiler/guest/thread_cpu.h"

namespace rangefinder {

OwnCost CostMeter::of_window() const {
  OwnCost cost = of_all_windows();
  cost.launch_callbacks -= before_.launch_callbacks;
  cost.exact_ns -= before_.exact_ns;
  cost.exact_batches -= before_.exact_batches;
  cost.launch_lock_ns -= before_.launch_lock_ns;
  cost.sampler_cpu_ns -= before_.sampler_cpu_ns;
  cost.samples -= before_.samples;
  cost.conditions_cpu_ns -= before_.conditions_cpu_ns;
  cost.stacks_cpu_ns -= before_.stacks_cpu_ns;
  cost.drain_cpu_ns = thread_cpu_ns();
  return cost;
}

OwnCost CostMeter::of_all_windows() const {
  OwnCost cost;
  if (parts_.callback_cost != nullptr) {
    cost.launch_callbacks = parts_.callback_cost->calls();
    cost.launch_callback_median_ns = parts_.callback_cost->quantile_ns(0.5);
    cost.launch_callback_p99_ns = parts_.callback_cost->quantile_ns(0.99);
  }
  if (parts_.buffers != nullptr) {
    cost.activity_buffers_peak = parts_.buffers->peak_in_flight();
    cost.activity_buffer_bytes = BufferPool::kBufferBytes;
  }
  if (parts_.exact != nullptr) {
    cost.exact_ns = parts_.exact->held_ns();
    cost.exact_batches = parts_.exact->batches();
    cost.launch_lock_ns = parts_.exact->launch_lock_ns();
  }
  if (parts_.sampler != nullptr) {
    cost.sampler_cpu_ns = parts_.sampler->cpu_ns();
    cost.samples = parts_.sampler->samples();
  }
  if (parts_.conditions != nullptr) cost.conditions_cpu_ns = parts_.conditions->cpu_ns();
  if (parts_.stacks != nullptr) cost.stacks_cpu_ns = parts_.stacks->cpu_ns();
  return cost;
}

}  // namespace rangefinder
