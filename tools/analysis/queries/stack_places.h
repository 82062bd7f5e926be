// SPDX-License-Identifier: Apache-2.0
//
// Which line of a stack a report names.
//
//   threading.py:327 wait        innermost
//   queue.py:180 get
//   data.py:41 next_batch        the innermost line of the user's own code ─▶ named
//   train.py:30 train
//
// That line says what the user can change. Code of the standard library, of installed packages and of this
// profiler is not the user's; without any of the user's, the innermost line is named. What happens inside
// that the line does not show is StackState.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/analysis/model/stack_names.h"

namespace rangefinder {

/// The innermost frame while the interpreter collects garbage.
inline constexpr std::string_view kGarbageCollection = "(garbage collection)";

enum class StackState : std::uint8_t {
  runs,
  collects,  ///< garbage
  imports,
  waits,             ///< inside of the standard library, for a lock, a queue or another process
  waits_for_workers  ///< of a PyTorch DataLoader
};

struct StackPlace {
  std::uint32_t frame = 0;  ///< that is named; 0: the stack is unknown
  /// Of a wait: the frame that waits; of workers, the innermost of the loader's. 0: `frame` itself.
  std::uint32_t waits_in = 0;
  StackState state = StackState::runs;
  bool is_innermost = false;  ///< the named line itself ran
};

[[nodiscard]] StackPlace place_of(const StackNames& names, std::uint32_t stack);

/// Of the user: not of the standard library, an installed package, or this profiler. True if `file` is
/// empty: unknown, as in a redacted trace.
[[nodiscard]] bool is_own_code(std::string_view file) noexcept;

/// "data.py:41 decode_image"; without a file "decode_image".
[[nodiscard]] std::string frame_text(const FrameRecord& frame);
/// "data.py:41"; "data.py" without a line; "" without a file.
[[nodiscard]] std::string frame_source(const FrameRecord& frame);

}  // namespace rangefinder
