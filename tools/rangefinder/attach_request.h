// SPDX-License-Identifier: Apache-2.0
//
// From the options of `rangefinder attach` to a control request.
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
  /// Something is to be done, not only shown.
  [[nodiscard]] bool acts() const noexcept {
    return is_window() || start || stop || snapshot || yield || resume || !counters.empty();
  }
};

/// What `process` is asked for. `many`: it is one of several, so that its folder must tell it apart, and its
/// window begins at `together_ns`. Throws WrongUse for options that do not go together.
[[nodiscard]] nlohmann::json attach_request(const AttachOptions& options, const TracedProcess& process,
                                            bool many, std::int64_t now_ns, std::int64_t together_ns);

}  // namespace rangefinder
