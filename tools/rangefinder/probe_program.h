// SPDX-License-Identifier: Apache-2.0
//
// The program that `doctor --probe` traces: known work of every kind, through the driver API only.
//
//   probe/kernels   100 launches of an empty kernel
//   probe/capture   10 kernels captured into a graph ─▶ probe/replay: two launches of it
//   probe/bytes     32 memsets of 256 MiB, several times the L2
//
// Runs in its own process with the injection library loaded. It uses nothing of the profiler except its
// control socket.
#pragma once

#include <cstdint>
#include <string>

namespace rangefinder {

inline constexpr std::uint64_t kProbeKernels = 100, kProbeGraphKernels = 20;
inline constexpr std::uint64_t kProbeBytes = std::uint64_t{32} * 256 << 20;
inline constexpr const char* kProbeFlag = "--probe-program";

/// Writes {"done":true,"control":state} or {"error":…} to `answer_file`, and redirects stderr to the same
/// name with .err appended. Returns the exit code of the process.
[[nodiscard]] int run_probe_program(const std::string& answer_file);

}  // namespace rangefinder
