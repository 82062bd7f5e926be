// SPDX-License-Identifier: Apache-2.0
//
// Names of ranges that mark an iteration.
//
//   "iterations12"    ─▶ "iterations*"       "ProfilerStep#12" ─▶ "ProfilerStep#*"
//   "Epoch 3 step 17" ─▶ "Epoch * step *"    "rank0_step_17"   ─▶ "rank0_step_*"
//   "layer_3", "conv1", "optimizer.step"     no names of iterations
//
// Replaces only the numbers that follow a word for an iteration, in any case, singular or plural.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rangefinder {

struct IterationName {
  std::string folded;     ///< with '*' in place of its numbers
  bool numbered = false;  ///< false: exactly a word such as "step", without a number
  bool epoch = false;     ///< a series of iterations: its parts are the iterations
};

/// Absent: `name` does not mark an iteration.
[[nodiscard]] std::optional<IterationName> iteration_name(std::string_view name);

/// Replaces the last number of a name: "infer_12" ─▶ "infer_*". Returns a name without one unchanged.
[[nodiscard]] std::string last_number_folded(std::string_view name);

/// "layers/12" ─▶ "layers/*", "layer 12" ─▶ "layer *": modules that differ only in a number are shown as one.
[[nodiscard]] std::string numbers_folded(std::string_view path_text);

}  // namespace rangefinder
