// SPDX-License-Identifier: Apache-2.0
//
// What the user hears from us: nothing, unless something asked for cannot be done (one
// line on stderr), or RANGEFINDER_LOG asks for more (spdlog).
//
// No callback of NVTX or CUPTI logs, but where counters are taken or refused; the session and
// our own threads do.
#pragma once

#include <string>

namespace rangefinder {

/// Switches on spdlog at `level` ("trace" … "error"); an empty level leaves it off.
void start_log(const std::string& level);

/// The one line: "rangefinder: <text>" on stderr, for the first call only; later ones go to the log.
void say_once(const std::string& text) noexcept;

void log_info(const std::string& text) noexcept;
void log_debug(const std::string& text) noexcept;

}  // namespace rangefinder
