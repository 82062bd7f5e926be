// SPDX-License-Identifier: Apache-2.0
//
// Messages to the user: one line on stderr if something requested cannot be done, otherwise
// nothing. RANGEFINDER_LOG turns on a log (spdlog).
//
// NVTX and CUPTI callbacks do not log, except where counters start or are refused. The session
// and our own threads do. Level `debug` has decisions: which CUPTI, which counters and why, windows, and
// how long calls of the program were held.
#pragma once

#include <string>

namespace rangefinder {

/// Switches on spdlog at `level` ("trace" … "error"); an empty level leaves it off.
void start_log(const std::string& level);

/// Prints "rangefinder: <text>" on stderr, for the first call only. Every call also goes to the log.
void say_once(const std::string& text) noexcept;

void log_info(const std::string& text) noexcept;

/// False: log_debug() shows nothing, so its text need not be made.
[[nodiscard]] bool logs_debug() noexcept;
void log_debug(const std::string& text) noexcept;

}  // namespace rangefinder
