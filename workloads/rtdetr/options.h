// SPDX-License-Identifier: Apache-2.0
//
// The command line of rtdetr, parsed by CLI11 and checked as a whole before anything is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/rtdetr/network.h"

namespace rangefinder::rtdetr {

struct Options {
  std::string model = "r50";
  std::string weights;  ///< file; empty: synthetic weights from `seed`
  std::uint64_t seed = 1;
  NetworkOptions network;  ///< --dtype, --batch, --size, --attention, --deformable
  int iterations = 10;
  int warmup = 3;
  bool graph = true;
  std::vector<std::string> images;  ///< empty: random, smooth input
  float threshold = 0.5F;
  bool json = false;
  std::string draw;        ///< PNG, or empty
  std::string dump;        ///< folder or .safetensors, or empty
  std::string force_topk;  ///< .safetensors with topk_ind, or empty
};

enum class Parsed { run, stop };

/// On `stop`, the program must end with `exit_code`: 0 after --help, 2 on wrong use; the text is printed.
Parsed parse_options(int argc, char** argv, Options& options, int& exit_code);

}  // namespace rangefinder::rtdetr
