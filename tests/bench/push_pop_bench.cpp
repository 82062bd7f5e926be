// SPDX-License-Identifier: Apache-2.0
//
// What one push and pop of an NVTX range costs the application in the steady state:
// a text of 30 characters, three levels deep, the ring drained between batches as
// the drain thread does.
//
//   push_pop_bench           median ns of a push and its pop, over many batches
//   push_pop_bench N         N pushes and pops and nothing else: for callgrind
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "profiler/events/recorder.h"

namespace {

using rangefinder::clock_now_ns;
using rangefinder::NvtxAttributes;
using rangefinder::Recorder;
using rangefinder::ThreadState;

constexpr std::array<std::string_view, 4> kTexts{
    "decoder.layers.0.self_attn.qkv", "decoder.layers.1.self_attn.qkv", "decoder.layers.2.self_attn.qkv",
    "decoder.layers.3.self_attn.qkv"};
static_assert(kTexts[0].size() == 30);

void push_and_pop(Recorder& recorder, std::size_t count) {
  const NvtxAttributes attributes;
  for (std::size_t i = 0; i < count; ++i) {
    // By current() each time, as the NVTX handlers do.
    (void)recorder.threads.current()->push(0, kTexts[i % kTexts.size()], attributes);
    (void)recorder.threads.current()->pop(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kBatch = 1024, kBatches = 3000;
  Recorder& recorder = rangefinder::recorder();
  ThreadState* const state = recorder.threads.current();
  if (state == nullptr) return 1;
  (void)state->push(0, "model", {});
  (void)state->push(0, "decoder", {});
  const auto drain = [state] { state->ring().drain([](const rangefinder::Event&) {}); };

  if (argc > 1) {
    for (std::size_t left = std::strtoul(argv[1], nullptr, 10); left != 0;) {
      const std::size_t n = std::min(left, kBatch);
      push_and_pop(recorder, n);
      drain();
      left -= n;
    }
    return 0;
  }

  std::vector<double> ns(kBatches);
  for (double& batch : ns) {
    const std::int64_t start_ns = clock_now_ns();
    push_and_pop(recorder, kBatch);
    batch = static_cast<double>(clock_now_ns() - start_ns) / kBatch;
    drain();
  }
  std::sort(ns.begin(), ns.end());
  const std::int64_t clock_start_ns = clock_now_ns();
  for (int i = 0; i < 100'000; ++i) (void)clock_now_ns();
  const double clock_ns = static_cast<double>(clock_now_ns() - clock_start_ns) / 100'000;
  std::printf("push + pop: median %.1f ns, p99 %.1f ns; two clock reads of it: %.1f ns\n", ns[kBatches / 2],
              ns[kBatches * 99 / 100], 2 * clock_ns);
  return 0;
}
