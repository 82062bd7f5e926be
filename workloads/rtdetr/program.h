// SPDX-License-Identifier: Apache-2.0
//
// The run of rtdetr with given options: load, run, print.
//
//   images or random input -+
//   weights or a seed ------+-> warm up -> capture -> timed iterations -> [dump] -> detections
//
// Ranges: H2D, preprocess, warmup, iteration, dump, D2H, around those of the network.
#pragma once

#include "workloads/rtdetr/options.h"

namespace rangefinder::rtdetr {

/// Throws GpuError, or another std::exception if a file or an option is wrong.
void run_program(const Options& options);

}  // namespace rangefinder::rtdetr
