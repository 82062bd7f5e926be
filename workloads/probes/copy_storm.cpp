// SPDX-License-Identifier: Apache-2.0
//
// Every form of copy and memset, each under its own range: `copy_storm / h2d_pinned_async`.
//
//   1D, 2D, 3D   pageable and pinned   sync and async   one by one and batched   peer, with two GPUs
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/driver_function.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr std::size_t kWidth = 4096;  // bytes a row; the 3D box has 8 slices of 32 rows
constexpr std::size_t kRows = 256;
constexpr std::size_t kRowsPerSlice = 32;
constexpr std::size_t kBytes = kWidth * kRows;  // every copy and memset moves 1 MiB
constexpr std::size_t kBatch = 16;

/// Memory that all forms share.
struct Memory {
  std::vector<std::byte> pageable_block = std::vector<std::byte>(kBytes, std::byte{0x5a});
  void* pageable = pageable_block.data();
  void* pinned = nullptr;
  void* first = nullptr;  ///< on the device
  void* second = nullptr;
  cudaPitchedPtr pitched{};  ///< on the device, room for the 3D box
  cudaStream_t stream = nullptr;
};

/// One call, and what a profiler must report about it.
struct Copy {
  const char *name, *kind, *source, *target;
  bool async;
  std::function<cudaError_t()> run;
};

struct Memset {
  const char* name;
  std::function<cudaError_t()> run;
};

void allocate(Memory& m) {
  check(cudaMallocHost(&m.pinned, kBytes), "cudaMallocHost");
  check(cudaMalloc(&m.first, kBytes), "cudaMalloc");
  check(cudaMalloc(&m.second, kBytes), "cudaMalloc");
  // A byte wider than the rows, so that the pitch is wider too. Else 2D and 3D copies would be contiguous.
  const cudaExtent room = make_cudaExtent(kWidth + 1, kRowsPerSlice, kRows / kRowsPerSlice);
  check(cudaMalloc3D(&m.pitched, room), "cudaMalloc3D");
  check(cudaStreamCreateWithFlags(&m.stream, cudaStreamNonBlocking), "cudaStreamCreate");
}

cudaMemcpy3DParms box(const cudaPitchedPtr& target, const cudaPitchedPtr& source, cudaMemcpyKind kind) {
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = source;
  parameters.dstPtr = target;
  parameters.extent = make_cudaExtent(kWidth, kRowsPerSlice, kRows / kRowsPerSlice);
  parameters.kind = kind;
  return parameters;
}

cudaPitchedPtr flat(void* memory) {
  return make_cudaPitchedPtr(memory, kWidth, kWidth, kRowsPerSlice);
}

std::vector<Copy> copies_1d(Memory& m) {
  const auto sync = [](void* to, void* from, cudaMemcpyKind kind) {
    return [=] { return cudaMemcpy(to, from, kBytes, kind); };
  };
  const auto async = [&m](void* to, void* from, cudaMemcpyKind kind) {
    return [=, stream = m.stream] { return cudaMemcpyAsync(to, from, kBytes, kind, stream); };
  };
  const auto in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost, on = cudaMemcpyDeviceToDevice;
  return {{"h2d_pageable", "HtoD", "pageable", "device", false, sync(m.first, m.pageable, in)},
          {"h2d_pinned", "HtoD", "pinned", "device", false, sync(m.first, m.pinned, in)},
          {"h2d_pageable_async", "HtoD", "pageable", "device", true, async(m.first, m.pageable, in)},
          {"h2d_pinned_async", "HtoD", "pinned", "device", true, async(m.first, m.pinned, in)},
          {"h2d_default_kind", "HtoD", "pinned", "device", true, async(m.first, m.pinned, cudaMemcpyDefault)},
          {"d2h_pageable", "DtoH", "device", "pageable", false, sync(m.pageable, m.first, out)},
          {"d2h_pinned", "DtoH", "device", "pinned", false, sync(m.pinned, m.first, out)},
          {"d2h_pageable_async", "DtoH", "device", "pageable", true, async(m.pageable, m.first, out)},
          {"d2h_pinned_async", "DtoH", "device", "pinned", true, async(m.pinned, m.first, out)},
          {"d2d", "DtoD", "device", "device", false, sync(m.second, m.first, on)},
          {"d2d_async", "DtoD", "device", "device", true, async(m.second, m.first, on)}};
}

