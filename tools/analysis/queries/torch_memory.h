// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch's caching allocator handed out, by module: torch_memory.json, which rangefinder.torch writes
// beside a trace (`run --torch-memory`, tools/python/README.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rangefinder {

/// A row includes the modules below it.
struct TorchModuleMemory {
  std::string path;  ///< ranges joined by '/'; empty: the program
  std::uint64_t calls = 0, allocations = 0, allocated_bytes = 0;
  std::uint64_t peak_bytes = 0;          ///< the most that was allocated on the GPU while it was open
  std::uint64_t live_at_peak_bytes = 0;  ///< its part of the largest peak
  std::uint64_t kept_bytes = 0;          ///< not freed at the end
  std::int64_t later_growth_bytes = 0;   ///< allocated minus freed while it was open, from its third call on

  /// Without the first two, in which state is made.
  [[nodiscard]] std::uint64_t later_calls() const noexcept { return calls > 2 ? calls - 2 : 0; }
  /// Of a later call (bytes). Absent: there are none.
  [[nodiscard]] std::optional<double> growth_of_call() const noexcept;
};

struct TorchGpuMemory {
  std::uint32_t device = 0;                ///< PyTorch's index
  bool complete = true;                    ///< false: only the last events are known
  std::vector<TorchModuleMemory> modules;  ///< in order of first appearance
};

/// By GPU. Empty: the folder has no such file, or it is of another form.
[[nodiscard]] std::vector<TorchGpuMemory> read_torch_memory(const std::filesystem::path& folder);

}  // namespace rangefinder
