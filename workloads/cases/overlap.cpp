// SPDX-License-Identifier: Apache-2.0
//
// Work of known bytes that overlaps on several streams: what sampled bytes must tell apart.
//
//   overlap / alone / gemm             matrix products, nothing beside them
//   overlap / copies / copy | gemm     device copies of 512 MiB on one stream, the same products on another
//   overlap / streaming / reader | writer         two kernels of different rate, back to back on two streams
//   overlap / phases / reader | writer | copier   three streams, a random pause before each kernel
//   overlap / together / left | right  a pair that always starts and ends together
//
// Buffers are read or written in turn and are larger than any L2 together, so that all bytes move through
// DRAM. Bytes of the products are not known: those beside copies must equal those alone.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "kernels/gemm/gemm.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::cases {
namespace {

using probe::Array;
using probe::check;
using probe::Object;
using probe::Range;

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kBufferBytes = 1024 * kMiB;
constexpr std::size_t kCopyBytes = 512 * kMiB;
constexpr int kGemmSize = 8192;
constexpr unsigned kCopiesPerGemm = 8;

struct Buffers {
  std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::uint64_t* result = nullptr;
};

std::byte* make_buffer() {
  std::byte* memory = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&memory), kBufferBytes), "cudaMalloc");
  return memory;
}

Buffers make_buffers() {
  Buffers out;
  out.source = make_buffer();
  out.target = make_buffer();
  check(cudaMalloc(reinterpret_cast<void**>(&out.result), sizeof(std::uint64_t)), "cudaMalloc");
  check(probe::launch_random(out.source, kBufferBytes, 1, nullptr), "fill");
  check(cudaDeviceSynchronize(), "fill");
  return out;
}

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

/// One kind of launch. `bytes` of each buffer that it uses; launches take the parts of a buffer in turn.
struct Streaming {
  const char* name;
  enum Kind { reads, writes, copies } kind;
  std::size_t bytes;
  unsigned blocks;
  unsigned launches = 0;
};

void launch(Streaming& work, const Buffers& buffers, cudaStream_t stream) {
  const Range range(work.name);
  const std::size_t offset = work.launches++ % (kBufferBytes / work.bytes) * work.bytes;
  const std::byte* const source = buffers.source + offset;
  std::byte* const target = buffers.target + offset;
  switch (work.kind) {
    case Streaming::reads:
      return check(probe::launch_read(buffers.result, source, work.bytes, stream, work.blocks), work.name);
    case Streaming::writes:
      return check(probe::launch_write(target, work.bytes, work.launches, stream, work.blocks), work.name);
    case Streaming::copies:
      return check(probe::launch_copy(target, source, work.bytes, stream, work.blocks), work.name);
  }
}

Object expected(const char* part, const Streaming& work) {
  const std::size_t bytes = work.bytes * work.launches;
  return Object()
      .add("path", std::string("overlap/") + part + "/" + work.name)
      .add("calls", work.launches)
      .add("read_bytes", work.kind == Streaming::writes ? 0 : bytes)
      .add("write_bytes", work.kind == Streaming::reads ? 0 : bytes);
}

class Gemm {
 public:
  Gemm() {
    const std::size_t count = std::size_t{kGemmSize} * kGemmSize;
    for (const void** operand : {&args_.input, &args_.weight}) {
      void* memory = nullptr;
      check(cudaMalloc(&memory, count * 2), "cudaMalloc");
      check(cudaMemset(memory, 0x31, count * 2), "cudaMemset");
      *operand = memory;
    }
    check(cudaMalloc(&args_.output, count * 2), "cudaMalloc");
    args_.element = args_.output_element = kernels::ElementType::fp16;
    args_.rows = args_.columns = args_.depth = kGemmSize;
    args_.workspace.bytes = kernels::kWorkspaceCounterBytes;
    check(cudaMalloc(&args_.workspace.data, args_.workspace.bytes), "cudaMalloc");
    check(cudaMemset(args_.workspace.data, 0, args_.workspace.bytes), "cudaMemset");
  }
  void launch(cudaStream_t stream) const {
    const Range range("gemm");
    check(kernels::launch_gemm(args_, stream), "gemm");
  }

 private:
  kernels::GemmArgs args_;
};

void alone(const Gemm& gemm, unsigned rounds, cudaStream_t stream) {
  const Range range("alone");
  for (unsigned i = 0; i < rounds; ++i) gemm.launch(stream);
  check(cudaDeviceSynchronize(), "alone");
}

