// SPDX-License-Identifier: Apache-2.0
//
// The tensors of a state dict under Hugging Face's new names, from a file or from a seed.
//
//   file (old or new names) --+
//                             +--> Weights: name -> shape, fp32 values --> parameters.h folds them
//   seed ---------------------+
//
// Nothing is folded or transposed here; a Weights equals model.state_dict() in fp32, less
// the counters that training keeps (num_batches_tracked).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/rtdetr/config.h"
#include "workloads/rtdetr/safetensors.h"

namespace rangefinder::rtdetr {

struct WeightTensor {
  Shape shape;
  std::vector<float> values;
};

class Weights {
 public:
  /// Throws std::out_of_range naming the tensor.
  const WeightTensor& at(const std::string& name) const;
  void set(const std::string& name, WeightTensor tensor) { tensors_[name] = std::move(tensor); }
  const std::map<std::string, WeightTensor>& all() const { return tensors_; }

 private:
  std::map<std::string, WeightTensor> tensors_;
};

struct WeightSpec {
  std::string name;  ///< new Hugging Face name
  Shape shape;
};

/// Every tensor of this model that counts, in the order of its state dict. R50: 722, that is all 764 less
/// the num_batches_tracked.
std::vector<WeightSpec> weight_specs(const Config& config);

/// The new name of an old one (out_proj, layers.N.fc1, encoder.encoder.N.layers); new names stay.
/// Empty: the tensor is to be ignored (num_batches_tracked, the heads that old files carry twice).
std::string canonical_name(std::string_view name);

/// Throws std::runtime_error naming the first missing, else the first surplus, else the first misshapen
/// tensor, with both shapes and how many more there are.
Weights load_weights(const SafetensorsFile& file, const Config& config);

/// Weights whose activations stay healthy in fp16 through all layers: variance-preserving convolutions and
/// linear layers, batch norms with the moments of their inputs. The same seed gives the same bits.
Weights synthetic_weights(const Config& config, std::uint64_t seed);

}  // namespace rangefinder::rtdetr
