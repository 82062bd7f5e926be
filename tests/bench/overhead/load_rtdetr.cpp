// SPDX-License-Identifier: Apache-2.0
//
// load.h's third load: our own RT-DETR, created once, run as often as requested.
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>

#include "tests/bench/overhead/load.h"
#include "workloads/probes/range.h"
#include "workloads/rtdetr/gpu_backend.h"
#include "workloads/rtdetr/network.h"
#include "workloads/rtdetr/smooth_input.h"

namespace {

using namespace rangefinder::rtdetr;
using rangefinder::probe::Range;

struct Detector {
  Config config = config_of("r50");
  GpuBackend backend;
  std::unique_ptr<Network> network;
  bool captured = false;

  Detector() {
    const NetworkOptions options;
    network = std::make_unique<Network>(config, synthetic_weights(config, 1), options, backend);
    network->load_pixels(make_smooth_input(options.images, options.height, options.width, 1));
    for (int i = 0; i < 3; ++i) network->forward(nullptr);
    backend.synchronize();
  }

  void capture() {
    if (captured) return;
    captured = true;
    const Range range("iteration");
    backend.begin_capture();
    network->forward(nullptr);
    backend.end_capture();
  }

  void run(bool as_graph, std::uint64_t passes) {
    for (std::uint64_t i = 0; i < passes; ++i) {
      const Range range("iteration");
      if (as_graph)
        backend.launch_graph();
      else
        network->forward(nullptr);
    }
    backend.synchronize();
  }
};

}  // namespace

double load_rtdetr(int as_graph, std::uint64_t passes) try {
  static Detector detector;
  if (as_graph != 0) detector.capture();
  constexpr std::uint64_t kWarmUp = 3;
  detector.run(as_graph != 0, kWarmUp);
  const auto start = std::chrono::steady_clock::now();
  detector.run(as_graph != 0, passes);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
} catch (const std::exception& error) {
  std::fprintf(stderr, "rtdetr: %s\n", error.what());
  return -1;
}
