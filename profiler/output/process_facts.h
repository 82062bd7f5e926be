// SPDX-License-Identifier: Apache-2.0
//
// Facts about the process and host for the header of a trace, read from /proc.
#pragma once

#include <string>

#include "schema/record.h"

namespace rangefinder {

/// pid, parent, host, executable, command line, rank and both clocks at one moment. What cannot
/// be read stays empty.
[[nodiscard]] Header read_process_facts();

/// CLOCK_MONOTONIC_RAW in ns.
[[nodiscard]] std::int64_t monotonic_now_ns() noexcept;

/// The kernel's name of a thread of this process; empty if it has ended.
[[nodiscard]] std::string thread_comm(std::uint32_t thread);

}  // namespace rangefinder
