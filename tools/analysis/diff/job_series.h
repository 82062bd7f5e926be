// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job as one side of a comparison.
//
//   Job ─▶ series_of_job ─▶ IterationSeries: own GPU time of modules, mean, smallest and largest of the
//   ranks;
//                           iteration, waits for other ranks, communication; who is late
//
// Kernels by name, bytes and calls outside of iterations are not compared: `diff` of two ranks has them.
#pragma once

#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/ranks/job.h"

namespace rangefinder {

/// `wanted`: the selected ones of the iterations that all ranks have. Throws Missing if there are none.
[[nodiscard]] IterationSeries series_of_job(const Job& job, const HalfOpen<std::uint64_t>& wanted);

}  // namespace rangefinder
