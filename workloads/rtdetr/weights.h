// SPDX-License-Identifier: Apache-2.0
//
// The tensors of a state dict under Hugging Face's new names, from a file or from a seed.
//
//   file (old or new names) --+
//                             +--> Weights: name -> shape, fp32 values --> parameters.h folds them
//   seed ---------------------+
//
// Folds and transposes nothing; a Weights equals model.state_dict() in fp32, except for the counters of
// training (num_batches_tracked).
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
  /// Throws std::out_of_range with the tensor's name.
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

/// Every tensor that this model uses, in the order of its state dict. R50: 722, which is all 764 except for
/// num_batches_tracked.
std::vector<WeightSpec> weight_specs(const Config& config);

/// The new name of an old one (out_proj, layers.N.fc1, encoder.encoder.N.layers); new names stay.
/// Empty: ignore the tensor (num_batches_tracked, the heads that old files hold twice).
std::string canonical_name(std::string_view name);

/// Throws std::runtime_error with the first missing, else the first unknown, else the first misshapen tensor,
/// both shapes, and the number of further ones.
Weights load_weights(const SafetensorsFile& file, const Config& config);

/// Weights whose activations stay in fp16's range through all layers: variance-preserving convolutions and
/// linear layers, batch norms with the moments of their inputs. The same seed gives the same bits.
Weights synthetic_weights(const Config& config, std::uint64_t seed);

}  // namespace rangefinder::rtdetr
