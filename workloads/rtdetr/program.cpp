// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/program.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "workloads/probes/range.h"
#include "workloads/rtdetr/detection_output.h"
#include "workloads/rtdetr/dumps.h"
#include "workloads/rtdetr/gpu_backend.h"
#include "workloads/rtdetr/image_file.h"
#include "workloads/rtdetr/smooth_input.h"

namespace rangefinder::rtdetr {
namespace {

struct Source {
  std::string name;
  Image image;
};

struct Timing {
  std::vector<float> gpu_ms;  // one per iteration, sorted
  double host_ms = 0;         // time from the first launch to the last result, per iteration

  float at_share(double share) const {
    return gpu_ms[static_cast<std::size_t>(std::lround(share * static_cast<double>(gpu_ms.size() - 1)))];
  }
};

Weights weights_of(const Options& options, const Config& config) {
  if (options.weights.empty()) return synthetic_weights(config, options.seed);
  return load_weights(SafetensorsFile(options.weights), config);
}

Image image_of(std::span<const float> values, const NetworkOptions& size) {
  Image image{size.height, size.width, {}};
  for (const float value : values)
    image.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * value)));
  return image;
}

/// Fills the network's input. Returns the source of each image of the batch.
std::vector<Source> load_input(const Options& options, Network& network) {
  std::vector<Source> sources;
  const int images = options.network.images;
  if (options.images.empty()) {
    const std::vector<float> values =
        make_smooth_input(images, options.network.height, options.network.width, options.seed);
    network.load_pixels(values);
    const std::size_t each = values.size() / static_cast<std::size_t>(images);
    for (std::size_t i = 0; i < static_cast<std::size_t>(images); ++i)
      sources.push_back({"random", image_of(std::span(values).subspan(i * each, each), options.network)});
    return sources;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(images); ++i) {
    const std::string& path = options.images[i % options.images.size()];
    sources.push_back({path, read_image(path)});
    const Image& image = sources.back().image;
    network.load_image(static_cast<int>(i), image.pixels, image.height, image.width);
  }
  return sources;
}

void force_top_k(const Options& options, Network& network) {
  if (options.force_topk.empty()) return;
  const std::vector<std::int64_t> stored = SafetensorsFile(options.force_topk).integers("topk_ind");
  std::vector<std::int32_t> indices;
  for (const std::int64_t index : stored)
    indices.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(index, -1, INT32_MAX)));
  network.force_top_k(indices);
}

void warm_up(const Options& options, Network& network, GpuBackend& backend) {
  const int passes = options.graph ? std::max(options.warmup, 1) : options.warmup;
  for (int i = 0; i < passes; ++i) {
    const probe::Range range("warmup");
    network.forward(nullptr);
  }
  backend.synchronize();
}

/// In a range with the name of the replays' ranges: a graph's kernels belong to the path of their capture.
void capture(Network& network, GpuBackend& backend) {
  const probe::Range range("iteration");
  backend.begin_capture();
  network.forward(nullptr);
  backend.end_capture();
}

Timing run_iterations(const Options& options, Network& network, GpuBackend& backend) {
  if (options.graph) {
    capture(network, backend);
    backend.launch_graph();  // the first launch uploads the graph
    backend.synchronize();
  }
  using Clock = std::chrono::steady_clock;
  Timing timing;
  const Clock::time_point begin = Clock::now();
  timing.gpu_ms = backend.time_each(options.iterations, [&] {
    const probe::Range range("iteration");
    if (options.graph)
      backend.launch_graph();
    else
      network.forward(nullptr);
  });
  const std::chrono::duration<double, std::milli> passed = Clock::now() - begin;
  timing.host_ms = passed.count() / options.iterations;
  std::sort(timing.gpu_ms.begin(), timing.gpu_ms.end());
  return timing;
}

/// A separate pass: dumps wait for the GPU after each module.
void dump_pass(const Options& options, Network& network, GpuBackend& backend) {
  if (options.dump.empty()) return;
  const probe::Range range("dump");
  DumpCollector collector(backend);
  network.forward(&collector);
  collector.take_detections(network.detections());
  collector.write(options.dump);
}

