// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/torch_memory.h"

#include <nlohmann/json.hpp>

#include "tools/analysis/model/regular_file.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

constexpr const char* kFile = "torch_memory.json";

// at() and get() throw on another form.
TorchModuleMemory module_of(const Json& row) {
  TorchModuleMemory out;
  out.path = row.at("path").get<std::string>();
  out.calls = row.at("calls").get<std::uint64_t>();
  out.allocations = row.at("allocations").get<std::uint64_t>();
  out.allocated_bytes = row.at("allocated_bytes").get<std::uint64_t>();
  out.peak_bytes = row.at("peak_bytes").get<std::uint64_t>();
  out.kept_bytes = row.at("kept_bytes").get<std::uint64_t>();
  out.live_at_peak_bytes = row.at("live_at_peak_bytes").get<std::uint64_t>();
  out.later_growth_bytes = row.at("later_growth_bytes").get<std::int64_t>();
  return out;
}

TorchGpuMemory gpu_of(const Json& device) {
  TorchGpuMemory out;
  out.device = device.at("device").get<std::uint32_t>();
  out.complete = device.at("complete").get<bool>();
  for (const Json& row : device.at("modules")) out.modules.push_back(module_of(row));
  return out;
}

}  // namespace

std::optional<double> TorchModuleMemory::growth_of_call() const noexcept {
  if (later_calls() == 0) return {};
  return static_cast<double>(later_growth_bytes) / static_cast<double>(later_calls());
}

std::vector<TorchGpuMemory> read_torch_memory(const std::filesystem::path& folder) try {
  const std::filesystem::path file = folder / kFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  std::vector<TorchGpuMemory> out;
  const Json json = read_json_file<Json>(file);
  for (const Json& device : json.at("devices")) out.push_back(gpu_of(device));
  return out;
} catch (const Json::exception&) {
  return {};
}

}  // namespace rangefinder
