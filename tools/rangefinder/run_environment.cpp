// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/run_environment.h"

#include <string_view>

#include "tools/rangefinder/installation.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

constexpr const char* kCudaInjection = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtxInjection = "NVTX_INJECTION64_PATH";
constexpr const char* kNvtxChain = "RANGEFINDER_NVTX_CHAIN";

}  // namespace

Environment::Environment(const char* const* entries) {
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) {
      malformed_.emplace_back(entry);
    } else {
      values_.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
}

std::string Environment::get(const std::string& name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::string() : it->second;
}

std::vector<std::string> Environment::entries() const {
  std::vector<std::string> out = malformed_;
  for (const auto& [name, value] : values_) out.push_back(name + "=" + value);
  return out;
}

void inject_library(Environment& environment, const std::filesystem::path& library) {
  const std::string other = environment.get(kCudaInjection);
  if (!other.empty() && !is_our_library(other)) {
    throw WrongUse(std::string(kCudaInjection) + " is set to " + other +
                   ": the driver would load another tool, and it loads only one\n"
                   "  Run without that tool, or unset the variable: env -u " +
                   kCudaInjection + " rangefinder run …");
  }
  const std::string nvtx = environment.get(kNvtxInjection);
  if (!nvtx.empty() && !is_our_library(nvtx)) environment.set(kNvtxChain, nvtx);
  environment.set(kCudaInjection, library.string());
  environment.set(kNvtxInjection, library.string());
}

void preload_library(Environment& environment, const std::filesystem::path& library) {
  const std::string before = environment.get("LD_PRELOAD");
  environment.set("LD_PRELOAD", library.string() + (before.empty() ? "" : ":" + before));
}

void add_python_folder(Environment& environment, const std::filesystem::path& folder) {
  const std::string before = environment.get("PYTHONPATH");
  environment.set("PYTHONPATH", folder.string() + (before.empty() ? "" : ":" + before));
}

}  // namespace rangefinder
