// SPDX-License-Identifier: Apache-2.0
//
// The network on the GPU: compared with the references on the host, and with itself.
//
//   values        tiny, each element type and variant: every dump against the references in fp32
//   determinism   launched twice and replayed 100 times from a graph: the same bits, each element type
//
// Needs a GPU (exit code 77 without one). Prints one line per check; exit code 1 if one fails.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "workloads/rtdetr/dumps.h"
#include "workloads/rtdetr/gpu_backend.h"
#include "workloads/rtdetr/host_backends.h"
#include "workloads/rtdetr/network.h"
#include "workloads/rtdetr/smooth_input.h"

using namespace rangefinder::rtdetr;
using rangefinder::kernels::ElementType;

namespace {

constexpr int kSkipped = 77;
constexpr std::uint64_t kSeed = 3;
constexpr int kReplays = 100;

int failures = 0;

void report(bool passed, const std::string& line) {
  std::printf("%s %s\n", passed ? "ok  " : "FAIL", line.c_str());
  if (!passed) ++failures;
}

NetworkOptions tiny_options(ElementType element) {
  return {.element = element, .images = 2, .height = 128, .width = 160};
}

struct Dumps {
  std::map<std::string, FloatTensor> floats;
  std::vector<std::int32_t> chosen;
};

/// One pass over the same input and weights on `backend`; `forced` may be empty.
Dumps dumps_of(Backend& backend, const NetworkOptions& options, const std::vector<std::int32_t>& forced) {
  const Config config = config_of("tiny");
  Network network(config, synthetic_weights(config, kSeed), options, backend);
  network.load_pixels(make_smooth_input(options.images, options.height, options.width, kSeed));
  network.force_top_k(forced);
  DumpCollector collector(backend);
  network.forward(&collector);
  const std::vector<std::int64_t>& chosen = collector.integers().at("topk_ind").values;
  return {collector.floats(), {chosen.begin(), chosen.end()}};
}

/// ||a - b|| / ||b||; NaN and infinity count as entirely wrong.
double relative_error(const FloatTensor& a, const FloatTensor& b) {
  if (a.shape != b.shape) return INFINITY;
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i] == b.values[i]) continue;  // also the FLT_MAX of invalid anchors
    const double one = static_cast<double>(a.values[i]) - static_cast<double>(b.values[i]);
    difference += one * one;
  }
  for (const float value : b.values)
    if (std::abs(value) < 1e30F) norm += static_cast<double>(value) * static_cast<double>(value);
  return std::isfinite(difference) ? std::sqrt(difference / norm) : INFINITY;
}

struct Variant {
  const char* name;
  ElementType element;
  AttentionMode attention;
  DeformableMode deformable;
  double limit;  // of the relative error of every dump, through all layers
};

// fp32: the wiring, the folding and each launcher are right or far off (6.6e-6 measured). The other types add
// rounding, grown through all layers: limits are about twice the errors measured on an H200.
constexpr Variant kVariants[]{
    {"fp32", ElementType::fp32, AttentionMode::flash, DeformableMode::fused, 2e-5},
    {"fp32 unfused", ElementType::fp32, AttentionMode::unfused, DeformableMode::unfused, 2e-5},
    {"tf32", ElementType::tf32, AttentionMode::flash, DeformableMode::fused, 3e-2},
    {"fp16", ElementType::fp16, AttentionMode::flash, DeformableMode::fused, 5e-2},
    {"fp16 unfused", ElementType::fp16, AttentionMode::unfused, DeformableMode::unfused, 5e-2},
    {"bf16", ElementType::bf16, AttentionMode::flash, DeformableMode::fused, 0.4},
    {"bf16 unfused", ElementType::bf16, AttentionMode::unfused, DeformableMode::unfused, 0.4},
};

void check_values(const Variant& variant, const Dumps& expected) {
  NetworkOptions options = tiny_options(variant.element);
  options.attention = variant.attention;
  options.deformable = variant.deformable;
  GpuBackend backend;
  const Dumps found = dumps_of(backend, options, expected.chosen);
  double worst = 0;
  std::string worst_name = "none";
  std::string beyond;
  for (const auto& [name, tensor] : expected.floats) {
    const auto at = found.floats.find(name);
    const double error = at != found.floats.end() ? relative_error(at->second, tensor) : INFINITY;
    if (error > worst) {
      worst = error;
      worst_name = name;
    }
    if (error > variant.limit) beyond += " " + name;
  }
  char line[160];
  std::snprintf(line, sizeof line, "values %s: worst %.2e in %s, limit %.0e, %zu dumps", variant.name, worst,
                worst_name.c_str(), variant.limit, expected.floats.size());
  report(beyond.empty(), line + (beyond.empty() ? "" : "; beyond:" + beyond));
  if (variant.element == ElementType::fp32)
    report(found.chosen == expected.chosen, std::string("selection ") + variant.name);
}

/// All results of a pass: logits, boxes, detections, as bytes.
std::vector<std::byte> results_of(Network& network, GpuBackend& backend, std::size_t logits,
                                  std::size_t boxes) {
  std::vector<std::byte> bytes((logits + boxes) * sizeof(float));
  backend.download(network.predictions().logits, bytes.data(), logits * sizeof(float));
  backend.download(network.predictions().boxes, bytes.data() + logits * sizeof(float), boxes * sizeof(float));
  for (const auto& image : network.detections()) {
    const auto* const first = reinterpret_cast<const std::byte*>(image.data());
    bytes.insert(bytes.end(), first, first + image.size() * sizeof(image[0]));
  }
  return bytes;
}

void check_determinism(const std::string& model, NetworkOptions options) {
  const Config config = config_of(model);
  GpuBackend backend;
  Network network(config, synthetic_weights(config, kSeed), options, backend);
  network.load_pixels(make_smooth_input(options.images, options.height, options.width, kSeed));
  const auto queries = static_cast<std::size_t>(options.images * config.queries);
  const auto results = [&] {
    return results_of(network, backend, queries * static_cast<std::size_t>(config.labels), queries * 4);
  };
  network.forward(nullptr);
  const std::vector<std::byte> first = results();
  network.forward(nullptr);
  int differing = results() != first ? 1 : 0;
  backend.begin_capture();
  network.forward(nullptr);
  backend.end_capture();
  for (int i = 0; i < kReplays; ++i) {
    backend.launch_graph();
    if (results() != first) ++differing;
  }
  report(differing == 0, "determinism " + model + " " + name_of(options.element) + " batch " +
                             std::to_string(options.images) + ": " + std::to_string(differing) + " of " +
                             std::to_string(kReplays + 1) + " passes differ from the first");
}

void check_all() {
  const auto host = make_reference_backend();
  const Dumps expected = dumps_of(*host, tiny_options(ElementType::fp32), {});
  for (const Variant& variant : kVariants) check_values(variant, expected);
  for (const ElementType element :
       {ElementType::fp32, ElementType::tf32, ElementType::fp16, ElementType::bf16}) {
    check_determinism("tiny", tiny_options(element));
    check_determinism("r50", {.element = element, .images = 1, .height = 640, .width = 640});
  }
  check_determinism("r50", {.element = ElementType::fp16, .images = 3, .height = 512, .width = 768});
}

}  // namespace

int main() {
  std::string why;
  if (!gpu_is_usable(why)) {
    std::printf("skipped: %s\n", why.c_str());
    return kSkipped;
  }
  try {
    check_all();
  } catch (const std::exception& error) {
    report(false, error.what());
  }
  return failures == 0 ? 0 : 1;
}
