// SPDX-License-Identifier: Apache-2.0
//
// Work whose DRAM traffic is known: copies, reads and writes of 1 MiB to 1 GiB.
//
//   known_bytes / copy_kernel | read_kernel | write_kernel | memcpy_d2d | memset / 1GiB
//
// One range instance per call; its declared bytes are the truth. Calls cycle through two arenas of several
// times the L2, so that no large buffer is still in the L2 when it is used again.
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kMinArenaBytes = 512 * kMiB;  // eight times the L2 of an H200

struct Options {
  std::vector<std::string> sizes{"1MiB", "4MiB", "16MiB", "64MiB", "256MiB", "1GiB"};
  unsigned repeat = 5;
  bool kernel_copies = false;
};

/// A kind of work: bytes read and written are `reads` and `writes` times the size.
struct Kind {
  std::string name;
  bool reads, writes, is_kernel;
  std::function<cudaError_t(std::byte* target, const std::byte* source, std::uint64_t bytes)> run;
};

/// Bytes; 0: no unit, zero, or more than 16 GiB. Throws if there is no number.
std::uint64_t parse_size(const std::string& text) {
  std::size_t end = 0;
  const std::uint64_t number = std::stoull(text, &end);
  const std::string unit = text.substr(end);
  const std::uint64_t scale = unit == "GiB" ? 1024 * kMiB : unit == "MiB" ? kMiB : unit == "KiB" ? 1024 : 0;
  return number * scale > 16 * 1024 * kMiB ? 0 : number * scale;
}

std::byte* allocate_random(std::uint64_t bytes, std::uint32_t seed) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(launch_random(memory, bytes, seed, nullptr), "fill");
  return static_cast<std::byte*>(memory);
}

std::vector<Kind> kinds(bool kernel_copies, std::uint64_t* result) {
  std::vector<Kind> all{
      {"copy_kernel", true, true, true,
       [](auto* target, auto* source, auto bytes) { return launch_copy(target, source, bytes, nullptr); }},
      {"read_kernel", true, false, true,
       [result](auto*, auto* source, auto bytes) { return launch_read(result, source, bytes, nullptr); }},
      {"write_kernel", false, true, true,
       [](auto* target, auto*, auto bytes) { return launch_write(target, bytes, 0x9e3779b9u, nullptr); }},
      {"memcpy_d2d", true, true, false,
       [](auto* target, auto* source, auto bytes) {
         return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, nullptr);
       }},
      {"memset", false, true, false,
       [](auto* target, auto*, auto bytes) { return cudaMemsetAsync(target, 0xa5, bytes, nullptr); }}};
  if (kernel_copies) all.resize(1);
  return all;
}

Object run_kind(const Kind& kind, const std::string& size_name, std::uint64_t bytes, unsigned repeat,
                std::byte* target, std::byte* source, std::uint64_t arena_bytes) {
  const std::uint64_t slots = arena_bytes / bytes;
  const std::uint64_t read_bytes = kind.reads ? bytes : 0;
  const std::uint64_t write_bytes = kind.writes ? bytes : 0;
  const Range outer("known_bytes");
  const Range middle(kind.name);
  for (unsigned call = 0; call < repeat; ++call) {
    const Range inner(size_name, read_bytes + write_bytes);
    const std::uint64_t offset = call % slots * bytes;
    check(kind.run(target + offset, source + offset, bytes), kind.name.c_str());
  }
  return Object()
      .add("path", "known_bytes/" + kind.name + "/" + size_name)
      .add("kind", kind.name)
      .add("size_bytes", bytes)
      .add("calls", repeat)
      .add("kernels", kind.is_kernel ? repeat : 0)
      .add("read_bytes", read_bytes * repeat)
      .add("write_bytes", write_bytes * repeat)
      .add("declared_bytes", (read_bytes + write_bytes) * repeat);
}

void run(const Options& options, const std::vector<std::uint64_t>& sizes) {
  require_gpu();
  name_bytes_category();
  const std::uint64_t arena_bytes =
      std::max(kMinArenaBytes, 2 * *std::max_element(sizes.begin(), sizes.end()));
  std::byte *source = nullptr, *target = nullptr;
  std::uint64_t* result = nullptr;
  {
    const Range setup("known_bytes");
    const Range inner("setup");
    source = allocate_random(arena_bytes, 1);
    target = allocate_random(arena_bytes, 2);
    check(cudaMalloc(reinterpret_cast<void**>(&result), sizeof *result), "cudaMalloc");
    check(cudaMemset(result, 0, sizeof *result), "cudaMemset");
    check(cudaDeviceSynchronize(), "setup");
  }
  Array found;
  for (const Kind& kind : kinds(options.kernel_copies, result)) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      found.add(run_kind(kind, options.sizes[i], sizes[i], options.repeat, target, source, arena_bytes));
    }
    check(cudaDeviceSynchronize(), kind.name.c_str());
  }
  std::uint64_t mix = 0;
  check(cudaMemcpy(&mix, result, sizeof mix, cudaMemcpyDeviceToHost), "result");
  print(Object().add("probe", "known_bytes").add("ranges", found).add("read_result", std::to_string(mix)));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  rangefinder::probe::Options options;
  rangefinder::Arguments arguments("Work whose DRAM bytes are known");
  arguments.list("--sizes", options.sizes, "Sizes such as 1MiB,256MiB,1GiB");
  arguments.number("--repeat", options.repeat, "Calls of each kind and size", 1u, 100'000u);
  arguments.flag("--kernel-copies", options.kernel_copies, "Only the copy kernel");
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  std::vector<std::uint64_t> sizes;
  try {
    for (const std::string& text : options.sizes) {
      sizes.push_back(rangefinder::probe::parse_size(text));
      if (sizes.back() == 0)
        return arguments.wrong_use("--sizes", "'" + text + "' is not a size such as 64MiB, at most 16GiB");
    }
  } catch (const std::exception&) {  // stoull: not a number
    std::fprintf(stderr, "known_bytes: --sizes needs sizes such as 1MiB,256MiB,1GiB\n");
    return 2;
  }
  rangefinder::probe::run(options, sizes);
}
