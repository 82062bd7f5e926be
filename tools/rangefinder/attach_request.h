// SPDX-License-Identifier: Apache-2.0
//
// Turns the options of `rangefinder attach` into a control request.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/attach/control_client.h"

namespace rangefinder {

struct AttachOptions {
  std::string which;
  bool all = false, start = false, stop = false, snapshot = false, yield = false, resume = false,
       json = false;
  std::string window, range, at, counters, out;
  std::uint64_t launches = 0, occurrences = 0, after = 0;

  [[nodiscard]] bool is_window() const noexcept {
    return !window.empty() || launches != 0 || !range.empty() || occurrences != 0;
  }
  /// There is an action, so attach does more than show state.
  [[nodiscard]] bool acts() const noexcept {
    return is_window() || start || stop || snapshot || yield || resume || !counters.empty();
  }
};

/// The request for `process`. `many`: it is one of several; its folder must then be distinct, and its window
/// starts at `together_ns`. Throws WrongUse for options that exclude each other.
[[nodiscard]] nlohmann::json attach_request(const AttachOptions& options, const TracedProcess& process,
                                            bool many, std::int64_t now_ns, std::int64_t together_ns);

}  // namespace rangefinder
