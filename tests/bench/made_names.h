// SPDX-License-Identifier: Apache-2.0
//
// The lines of a made trace that define ids and names: the same in every segment.
#pragma once

#include <cstdint>
#include <string>

#include "schema/naming_record.h"

namespace rangefinder::bench {

inline constexpr std::uint32_t kMadeThread = 4711;
inline constexpr std::uint32_t kMadeContext = 1, kMadeStream = 7;
inline constexpr std::uint32_t kMadeKernelNames = 200;
inline constexpr std::uint32_t kMadeConfigs = 64;

/// Spreads n over [0, end), the same each time.
[[nodiscard]] std::uint64_t spread(std::uint64_t n, std::uint64_t end) noexcept;

[[nodiscard]] Header made_header(std::uint32_t segment, std::string counters);
[[nodiscard]] GpuRecord made_gpu();
[[nodiscard]] KernelNameRecord made_kernel_name(std::uint32_t id);
[[nodiscard]] LaunchConfigRecord made_config(std::uint32_t id);

}  // namespace rangefinder::bench