/// OUT.png, or OUT-0.png, OUT-1.png and so on if there are several.
std::string numbered_path(const std::string& path, std::size_t number, std::size_t count) {
  if (count == 1) return path;
  const std::filesystem::path whole(path);
  const std::string name = whole.stem().string() + "-" + std::to_string(number) + whole.extension().string();
  return (whole.parent_path() / name).string();
}

void print_image(const Options& options, const ImageDetections& image, int labels) {
  if (options.json) {
    std::printf("%s\n", detections_json(image, labels).c_str());
    return;
  }
  std::printf("%s: %dx%d, %zu detections above %.2f\n", image.source.c_str(), image.height, image.width,
              image.detections.size(), static_cast<double>(options.threshold));
  constexpr std::size_t kMaxLines = 20;
  for (std::size_t i = 0; i < std::min(image.detections.size(), kMaxLines); ++i) {
    const kernels::Detection& one = image.detections[i];
    std::printf("  %-16s %5.1f %%  (%.1f, %.1f) to (%.1f, %.1f)\n", label_name(one.label, labels).c_str(),
                100.0 * static_cast<double>(one.score), static_cast<double>(one.left),
                static_cast<double>(one.top), static_cast<double>(one.right),
                static_cast<double>(one.bottom));
  }
  if (image.detections.size() > kMaxLines)
    std::printf("  and %zu more (--json lists all)\n", image.detections.size() - kMaxLines);
}

void print_timing(const Options& options, const Network& network, const Timing& timing) {
  const NetworkOptions& run = options.network;
  const double median = timing.at_share(0.5);
  const double p95 = timing.at_share(0.95);
  if (!options.json) {
    std::printf(
        "%s %s, batch %d, %dx%d, graph %s: %.3f ms median, %.3f ms p95 of %d iterations "
        "(host %.3f ms each); %.1f MB of activations\n",
        options.model.c_str(), name_of(run.element), run.images, run.height, run.width,
        options.graph ? "on" : "off", median, p95, options.iterations, timing.host_ms,
        static_cast<double>(network.arena_bytes()) / 1e6);
    return;
  }
  nlohmann::ordered_json line;
  line["model"] = options.model;
  line["dtype"] = name_of(run.element);
  line["batch"] = run.images;
  line["height"] = run.height;
  line["width"] = run.width;
  line["graph"] = options.graph;
  line["attention"] = run.attention == AttentionMode::flash ? "flash" : "unfused";
  line["deformable"] = run.deformable == DeformableMode::fused ? "fused" : "unfused";
  line["iterations"] = options.iterations;
  line["gpu_ms_median"] = median;
  line["gpu_ms_p95"] = p95;
  line["gpu_ms_min"] = timing.gpu_ms.front();
  line["gpu_ms_max"] = timing.gpu_ms.back();
  line["host_ms_per_iteration"] = timing.host_ms;
  line["arena_bytes"] = network.arena_bytes();
  line["declared_bytes"] = network.declared_bytes();
  std::printf("%s\n", line.dump().c_str());
}

}  // namespace

void run_program(const Options& options) {
  probe::name_bytes_category();
  const Config config = config_of(options.model);
  GpuBackend backend;
  Network network(config, weights_of(options, config), options.network, backend);
  std::vector<Source> sources = load_input(options, network);
  force_top_k(options, network);
  warm_up(options, network, backend);
  const Timing timing = run_iterations(options, network, backend);
  const std::vector<std::vector<kernels::Detection>> detections = network.detections();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Image& image = sources[i].image;
    const ImageDetections kept{sources[i].name, image.height, image.width,
                               above_threshold(detections[i], options.threshold)};
    print_image(options, kept, config.labels);
    if (options.draw.empty()) continue;
    draw_detections(image, kept.detections, config.labels);
    write_png(numbered_path(options.draw, i, sources.size()), image);
  }
  dump_pass(options, network, backend);
  print_timing(options, network, timing);
}

}  // namespace rangefinder::rtdetr
