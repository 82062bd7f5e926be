// SPDX-License-Identifier: Apache-2.0
//
// What rtdetr does once its options are known: load, run, print.
//
//   images or random input -+
//   weights or a seed ------+-> warm up -> capture -> timed iterations -> [dump] -> detections
//
// Ranges: H2D, preprocess, warmup, iteration, dump, D2H, around those of the network.
#pragma once

#include "workloads/rtdetr/options.h"

namespace rangefinder::rtdetr {

/// Throws GpuError, else std::exception for what is wrong with a file or the options.
void run_program(const Options& options);

}  // namespace rangefinder::rtdetr
