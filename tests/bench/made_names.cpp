// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/made_names.h"

#include <utility>

namespace rangefinder::bench {

std::uint64_t spread(std::uint64_t n, std::uint64_t end) noexcept {
  n *= 0x9E37'79B9'7F4A'7C15;
  return (n >> 29) % end;
}

Header made_header(std::uint32_t segment, std::string counters) {
  Header header;
  header.segment = segment;
  header.base_unix_ns = 1'763'712'000'000'000'000;
  header.base_monotonic_ns = 86'400'000'000'000;
  header.tool_version = "trace_maker";
  header.pid = kMadeThread;
  header.parent_pid = 1;
  header.host = "made";
  header.executable = "/usr/bin/model";
  header.command = {"model"};
  header.counters = std::move(counters);
  return header;
}

GpuRecord made_gpu() {
  GpuRecord gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-00000000-0000-0000-0000-000000000001";
  gpu.compute_major = 9;
  gpu.sm_count = 132;
  gpu.memory_bytes = 150'109'880'320;
  gpu.l2_bytes = 62'914'560;
  gpu.peak_dram_bytes_per_s = 4'814'304'000'000;
  return gpu;
}

KernelNameRecord made_kernel_name(std::uint32_t id) {
  const std::string number = std::to_string(id);
  return {id, "_Z2op" + number, "void op" + number + "<float, 4>(float*, int)", "own", "no known pattern"};
}

LaunchConfigRecord made_config(std::uint32_t id) {
  LaunchConfigRecord config;
  config.id = id;
  config.grid = {id * 8, 1, 1};
  config.block = {256, 1, 1};
  config.registers = 32;
  return config;
}

}  // namespace rangefinder::bench
