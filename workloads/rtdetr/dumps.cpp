// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/dumps.h"

#include <filesystem>
#include <stdexcept>

#include "kernels/conversion.h"

namespace rangefinder::rtdetr {
namespace {

constexpr std::string_view kExtension = ".safetensors";

/// Values of one image in fp32, pixel by pixel; pixels are pixel_step() apart, as in memory.
std::vector<float> download_image(Backend& backend, const Tensor& tensor, int image) {
  const std::int64_t span = (tensor.view.pixels() - 1) * tensor.view.pixel_step() + tensor.view.channels;
  const std::size_t element = kernels::element_bytes(tensor.element);
  const auto* const source = static_cast<const std::byte*>(tensor.view.data) +
                             static_cast<std::size_t>(image * tensor.view.image_step()) * element;
  std::vector<std::byte> bytes(static_cast<std::size_t>(span) * element);
  backend.download(source, bytes.data(), bytes.size());
  std::vector<float> values(static_cast<std::size_t>(span));
  kernels::convert_to_fp32(tensor.element, bytes.data(), values.data(), values.size());
  return values;
}

}  // namespace

void DumpCollector::keep(std::string_view name, Shape shape, std::vector<float> values) {
  if (!floats_.emplace(name, FloatTensor{std::move(shape), std::move(values)}).second)
    throw std::logic_error("two dumps are named " + std::string(name));
}

void DumpCollector::keep(std::string_view name, Shape shape, std::vector<std::int64_t> values) {
  if (!integers_.emplace(name, IntegerTensor{std::move(shape), std::move(values)}).second)
    throw std::logic_error("two dumps are named " + std::string(name));
}

void DumpCollector::take(std::string_view name, const Tensor& tensor) {
  const bool is_sequence = tensor.view.height == 1;
  const std::int64_t pixels = tensor.view.pixels();
  const std::int64_t channels = tensor.view.channels;
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(tensor.images * pixels * channels));
  for (int image = 0; image < tensor.images; ++image) {
    const std::vector<float> source = download_image(backend_, tensor, image);
    const auto append = [&](std::int64_t pixel, std::int64_t channel) {
      values.push_back(source[static_cast<std::size_t>(pixel * tensor.view.pixel_step() + channel)]);
    };
    if (is_sequence) {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
        for (std::int64_t channel = 0; channel < channels; ++channel) append(pixel, channel);
    } else {
      for (std::int64_t channel = 0; channel < channels; ++channel)
        for (std::int64_t pixel = 0; pixel < pixels; ++pixel) append(pixel, channel);
    }
  }
  Shape shape = is_sequence ? Shape{tensor.images, pixels, channels}
                            : Shape{tensor.images, channels, tensor.view.height, tensor.view.width};
  keep(name, std::move(shape), std::move(values));
}

void DumpCollector::take(std::string_view name, const float* data,
                         const std::vector<std::int64_t>& dimensions) {
  std::vector<float> values(static_cast<std::size_t>(element_count(dimensions)));
  backend_.download(data, values.data(), values.size() * sizeof(float));
  keep(name, dimensions, std::move(values));
}

void DumpCollector::take(std::string_view name, const std::int32_t* data,
                         const std::vector<std::int64_t>& dimensions) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(element_count(dimensions)));
  backend_.download(data, values.data(), values.size() * sizeof(std::int32_t));
  keep(name, dimensions, std::vector<std::int64_t>(values.begin(), values.end()));
}

void DumpCollector::take_detections(std::span<const std::vector<kernels::Detection>> images) {
  std::vector<float> scores;
  std::vector<std::int64_t> labels;
  std::vector<float> boxes;
  for (const std::vector<kernels::Detection>& image : images) {
    for (const kernels::Detection& one : image) {
      scores.push_back(one.score);
      labels.push_back(one.label);
      boxes.insert(boxes.end(), {one.left, one.top, one.right, one.bottom});
    }
  }
  const auto count = static_cast<std::int64_t>(images.size());
  const std::int64_t each = count != 0 ? static_cast<std::int64_t>(scores.size()) / count : 0;
  keep("scores", {count, each}, std::move(scores));
  keep("labels", {count, each}, std::move(labels));
  keep("boxes", {count, each, 4}, std::move(boxes));
}

void DumpCollector::write(const std::string& path) const {
  if (path.ends_with(kExtension)) {
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : floats_) writer.add(name, tensor.shape, tensor.values);
    for (const auto& [name, tensor] : integers_) writer.add(name, tensor.shape, tensor.values);
    writer.write(path);
    return;
  }
  std::filesystem::create_directories(path);
  const auto write_one = [&](const std::string& name, const auto& tensor) {
    SafetensorsWriter writer;
    writer.add(name, tensor.shape, tensor.values);
    writer.write((std::filesystem::path(path) / (name + std::string(kExtension))).string());
  };
  for (const auto& [name, tensor] : floats_) write_one(name, tensor);
  for (const auto& [name, tensor] : integers_) write_one(name, tensor);
}

}  // namespace rangefinder::rtdetr
