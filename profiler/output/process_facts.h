// SPDX-License-Identifier: Apache-2.0
//
// Facts about the process and host for the header of a trace, read from /proc.
#pragma once

#include <string>
#include <string_view>

#include "schema/record.h"

namespace rangefinder {

/// pid, parent, host, executable, command line, rank, the driver's release and both clocks at one
/// moment. What cannot be read stays empty.
[[nodiscard]] Header read_process_facts(bool redact = false);

/// Release of NVIDIA's kernel module, as in "580.159.04", by the text of /proc/driver/nvidia/version;
/// empty: the text names none.
[[nodiscard]] std::string driver_release_in(std::string_view text);
/// The same of this machine; empty where no such module is loaded, or the file is hidden.
[[nodiscard]] std::string read_driver_release();

/// The kernel's name of a thread of this process; empty if it has ended.
[[nodiscard]] std::string thread_comm(std::uint32_t thread);

}  // namespace rangefinder
