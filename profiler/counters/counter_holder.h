// SPDX-License-Identifier: Apache-2.0
//
// Which other process of this user holds the GPU's counters, as far as it runs with Rangefinder.
//
//   sockets of the user ─▶ {"command":"status"} ─▶ state recording, counters sampled or exact ─▶ its process
//   id
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

/// "process 4711 (python3) samples …, end its window with …"; empty: none answered. Asks each process
/// listening in `folders` but `self`. Waits for 100 ms at most.
[[nodiscard]] std::string counter_holder(const std::vector<std::string>& folders, pid_t self);

/// The sentence for an answer to `status`; empty: that process does not read counters.
[[nodiscard]] std::string counter_holder_text(std::string_view status);

}  // namespace rangefinder
