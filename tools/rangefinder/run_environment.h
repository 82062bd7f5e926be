// SPDX-License-Identifier: Apache-2.0
//
// The environment of a traced program: ours, with what makes the driver and NVTX load
// the library, and with RANGEFINDER_* from the flags. LD_LIBRARY_PATH is never touched:
// it would bring another CUPTI into the program.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rangefinder {

/// NAME=value entries that can be changed by name.
class Environment {
 public:
  /// `entries` as environ.
  explicit Environment(const char* const* entries);

  [[nodiscard]] std::string get(const std::string& name) const;  ///< "" if not set
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  void unset(const std::string& name) { values_.erase(name); }
  [[nodiscard]] std::vector<std::string> entries() const;

 private:
  std::map<std::string, std::string> values_;
  std::vector<std::string> odd_;  // without '=': passed on as they are
};

/// Makes the driver and NVTX load `library`. An NVTX library that was there before goes to
/// RANGEFINDER_NVTX_CHAIN. Throws WrongUse when another tool wants to be loaded by the driver.
void inject_library(Environment& environment, const std::filesystem::path& library);

/// --mpi: `library` before what is preloaded already.
void preload_library(Environment& environment, const std::filesystem::path& library);

/// --torch-modules: `folder` first on PYTHONPATH.
void add_torch_modules(Environment& environment, const std::filesystem::path& folder);

}  // namespace rangefinder
