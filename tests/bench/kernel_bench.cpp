// SPDX-License-Identifier: Apache-2.0
//
// Time of each convolution and linear layer of RT-DETR R50.
//
//   kernel_bench [--batch N] [--dtype fp32|tf32|fp16|bf16] [--early on|off] [--sweep FILE.csv]
//
// Each shape runs in a graph of dependent launches, with other weights each time (they come from DRAM, as in
// the network) and the same activations (they stay in L2). The time is that of the graph divided by its
// launches, the minimum of five: it includes the gap between two kernels. --sweep tries every tile and split,
// writes all times to FILE, and compares each result with that of the first tile.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/conversion.h"
#include "kernels/convolution/convolution.h"
#include "tests/bench/rtdetr_work.h"

namespace rangefinder::kernel_bench {
namespace {

using namespace kernels;

constexpr int kLaunches = 20;
constexpr int kRepeats = 5;

/// Microseconds per launch; negative: the launcher refused.
double time_us(const Work& work, int tile, int splits, cudaStream_t stream) {
  const std::size_t step = (work.weight_bytes + 255) / 256 * 256;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  cudaError_t status = cudaSuccess;
  std::size_t offset = 0;
  for (int i = 0; i < kLaunches && status == cudaSuccess; ++i) {
    status = work.launch(offset, tile, splits, stream);
    offset = offset + 2 * step <= kWeightPoolBytes ? offset + step : 0;
  }
  require(cudaStreamEndCapture(stream, &graph), "end capture");
  double least = -1;
  if (status == cudaSuccess) {
    require(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    require(cudaEventCreate(&begin), "event");
    require(cudaEventCreate(&end), "event");
    for (int repeat = 0; repeat <= kRepeats; ++repeat) {
      require(cudaEventRecord(begin, stream), "record");
      require(cudaGraphLaunch(executable, stream), "graph launch");
      require(cudaEventRecord(end, stream), "record");
      require(cudaEventSynchronize(end), "synchronise");
      float milliseconds = 0;
      require(cudaEventElapsedTime(&milliseconds, begin, end), "elapsed");
      const double us = 1000.0 * static_cast<double>(milliseconds) / kLaunches;
      if (repeat > 0 && (least < 0 || us < least)) least = us;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaGraphExecDestroy(executable);
  }
  cudaGraphDestroy(graph);
  return least;
}

/// The first and the last part of a launch's output.
std::vector<float> result_of(const Work& work, int tile, int splits, const Memory& memory,
                             cudaStream_t stream) {
  require(cudaMemset(memory.output, 0xFF, work.output_bytes), "cudaMemset");
  require(work.launch(0, tile, splits, stream), "launch");
  require(cudaStreamSynchronize(stream), "synchronise");
  const std::size_t part = std::min(work.output_bytes, std::size_t{512} << 10);
  std::vector<std::byte> bytes(2 * part);
  require(cudaMemcpy(bytes.data(), memory.output, part, cudaMemcpyDeviceToHost), "cudaMemcpy");
  require(cudaMemcpy(bytes.data() + part, static_cast<char*>(memory.output) + work.output_bytes - part, part,
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  std::vector<float> values(bytes.size() / element_bytes(work.output_element));
  convert_to_fp32(work.output_element, bytes.data(), values.data(), values.size());
  return values;
}

/// ||a - b|| / ||b||; NaN if either contains one.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double delta = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += delta * delta;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(difference / norm);
}

struct Best {
  double us = -1;
  int tile = -1;
  int splits = 0;
};

Best sweep(const Work& work, const Settings& settings, const Memory& memory, std::FILE* log,
           cudaStream_t stream) {
  const std::vector<float> expected = result_of(work, 0, 1, memory, stream);
  const double bound = settings.element == ElementType::bf16   ? 4e-3
                       : settings.element == ElementType::fp32 ? 1e-5
                                                               : 1e-3;
  Best best;
  for (int tile = 0; tile < convolution_tiles(settings.element); ++tile) {
    for (int splits : {1, 2, 3, 4, 5, 6, 8, 9, 12, 16}) {
      const double us = time_us(work, tile, splits, stream);
      if (us < 0) continue;
      const double difference = relative_difference(result_of(work, tile, splits, memory, stream), expected);
      std::fprintf(log, "\"%s\",%d,%d,%.2f,%.2g\n", work.name.c_str(), tile, splits, us, difference);
      if (!(difference <= bound))
        std::printf("WRONG %s tile %d splits %d: relative difference %g\n", work.name.c_str(), tile, splits,
                    difference);
      if (best.us < 0 || us < best.us) best = {us, tile, splits};
    }
  }
  return best;
}

void run(const Settings& settings) {
  const Memory memory(settings);
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  std::FILE* const log = settings.sweep_file != nullptr ? std::fopen(settings.sweep_file, "w") : nullptr;
  if (settings.sweep_file != nullptr && log == nullptr)
    throw std::runtime_error("cannot write the file of --sweep");
  std::printf("%s batch %d\n%-20s %5s %8s %9s\n", name_of(settings.element), settings.batch, "layer", "count",
              "us", "TFLOP/s");
  double sums[2] = {};
  double best_sum = 0;
  for (const Work& work : rtdetr_works(settings, memory)) {
    const double us = time_us(work, -1, 0, stream);
    if (us < 0) throw std::runtime_error(work.name + " was refused");
    sums[work.is_convolution ? 0 : 1] += work.count * us;
    std::printf("%-20s %5d %8.2f %9.1f", work.name.c_str(), work.count, us, work.flops / us * 1e-6);
    if (log != nullptr) {
      const Best best = sweep(work, settings, memory, log, stream);
      best_sum += work.count * best.us;
      std::printf("   best %8.2f tile %d splits %d", best.us, best.tile, best.splits);
    }
    std::printf("\n");
  }
  std::printf("convolutions %.1f us, linear layers %.1f us", sums[0], sums[1]);
  if (log != nullptr) std::printf(", best of all tiles %.1f us", best_sum);
  std::printf("\n");
  if (log != nullptr) std::fclose(log);
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--batch") settings.batch = std::atoi(argv[i + 1]);
    if (option == "--early") settings.may_start_early = std::strcmp(argv[i + 1], "off") != 0;
    if (option == "--sweep") settings.sweep_file = argv[i + 1];
    if (option == "--dtype")
      for (ElementType element : {ElementType::fp32, ElementType::tf32, ElementType::fp16, ElementType::bf16})
        if (std::strcmp(argv[i + 1], name_of(element)) == 0) settings.element = element;
  }
  return settings;
}

}  // namespace
}  // namespace rangefinder::kernel_bench

int main(int argc, char** argv) {
  try {
    rangefinder::kernel_bench::run(rangefinder::kernel_bench::parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