std::vector<Copy> copies_2d_3d(Memory& m) {
  const std::size_t pitch = m.pitched.pitch;
  const auto in = box(m.pitched, flat(m.pinned), cudaMemcpyHostToDevice);
  const auto out = box(flat(m.pinned), m.pitched, cudaMemcpyDeviceToHost);
  const auto on = box(flat(m.second), m.pitched, cudaMemcpyDeviceToDevice);
  return {{"h2d_2d", "HtoD", "pinned", "device", false,
           [&m, pitch] {
             return cudaMemcpy2D(m.pitched.ptr, pitch, m.pinned, kWidth, kWidth, kRows,
                                 cudaMemcpyHostToDevice);
           }},
          {"h2d_2d_async", "HtoD", "pinned", "device", true,
           [&m, pitch] {
             return cudaMemcpy2DAsync(m.pitched.ptr, pitch, m.pinned, kWidth, kWidth, kRows,
                                      cudaMemcpyHostToDevice, m.stream);
           }},
          {"d2h_2d_async", "DtoH", "device", "pinned", true,
           [&m, pitch] {
             return cudaMemcpy2DAsync(m.pinned, kWidth, m.pitched.ptr, pitch, kWidth, kRows,
                                      cudaMemcpyDeviceToHost, m.stream);
           }},
          {"d2d_2d_async", "DtoD", "device", "device", true,
           [&m, pitch] {
             return cudaMemcpy2DAsync(m.second, kWidth, m.pitched.ptr, pitch, kWidth, kRows,
                                      cudaMemcpyDeviceToDevice, m.stream);
           }},
          {"h2d_3d", "HtoD", "pinned", "device", false, [in] { return cudaMemcpy3D(&in); }},
          {"d2h_3d_async", "DtoH", "device", "pinned", true,
           [&m, out] { return cudaMemcpy3DAsync(&out, m.stream); }},
          {"d2d_3d_async", "DtoD", "device", "device", true,
           [&m, on] { return cudaMemcpy3DAsync(&on, m.stream); }}};
}

/// One call that makes kBatch copies of kBytes / kBatch.
cudaError_t copy_batch(const Memory& m) {
  std::array<void*, kBatch> targets;
  std::array<const void*, kBatch> sources;
  std::array<std::size_t, kBatch> sizes;
  for (std::size_t i = 0; i < kBatch; ++i) {
    sizes[i] = kBytes / kBatch;
    targets[i] = static_cast<std::byte*>(m.first) + i * sizes[i];
    sources[i] = static_cast<const std::byte*>(m.pinned) + i * sizes[i];
  }
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first_copy = 0;
  return cudaMemcpyBatchAsync(targets.data(), sources.data(), sizes.data(), kBatch, &attributes, &first_copy,
                              1, m.stream);
}

