// SPDX-License-Identifier: Apache-2.0
//
// Cost of one push and pop of an NVTX range for the application in the steady state: a text of 30 characters,
// three levels deep, the ring drained between batches as the drain thread does.
//
//   push_pop_bench           median ns of a push and its pop, over many batches
//   push_pop_bench N         only N pushes and pops: for callgrind
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <time.h>

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
    // Calls use() each time, like the NVTX handlers.
    (void)recorder.threads.use()->push(0, kTexts[i % kTexts.size()], attributes);
    (void)recorder.threads.use()->pop(0);
  }
}

template <typename Clock>
double ns_a_call(const Clock& clock) {
  constexpr int kCalls = 100'000;
  std::int64_t sum = 0;
  const std::int64_t start_ns = clock_now_ns();
  for (int i = 0; i < kCalls; ++i) sum += clock() & 1;
  const double ns = static_cast<double>(clock_now_ns() - start_ns) / kCalls;
  return sum < 0 ? 0 : ns;  // so that the calls are not optimised away
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kBatch = 1024, kBatches = 3000;
  Recorder& recorder = rangefinder::recorder();
  ThreadState* const state = recorder.threads.current();
  if (state == nullptr) return 1;
  (void)state->push(0, "model", {});
  (void)state->push(0, "decoder", {});
  const auto drain = [&recorder, state] {
    recorder.clock.calibrate();  // as the drain thread does in each turn
    state->ring().drain([](const rangefinder::Event&) {});
  };
  for (int i = 0; i < 20 && !recorder.clock.running(); ++i) {
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
    drain();
  }

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
  const double own_ns = ns_a_call([&recorder] { return recorder.clock.now_ns(); });
  const double kernel_ns = ns_a_call([] { return clock_now_ns(); });
  std::printf(
      "push + pop: median %.1f ns, p99 %.1f ns; two reads of %s of it: %.1f ns, of clock_gettime: %.1f ns\n",
      ns[kBatches / 2], ns[kBatches * 99 / 100],
      recorder.clock.running() ? "the processor's counter" : "the clock (no counter to trust)", 2 * own_ns,
      2 * kernel_ns);
  return 0;
}
