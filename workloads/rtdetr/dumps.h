// SPDX-License-Identifier: Apache-2.0
//
// Intermediates by name, collected on the host in fp32. Written as one .safetensors file, or as one per
// tensor if --dump names a folder. Maps become (images, channels, height, width), sequences stay (images,
// rows, channels): the shapes of Hugging Face's hooks.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/postprocess/postprocess.h"
#include "workloads/rtdetr/execution.h"
#include "workloads/rtdetr/safetensors.h"

namespace rangefinder::rtdetr {

struct FloatTensor {
  Shape shape;
  std::vector<float> values;
};
struct IntegerTensor {
  Shape shape;
  std::vector<std::int64_t> values;
};

class DumpCollector final : public DumpSink {
 public:
  explicit DumpCollector(Backend& backend) : backend_(backend) {}

  void take(std::string_view name, const Tensor& tensor) override;
  void take(std::string_view name, const float* data, const std::vector<std::int64_t>& dimensions) override;
  void take(std::string_view name, const std::int32_t* data,
            const std::vector<std::int64_t>& dimensions) override;

  /// Takes the detections of all images, in host memory, as scores, labels and boxes.
  void take_detections(std::span<const std::vector<kernels::Detection>> images);

  /// `path` ending with .safetensors: one file; otherwise a folder, created if it does not exist.
  void write(const std::string& path) const;
  /// Name -> values, for comparisons.
  const std::map<std::string, FloatTensor>& floats() const { return floats_; }
  const std::map<std::string, IntegerTensor>& integers() const { return integers_; }

 private:
  void keep(std::string_view name, Shape shape, std::vector<float> values);
  void keep(std::string_view name, Shape shape, std::vector<std::int64_t> values);

  Backend& backend_;
  std::map<std::string, FloatTensor> floats_;
  std::map<std::string, IntegerTensor> integers_;
};

}  // namespace rangefinder::rtdetr
