// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/occupancy.h"

#include <algorithm>
#include <array>

namespace rangefinder {
namespace {

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kRegisterUnit = 256;  // registers are allocated to a warp in this unit
constexpr std::uint32_t kSchedulers = 4;      // each with a quarter of the registers
constexpr std::uint32_t kMaxThreads = 1'024;
constexpr std::uint32_t kMaxRegisters = 255;  // per thread

struct Chip {
  std::uint32_t major, minor;
  std::uint32_t blocks;                ///< maximum per SM
  std::uint32_t shared_unit_bytes;     ///< allocation unit of shared memory
  std::uint32_t shared_reserve_bytes;  ///< for the driver, per block
};

// CUDA Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::array kChips{
    Chip{7, 5, 16, 256, 0},      Chip{8, 0, 32, 128, 1'024},  Chip{8, 6, 16, 128, 1'024},
    Chip{8, 7, 16, 128, 1'024},  Chip{8, 9, 24, 128, 1'024},  Chip{9, 0, 32, 128, 1'024},
    Chip{10, 0, 32, 128, 1'024}, Chip{10, 3, 32, 128, 1'024}, Chip{11, 0, 24, 128, 1'024},
    Chip{12, 0, 24, 128, 1'024}, Chip{12, 1, 24, 128, 1'024}};

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint32_t by_registers(const GpuRecord& gpu, std::uint32_t registers, std::uint32_t warps) {
  if (registers == 0) return Occupancy::kNoLimit;
  const std::uint64_t of_warp = rounded_up(std::uint64_t{registers} * kWarp, kRegisterUnit);
  // The hardware checks a launch as if its warps were divided equally between the schedulers.
  if (registers > kMaxRegisters || of_warp * rounded_up(warps, kSchedulers) > gpu.registers_per_sm) return 0;
  const std::uint64_t warps_of_sm = gpu.registers_per_sm / kSchedulers / of_warp * kSchedulers;
  return static_cast<std::uint32_t>(warps_of_sm / warps);
}

std::uint32_t by_shared(const GpuRecord& gpu, const Chip& chip, const LaunchConfigRecord& config) {
  const std::uint64_t of_block = rounded_up(
      std::uint64_t{config.static_shared_bytes} + config.dynamic_shared_bytes + chip.shared_reserve_bytes,
      chip.shared_unit_bytes);
  if (of_block == 0) return Occupancy::kNoLimit;
  const std::uint64_t set_aside = config.shared_bytes_executed;
  const std::uint64_t of_sm = set_aside >= of_block ? set_aside : gpu.shared_bytes_per_sm;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(of_sm / of_block, Occupancy::kNoLimit));
}

std::uint64_t volume(const Dim3& size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

}  // namespace

std::optional<Occupancy> occupancy_of(const GpuRecord& gpu, const LaunchConfigRecord& config) {
  const auto* const chip = std::find_if(kChips.begin(), kChips.end(), [&gpu](const Chip& row) {
    return row.major == gpu.compute_major && row.minor == gpu.compute_minor;
  });
  const std::uint64_t threads = volume(config.block);
  if (chip == kChips.end() || gpu.warps_per_sm == 0 || gpu.registers_per_sm == 0 ||
      gpu.shared_bytes_per_sm == 0 || threads == 0 || threads > kMaxThreads) {
    return std::nullopt;
  }
  const auto warps = static_cast<std::uint32_t>((threads + kWarp - 1) / kWarp);
  Occupancy out;
  out.by_threads = gpu.warps_per_sm / warps;
  out.by_registers = by_registers(gpu, config.registers, warps);
  out.by_shared = by_shared(gpu, *chip, config);
  out.by_blocks = chip->blocks;
  out.asks_for_shared = config.static_shared_bytes != 0 || config.dynamic_shared_bytes != 0;
  out.blocks_per_sm = std::min({out.by_threads, out.by_registers, out.by_shared, out.by_blocks});
  out.warps_per_sm = out.blocks_per_sm * warps;
  out.max_warps = gpu.warps_per_sm;
  const double at_once = static_cast<double>(out.blocks_per_sm) * gpu.sm_count;
  if (at_once > 0) out.waves = static_cast<double>(volume(config.grid)) / at_once;
  return out;
}

std::string Occupancy::limiter() const {
  if (warps_per_sm == max_warps) return "";
  std::string out;
  const auto add = [&](std::uint32_t limit, const char* name) {
    if (limit == blocks_per_sm) out += (out.empty() ? "" : ", ") + std::string(name);
  };
  add(by_registers, "registers");
  if (asks_for_shared) add(by_shared, "shared memory");
  add(by_threads, "threads");
  add(by_blocks, "blocks");
  if (out.empty()) add(by_shared, "shared memory");
  return out;
}

}  // namespace rangefinder
