// SPDX-License-Identifier: Apache-2.0
//
// Attention with its scores in memory, compared with attention that keeps them on the chip.
//
//   attention / unfused | fused      kernels of kernels/attention; declared: q, k, v read, the result written
//
// By default the scores (8 images of 12 heads, 1024 x 1024, fp16) are 201 MB, over three times an H200's L2:
// unfused they go through DRAM. What a profiler must find: the scores written out in unfused and not in
// fused, and more than twice the declared bytes in unfused. The program compares both results.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/conversion.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/range.h"

namespace rangefinder::cases {
namespace {

using kernels::ElementType;
using probe::check;

struct Options {
  int images = 8, heads = 12, rows = 1024;
  unsigned iterations = 10;
};
constexpr int kHeadChannels = 32;
constexpr double kMaxDifference = 0.01;  // for results below 1, in fp16: one version rounds its probabilities

void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}

/// Packed rows of q, k and v: (images, rows, 3, heads, channels).
void* packed_rows(std::size_t count) {
  std::vector<float> values(count);
  std::uint32_t state = 7;
  for (float& value : values) {
    state = state * 1'664'525u + 1'013'904'223u;
    value = static_cast<float>(state >> 8) / 8'388'608.0f - 1.0f;
  }
  std::vector<std::byte> halves(count * 2);
  kernels::convert_from_fp32(ElementType::fp16, values.data(), halves.data(), count);
  void* const memory = allocate(halves.size());
  check(cudaMemcpy(memory, halves.data(), halves.size(), cudaMemcpyHostToDevice), "rows");
  return memory;
}

std::vector<float> on_host(const void* memory, std::size_t count) {
  std::vector<std::byte> halves(count * 2);
  check(cudaMemcpy(halves.data(), memory, halves.size(), cudaMemcpyDeviceToHost), "result");
  std::vector<float> out(count);
  kernels::convert_to_fp32(ElementType::fp16, halves.data(), out.data(), count);
  return out;
}

kernels::AttentionArgs arguments(const Options& options, const void* packed) {
  kernels::AttentionArgs args;
  args.element = ElementType::fp16;
  args.images = options.images;
  args.heads = options.heads;
  args.head_channels = kHeadChannels;
  args.queries = args.keys = options.rows;
  args.scale = 1 / std::sqrt(static_cast<float>(kHeadChannels));
  const std::int64_t width = std::int64_t{options.heads} * kHeadChannels;
  const auto* const halves = static_cast<const std::uint16_t*>(packed);
  args.query = {halves, 3 * width, 3 * width * options.rows};
  args.key = {halves + width, 3 * width, 3 * width * options.rows};
  args.value = {halves + 2 * width, 3 * width, 3 * width * options.rows};
  return args;
}

int run(const Options& options) {
  probe::require_gpu();
  probe::name_bytes_category();
  const std::size_t results = static_cast<std::size_t>(options.images) *
                              static_cast<std::size_t>(options.rows) *
                              static_cast<std::size_t>(options.heads * kHeadChannels);
  kernels::AttentionArgs args = arguments(options, packed_rows(3 * results));
  const std::size_t scores_bytes = kernels::attention_scores_bytes(args);
  args.scores = allocate(scores_bytes);
  args.probabilities = allocate(scores_bytes);
  const std::size_t declared_bytes = 4 * results * 2;

  probe::Array variants;
  std::vector<std::vector<float>> found;
  const probe::Range outer("attention");
  for (const bool fused : {false, true}) {
    args.output = allocate(results * 2);
    const char* const name = fused ? "fused" : "unfused";
    for (unsigned i = 0; i < options.iterations; ++i) {
      const probe::Range inner(name, declared_bytes);
      check(
          fused ? kernels::launch_attention(args, nullptr) : kernels::launch_attention_unfused(args, nullptr),
          name);
    }
    check(cudaDeviceSynchronize(), name);
    found.push_back(on_host(args.output, results));
    variants.add(probe::Object()
                     .add("path", "attention/" + std::string(name))
                     .add("calls", options.iterations)
                     .add("declared_bytes", declared_bytes)
                     .add("scores_bytes", fused ? std::size_t{0} : scores_bytes)
                     .add("scores_in_memory", !fused));
  }
  double difference = 0;
  for (std::size_t i = 0; i < results; ++i)
    difference = std::max(difference, static_cast<double>(std::abs(found[0][i] - found[1][i])));
  const bool same = difference <= kMaxDifference;  // false for NaN
  probe::print(probe::Object()
                   .add("case", "attention")
                   .add("largest_difference", difference)
                   .add("same", same)
                   .add("variants", variants));
  return same ? 0 : probe::kExitFailed;
}

}  // namespace
}  // namespace rangefinder::cases

int main(int argc, char** argv) {
  rangefinder::cases::Options options;
  rangefinder::Arguments arguments("Attention with and without its scores in memory");
  arguments.number("--images", options.images, "Images", 1, 64);
  arguments.number("--heads", options.heads, "Heads of 32 channels", 1, 64);
  arguments.number("--rows", options.rows, "Queries and keys", 1, 8192);
  arguments.number("--iterations", options.iterations, "Calls of each", 1u, 100'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  return rangefinder::cases::run(options);
}