std::vector<Memset> memsets(Memory& m) {
  const auto d16 = driver_function<PFN_cuMemsetD16Async_v3020>("cuMemsetD16Async");
  const auto d32 = driver_function<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async");
  const auto failed = [](CUresult result) { return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown; };
  const auto device = reinterpret_cast<CUdeviceptr>(m.first);
  const auto extent = make_cudaExtent(kWidth, kRowsPerSlice, kRows / kRowsPerSlice);
  return {{"memset_8", [&m] { return cudaMemset(m.first, 0x11, kBytes); }},
          {"memset_8_async", [&m] { return cudaMemsetAsync(m.first, 0x12, kBytes, m.stream); }},
          {"memset_16_async", [=, &m] { return failed(d16(device, 0x1314, kBytes / 2, m.stream)); }},
          {"memset_32_async", [=, &m] { return failed(d32(device, 0x15161718, kBytes / 4, m.stream)); }},
          {"memset_2d", [&m] { return cudaMemset2D(m.pitched.ptr, m.pitched.pitch, 0x19, kWidth, kRows); }},
          {"memset_2d_async",
           [&m] { return cudaMemset2DAsync(m.pitched.ptr, m.pitched.pitch, 0x1a, kWidth, kRows, m.stream); }},
          {"memset_3d", [&m, extent] { return cudaMemset3D(m.pitched, 0x1b, extent); }},
          {"memset_3d_async", [&m, extent] { return cudaMemset3DAsync(m.pitched, 0x1c, extent, m.stream); }}};
}

/// Two more copies if two GPUs have peer access.
std::vector<Copy> peer_copies(Memory& m, int gpus) {
  int reachable = 0;
  if (gpus > 1) check(cudaDeviceCanAccessPeer(&reachable, 0, 1), "cudaDeviceCanAccessPeer");
  if (reachable == 0) return {};
  void* remote = nullptr;
  check(cudaSetDevice(1), "cudaSetDevice");
  check(cudaMalloc(&remote, kBytes), "cudaMalloc on GPU 1");
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaDeviceEnablePeerAccess(1, 0), "cudaDeviceEnablePeerAccess");
  return {{"peer", "PtoP", "device", "device", false,
           [&m, remote] { return cudaMemcpyPeer(remote, 1, m.first, 0, kBytes); }},
          {"peer_async", "PtoP", "device", "device", true,
           [&m, remote] { return cudaMemcpyPeerAsync(remote, 1, m.first, 0, kBytes, m.stream); }}};
}

template <class Form>
void run_form(const Form& form, unsigned repeat) {
  const Range outer("copy_storm");
  const Range inner(form.name);
  for (unsigned i = 0; i < repeat; ++i) check(form.run(), form.name);
}

Array run_copies(const std::vector<Copy>& copies, unsigned repeat, std::size_t copies_per_call) {
  Array found;
  for (const Copy& copy : copies) {
    run_form(copy, repeat);
    found.add(Object()
                  .add("path", std::string("copy_storm/") + copy.name)
                  .add("kind", copy.kind)
                  .add("src", copy.source)
                  .add("dst", copy.target)
                  .add("async", copy.async)
                  .add("calls", repeat)
                  .add("copies", repeat * copies_per_call)
                  .add("bytes", repeat * kBytes));
  }
  return found;
}

void run(unsigned repeat) {
  const int gpus = require_gpu();
  Memory memory;
  allocate(memory);
  std::vector<Copy> copies = copies_1d(memory);
  for (auto& more : {copies_2d_3d(memory), peer_copies(memory, gpus)}) {
    copies.insert(copies.end(), more.begin(), more.end());
  }
  const std::vector<Copy> batch{
      {"h2d_batch", "HtoD", "pinned", "device", true, [&memory] { return copy_batch(memory); }}};
  Object out;
  out.add("probe", "copy_storm").add("gpus", gpus);
  out.add("copies", run_copies(copies, repeat, 1)).add("batches", run_copies(batch, repeat, kBatch));
  Array filled;
  for (const Memset& memset : memsets(memory)) {
    run_form(memset, repeat);
    filled.add(Object()
                   .add("path", std::string("copy_storm/") + memset.name)
                   .add("calls", repeat)
                   .add("bytes", repeat * kBytes));
  }
  check(cudaDeviceSynchronize(), "copy_storm");
  print(out.add("memsets", filled));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  unsigned repeat = 3;
  rangefinder::Arguments arguments("Every form of copy and memset");
  arguments.number("--repeat", repeat, "Calls of each form", 1u, 100'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::probe::run(repeat);
}
