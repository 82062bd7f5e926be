// SPDX-License-Identifier: Apache-2.0
//
// Kernels that overlap on several streams of different priority; events across streams,
// stream-ordered memory, host functions.
//
//   stream k of a round:  malloc ─ memset ─ spin ─ increment ─ record ─ host function ─ free
//                                           ▲ waits for the event of stream k - 1
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr std::size_t kBytes = 1 << 20;
constexpr std::uint64_t kSpinNs = 200'000;

struct Lane {
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
  int priority = 0;
};

std::vector<Lane> make_lanes(unsigned count) {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  std::vector<Lane> lanes(count);
  for (unsigned i = 0; i < count; ++i) {
    lanes[i].priority = i % 2 == 0 ? greatest : least;
    check(cudaStreamCreateWithPriority(&lanes[i].stream, cudaStreamNonBlocking, lanes[i].priority),
          "cudaStreamCreateWithPriority");
    check(cudaEventCreateWithFlags(&lanes[i].done, cudaEventDisableTiming), "cudaEventCreate");
  }
  return lanes;
}

void run_lane(const Lane& lane, const Lane* before, std::atomic<std::uint64_t>& host_calls) {
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, kBytes, lane.stream), "cudaMallocAsync");
  check(cudaMemsetAsync(memory, 0, kBytes, lane.stream), "cudaMemsetAsync");
  if (before != nullptr) check(cudaStreamWaitEvent(lane.stream, before->done, 0), "cudaStreamWaitEvent");
  check(launch_spin(kSpinNs, lane.stream), "spin");
  check(launch_increment(static_cast<std::uint32_t*>(memory), kBytes / 4, lane.stream), "increment");
  check(cudaEventRecord(lane.done, lane.stream), "cudaEventRecord");
  const auto count_call = [](void* counter) { ++*static_cast<std::atomic<std::uint64_t>*>(counter); };
  check(cudaLaunchHostFunc(lane.stream, count_call, &host_calls), "cudaLaunchHostFunc");
  check(cudaFreeAsync(memory, lane.stream), "cudaFreeAsync");
}

void run(unsigned streams, unsigned rounds) {
  require_gpu();
  const std::vector<Lane> lanes = make_lanes(streams);
  std::atomic<std::uint64_t> host_calls{0};
  for (unsigned round = 0; round < rounds; ++round) {
    const Range outer("multi_stream");
    for (unsigned i = 0; i < streams; ++i) {
      const Range inner("stream " + std::to_string(i));
      run_lane(lanes[i], i == 0 ? nullptr : &lanes[i - 1], host_calls);
    }
  }
  check(cudaDeviceSynchronize(), "multi_stream");
  Array priorities;
  for (const Lane& lane : lanes) priorities.add(std::int64_t{lane.priority});
  const std::uint64_t lane_runs = std::uint64_t{streams} * rounds;
  print(Object()
            .add("probe", "multi_stream")
            .add("streams", streams)
            .add("priorities", priorities)
            .add("kernels", 2 * lane_runs)
            .add("kernels_per_stream", std::uint64_t{2} * rounds)
            .add("memsets", lane_runs)
            .add("event_records", lane_runs)
            .add("stream_waits", std::uint64_t{streams - 1} * rounds)
            .add("allocs_async", lane_runs)
            .add("frees_async", lane_runs)
            .add("alloc_bytes", lane_runs * kBytes)
            .add("host_functions", host_calls.load())
            .add("device_syncs", 1));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  unsigned streams = 4, rounds = 25;
  rangefinder::Arguments arguments("Overlapping kernels, events, stream-ordered memory");
  arguments.number("--streams", streams, "Streams", 1u, 128u);
  arguments.number("--rounds", rounds, "Rounds over all streams", 1u, 100'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::probe::run(streams, rounds);
}
