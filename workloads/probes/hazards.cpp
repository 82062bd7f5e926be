// SPDX-License-Identifier: Apache-2.0
//
// Launches that can hang, or give wrong results, if a profiler drains the GPU between kernels:
//
//   stream      a kernel spins on a flag that a kernel launched later, into another stream, sets
//   host        a kernel spins on a flag that the host sets after the launch
//   stream_op   cuStreamWaitValue32 holds a stream until a later cuStreamWriteValue32
//   pdl         a chain of programmatic dependent launches: each may begin before the previous one has ended
//   cooperative a kernel that synchronises its whole grid
//
// A kernel that spins gives up after 20 s, so that a mistake costs seconds and does not hang the machine. The
// probe then reports it and fails.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/driver_function.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/hazard_kernels.h"
#include "workloads/probes/kernels.h"

namespace rangefinder::probe {
namespace {

struct Memory {
  unsigned *flag, *gave_up, *host_flag, *host_flag_on_gpu;
};

Memory allocate() {
  void *flags = nullptr, *host = nullptr, *host_on_gpu = nullptr;
  check(cudaMalloc(&flags, 2 * sizeof(unsigned)), "cudaMalloc");
  check(cudaMemset(flags, 0, 2 * sizeof(unsigned)), "cudaMemset");
  check(cudaHostAlloc(&host, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
  check(cudaHostGetDevicePointer(&host_on_gpu, host, 0), "cudaHostGetDevicePointer");
  Memory memory{};
  memory.flag = static_cast<unsigned*>(flags);
  memory.gave_up = memory.flag + 1;
  memory.host_flag = static_cast<unsigned*>(host);
  memory.host_flag_on_gpu = static_cast<unsigned*>(host_on_gpu);
  *memory.host_flag = 0;
  return memory;
}

void run_stream(const Memory& memory, unsigned rounds) {
  cudaStream_t first = nullptr, second = nullptr;
  check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "cudaStreamCreate");
  for (unsigned round = 1; round <= rounds; ++round) {
    check(launch_wait_until(memory.flag, round, memory.gave_up, first), "wait_until");
    check(launch_empty(1, second), "empty");
    check(launch_set_flag(memory.flag, round, second), "set_flag");
    check(cudaStreamSynchronize(first), "stream");
  }
  check(cudaStreamDestroy(first), "cudaStreamDestroy");
  check(cudaStreamDestroy(second), "cudaStreamDestroy");
}

void run_host(const Memory& memory, unsigned rounds) {
  for (unsigned round = 1; round <= rounds; ++round) {
    check(launch_wait_until(memory.host_flag_on_gpu, round, memory.gave_up, nullptr), "wait_until");
    check(launch_empty(1, nullptr), "empty");
    *static_cast<volatile unsigned*>(memory.host_flag) = round;
    check(cudaDeviceSynchronize(), "host");
  }
}

void run_stream_op(const Memory& memory, unsigned rounds) {
  cudaStream_t first = nullptr, second = nullptr;
  check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking), "cudaStreamCreate");
  const auto flag = reinterpret_cast<CUdeviceptr>(memory.flag);
  using Operation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  const auto wait_value = driver_function<Operation>("cuStreamWaitValue32");
  const auto write_value = driver_function<Operation>("cuStreamWriteValue32");
  for (unsigned round = 1; round <= rounds; ++round) {
    check_driver(wait_value(first, flag, round, CU_STREAM_WAIT_VALUE_EQ), "cuStreamWaitValue32");
    check(launch_empty(1, first), "empty");
    check(launch_empty(1, second), "empty");
    check_driver(write_value(second, flag, round, 0), "cuStreamWriteValue32");
    check(cudaStreamSynchronize(first), "stream_op");
  }
}

void run_pdl(const Memory& memory, unsigned rounds) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  for (unsigned round = 0; round < rounds; ++round) {
    check(launch_in_chain(memory.flag, stream), "cudaLaunchKernelEx");
  }
  check(cudaStreamSynchronize(stream), "pdl");
}

void run_cooperative(const Memory& memory, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    check(launch_meet_in_grid(memory.flag, nullptr), "cudaLaunchCooperativeKernel");
  }
  check(cudaDeviceSynchronize(), "cooperative");
}

/// Loads every kernel. Hazard: loading may wait for the GPU. A kernel that waits for one not yet loaded would
/// wait forever, profiled or not.
void load_kernels(const Memory& memory) {
  check(launch_wait_until(memory.flag, 0, memory.gave_up, nullptr), "wait_until");
  check(launch_set_flag(memory.flag, 0, nullptr), "set_flag");
  check(launch_empty(1, nullptr), "empty");
  check(cudaDeviceSynchronize(), "load_kernels");
}

int run(const std::string& kind, unsigned rounds) {
  require_gpu();
  const Memory memory = allocate();
  load_kernels(memory);
  if (kind == "stream") run_stream(memory, rounds);
  if (kind == "host") run_host(memory, rounds);
  if (kind == "stream_op") run_stream_op(memory, rounds);
  if (kind == "pdl") run_pdl(memory, rounds);
  if (kind == "cooperative") run_cooperative(memory, rounds);
  unsigned found[2] = {};
  check(cudaMemcpy(found, memory.flag, sizeof(found), cudaMemcpyDeviceToHost), "cudaMemcpy");
  print(Object()
            .add("probe", "hazards")
            .add("kind", kind)
            .add("rounds", rounds)
            .add("gave_up", found[1])
            .add("sum", found[0]));
  return found[1] == 0 ? 0 : kExitFailed;
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  std::string kind = "stream";
  unsigned rounds = 20;
  rangefinder::Arguments arguments("Launches that wait for others");
  arguments.choice("--kind", kind, "What waits for what",
                   {"stream", "host", "stream_op", "pdl", "cooperative"});
  arguments.number("--rounds", rounds, "Rounds", 1u, 100'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  return rangefinder::probe::run(kind, rounds);
}
