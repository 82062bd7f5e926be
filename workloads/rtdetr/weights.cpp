// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/weights.h"

#include <set>
#include <stdexcept>

namespace rangefinder::rtdetr {
namespace {

/// Errors of one kind in a file: the first one and the number of all.
class Complaints {
 public:
  void add(const std::string& text) {
    if (count_++ == 0) first_ = text;
  }
  void raise_if_any(const std::string& file, const std::string& model) const {
    if (count_ == 0) return;
    std::string message = file + " is not for model " + model + ": " + first_;
    if (count_ > 1) message += " (and " + std::to_string(count_ - 1) + " more)";
    throw std::runtime_error(message);
  }

 private:
  std::string first_;
  int count_ = 0;
};

}  // namespace

const WeightTensor& Weights::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw std::out_of_range("there is no weight " + name);
  return found->second;
}

Weights load_weights(const SafetensorsFile& file, const Config& config) {
  std::map<std::string, std::string> file_name_of;  // key: the new name
  for (const std::string& name : file.names()) {
    const std::string canonical = canonical_name(name);
    if (canonical.empty()) continue;
    const auto [known, is_first] = file_name_of.emplace(canonical, name);
    if (!is_first)
      throw std::runtime_error(file.path() + " has one tensor twice: " + known->second + " and " + name);
  }
  Complaints missing;
  Complaints surplus;
  Complaints misshapen;
  std::set<std::string> wanted;
  const std::vector<WeightSpec> specs = weight_specs(config);
  for (const WeightSpec& spec : specs) {
    wanted.insert(spec.name);
    const auto found = file_name_of.find(spec.name);
    if (found == file_name_of.end()) {
      missing.add("tensor " + spec.name + " " + shape_text(spec.shape) + " is missing");
    } else if (file.shape(found->second) != spec.shape) {
      misshapen.add("tensor " + found->second + " has the shape " + shape_text(file.shape(found->second)) +
                    ", expected " + shape_text(spec.shape));
    }
  }
  for (const auto& [canonical, name] : file_name_of)
    if (!wanted.contains(canonical)) surplus.add("tensor " + name + " is unknown");
  missing.raise_if_any(file.path(), config.name);
  surplus.raise_if_any(file.path(), config.name);
  misshapen.raise_if_any(file.path(), config.name);

  Weights weights;
  for (const WeightSpec& spec : specs)
    weights.set(spec.name, {spec.shape, file.floats(file_name_of.at(spec.name))});
  return weights;
}

}  // namespace rangefinder::rtdetr
