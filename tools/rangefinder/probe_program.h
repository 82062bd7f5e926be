// SPDX-License-Identifier: Apache-2.0
//
// The small program of `doctor --probe`: known work of every kind, through the driver alone.
//
//   probe/kernels   100 launches of an empty kernel
//   probe/capture   10 kernels captured into a graph ─▶ probe/replay: launched twice
//   probe/bytes     32 memsets of 256 MiB, several times the L2
//
// Runs in a process of its own, into which the library was loaded; knows nothing of the profiler but its
// control socket.
#pragma once

#include <cstdint>
#include <string>

namespace rangefinder {

inline constexpr std::uint64_t kProbeKernels = 100, kProbeGraphKernels = 20;
inline constexpr std::uint64_t kProbeBytes = std::uint64_t{32} * 256 << 20;
inline constexpr const char* kProbeFlag = "--probe-program";

/// Writes {"done":true,"control":state} or {"error":…} to `answer_file`, and what others say on stderr to the
/// same with .err behind it. The exit code of the process.
[[nodiscard]] int run_probe_program(const std::string& answer_file);

}  // namespace rangefinder