void copies(const Buffers& buffers, const Gemm& gemm, unsigned rounds, Array& paths) {
  const Range range("copies");
  const cudaStream_t copying = make_stream(), computing = make_stream();
  for (unsigned i = 0; i < rounds; ++i) {
    gemm.launch(computing);
    const Range inner("copy");
    for (unsigned k = 0; k < kCopiesPerGemm; ++k) {
      const std::size_t offset = k % 2 * kCopyBytes;
      check(cudaMemcpyAsync(buffers.target + offset, buffers.source + offset, kCopyBytes,
                            cudaMemcpyDeviceToDevice, copying),
            "copy");
    }
  }
  check(cudaDeviceSynchronize(), "copies");
  const std::size_t bytes = std::size_t{rounds} * kCopiesPerGemm * kCopyBytes;
  paths.add(Object()
                .add("path", "overlap/copies/copy")
                .add("calls", rounds)
                .add("read_bytes", bytes)
                .add("write_bytes", bytes));
}

void streaming(const Buffers& buffers, unsigned rounds, Array& paths) {
  const Range range("streaming");
  Streaming reader{"reader", Streaming::reads, 256 * kMiB, 64},
      writer{"writer", Streaming::writes, 128 * kMiB, 16};
  const cudaStream_t reading = make_stream(), writing = make_stream();
  for (unsigned i = 0; i < 8 * rounds; ++i) {
    launch(reader, buffers, reading);
    launch(writer, buffers, writing);
  }
  check(cudaDeviceSynchronize(), "streaming");
  paths.add(expected("streaming", reader)).add(expected("streaming", writer));
}

void phases(const Buffers& buffers, unsigned rounds, Array& paths) {
  const Range range("phases");
  std::mt19937_64 random(7);
  Streaming works[] = {{"reader", Streaming::reads, 256 * kMiB, 48},
                       {"writer", Streaming::writes, 512 * kMiB, 32},
                       {"copier", Streaming::copies, 256 * kMiB, 40}};
  const cudaStream_t streams[] = {make_stream(), make_stream(), make_stream()};
  // The copier reads what no other stream reads: L2 would serve it else.
  Buffers own = buffers;
  own.source = make_buffer();
  for (unsigned i = 0; i < 8 * rounds; ++i) {
    for (std::size_t s = 0; s < std::size(streams); ++s) {
      check(probe::launch_spin(50'000 + random() % 600'000, streams[s]), "pause");
      launch(works[s], works[s].kind == Streaming::copies ? own : buffers, streams[s]);
    }
  }
  check(cudaDeviceSynchronize(), "phases");
  for (const Streaming& work : works) paths.add(expected("phases", work));
}

void together(const Buffers& buffers, unsigned rounds, Array& paths) {
  const Range range("together");
  Streaming left{"left", Streaming::reads, 256 * kMiB, 48},
      right{"right", Streaming::reads, 256 * kMiB, 48, 2};
  const cudaStream_t first = make_stream(), second = make_stream();
  cudaEvent_t ready = nullptr, done = nullptr;
  check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming), "cudaEventCreate");
  check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), "cudaEventCreate");
  for (unsigned i = 0; i < 4 * rounds; ++i) {
    check(probe::launch_spin(60'000, first), "pause");  // both launches are queued before it ends
    check(cudaEventRecord(ready, first), "cudaEventRecord");
    check(cudaStreamWaitEvent(second, ready, 0), "cudaStreamWaitEvent");
    launch(left, buffers, first);
    launch(right, buffers, second);
    check(cudaEventRecord(done, second), "cudaEventRecord");
    check(cudaStreamWaitEvent(first, done, 0), "cudaStreamWaitEvent");
  }
  check(cudaDeviceSynchronize(), "together");
  right.launches -= 2;  // its count began at 2, so that the two read different parts of the buffer
  paths.add(expected("together", left)).add(expected("together", right));
}

void run(unsigned rounds) {
  probe::require_gpu();
  const Buffers buffers = make_buffers();
  const Gemm gemm;
  Array paths;
  {
    const Range outer("overlap");
    alone(gemm, rounds, nullptr);
    copies(buffers, gemm, rounds, paths);
    streaming(buffers, rounds, paths);
    phases(buffers, rounds, paths);
    together(buffers, rounds, paths);
  }
  probe::print(Object().add("case", "overlap").add("rounds", rounds).add("paths", paths));
}

}  // namespace
}  // namespace rangefinder::cases

int main(int argc, char** argv) {
  unsigned rounds = 40;
  rangefinder::Arguments arguments("Work of known bytes that overlaps on several streams");
  arguments.number("--rounds", rounds, "Matrix products; the other parts have a multiple of it", 1u,
                   100'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::cases::run(rounds);
}
