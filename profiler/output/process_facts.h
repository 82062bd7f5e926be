// SPDX-License-Identifier: Apache-2.0
//
// Facts about the process and host for the header of a trace, read from /proc.
#pragma once

#include <string>
#include <string_view>

#include "schema/record.h"

namespace rangefinder {

/// pid, parent, host, executable, command line, rank, driver release, and both clocks at one
/// moment. What cannot be read stays empty. `redact`: without the command line.
[[nodiscard]] Header read_process_facts(bool redact = false);

/// Release of NVIDIA's kernel module ("580.159.04") in `text`, the content of /proc/driver/nvidia/version.
/// Empty: the text names none.
[[nodiscard]] std::string driver_release_in(std::string_view text);
/// The same for this machine. Empty if the module is not loaded, or the file is hidden.
[[nodiscard]] std::string read_driver_release();

/// The name that Linux has for a thread of this process (comm); empty if the thread has ended.
[[nodiscard]] std::string thread_comm(std::uint32_t thread);

}  // namespace rangefinder
