// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <utility>

namespace rangefinder::rtdetr {
namespace {

constexpr int kWrongUse = 2;
constexpr int kMaxImages = 1024;
constexpr int kMaxPixels = 4096;  // per side

/// Parses all of `text` as a number.
bool read_number(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// "640x480" -> height, width. Returns CLI11's error text, or an empty string.
std::string read_size(const std::string& text, int& height, int& width) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos || !read_number(std::string_view(text).substr(0, cross), height) ||
      !read_number(std::string_view(text).substr(cross + 1), width))
    return text + " is not of the form HEIGHTxWIDTH";
  for (const int side : {height, width})
    if (side <= 0 || side > kMaxPixels || side % kSizeMultiple != 0)
      return text + ": height and width must be multiples of " + std::to_string(kSizeMultiple) + " up to " +
             std::to_string(kMaxPixels);
  return {};
}

/// Adds an option with a few allowed words, which --help lists in this order.
template <typename Value>
void add_choice(CLI::App& app, const std::string& name, Value& value, const std::string& default_word,
                const std::vector<std::pair<std::string, Value>>& words, const std::string& description) {
  std::vector<std::string> names;
  for (const auto& [word, meaning] : words) names.push_back(word);
  const auto store = [&value, words](const std::string& chosen) {
    for (const auto& [word, meaning] : words)
      if (word == chosen) value = meaning;
  };
  app.add_option_function<std::string>(name, store, description)
      ->check(CLI::IsMember(names))
      ->default_str(default_word);
}

void add_model_options(CLI::App& app, Options& options) {
  app.add_option("--model", options.model, "network")
      ->check(CLI::IsMember(model_names()))
      ->capture_default_str();
  app.add_option("--weights", options.weights,
                 "a .safetensors file of Hugging Face's RTDetrForObjectDetection")
      ->check(CLI::ExistingFile);
  app.add_option("--seed", options.seed, "seed of synthetic weights and random input")->capture_default_str();
  using kernels::ElementType;
  add_choice<ElementType>(app, "--dtype", options.network.element, "fp16",
                          {{"fp32", ElementType::fp32},
                           {"tf32", ElementType::tf32},
                           {"fp16", ElementType::fp16},
                           {"bf16", ElementType::bf16}},
                          "type of weights and activations; sums are fp32");
  add_choice<AttentionMode>(app, "--attention", options.network.attention, "flash",
                            {{"flash", AttentionMode::flash}, {"unfused", AttentionMode::unfused}},
                            "flash: one kernel; unfused: several, with the scores in memory");
  add_choice<DeformableMode>(app, "--deformable", options.network.deformable, "fused",
                             {{"fused", DeformableMode::fused}, {"unfused", DeformableMode::unfused}},
                             "fused: one kernel; unfused: several, with the samples in memory");
}

void add_run_options(CLI::App& app, Options& options) {
  app.add_option("--iterations", options.iterations, "timed forward passes")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "passes before them; at least one with a graph")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  add_choice<bool>(app, "--graph", options.graph, "on", {{"on", true}, {"off", false}},
                   "on: replay a captured CUDA graph; off: launch each kernel");
  app.add_option("--image", options.images, "JPEG, PNG or PPM; several make a batch")
      ->check(CLI::ExistingFile);
  app.add_option("--threshold", options.threshold, "minimum score of a detection")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_flag("--json", options.json, "print one JSON object per line: each image, then the run");
  app.add_option("--draw", options.draw,
                 "write the input with its detections as PNG; several images are numbered");
  app.add_option("--dump", options.dump, "write intermediates: a .safetensors file, or a folder of them");
  app.add_option("--force-topk", options.force_topk,
                 "use topk_ind of this .safetensors file as the selection")
      ->check(CLI::ExistingFile);
}

/// `batch`: the value of --batch; 0: one for each image.
std::string settle_batch(int batch, Options& options) {
  const int given = static_cast<int>(options.images.size());
  options.network.images = batch != 0 ? batch : std::max(given, 1);
  if (given > options.network.images)
    return "--image: " + std::to_string(given) + " images do not fit --batch " + std::to_string(batch);
  return {};
}

}  // namespace

Parsed parse_options(int argc, char** argv, Options& options, int& exit_code) {
  CLI::App app(
      "RT-DETR in CUDA C++: finds objects in images and prints boxes and milliseconds.\n"
      "Exit code: 0 done, 2 wrong use or wrong file, 3 no usable GPU or a GPU error.",
      "rtdetr");
  int batch = 0;
  std::string size = "640x640";
  add_model_options(app, options);
  add_run_options(app, options);
  app.add_option("--batch", batch,
                 "images per pass; repeats those of --image if there are fewer [1 or all images]")
      ->check(CLI::Range(1, kMaxImages));
  app.add_option("--size", size, "size of the network's input, HEIGHTxWIDTH")
      ->check([](const std::string& text) {
        int height = 0;
        int width = 0;
        return read_size(text, height, width);
      })
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    const std::string wrong = settle_batch(batch, options);
    if (!wrong.empty()) throw CLI::ValidationError(wrong);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : kWrongUse;
    return Parsed::stop;
  }
  read_size(size, options.network.height, options.network.width);
  return Parsed::run;
}

}  // namespace rangefinder::rtdetr
