// SPDX-License-Identifier: Apache-2.0
//
// The environment of a traced program: our own, with the variables that make the driver and NVTX load the
// library, and with RANGEFINDER_* from the flags. LD_LIBRARY_PATH is never changed: that could load another
// CUPTI into the program.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace rangefinder {

/// NAME=value entries, changeable by name.
class Environment {
 public:
  /// `entries`: an array like environ.
  explicit Environment(const char* const* entries);

  [[nodiscard]] std::string get(const std::string& name) const;  ///< "" if not set
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  void unset(const std::string& name) { values_.erase(name); }
  [[nodiscard]] std::vector<std::string> entries() const;

 private:
  std::map<std::string, std::string> values_;
  std::vector<std::string> malformed_;  // entries without '=', passed on unchanged
};

/// Makes the driver and NVTX load `library`. Moves an NVTX library that was set before to
/// RANGEFINDER_NVTX_CHAIN. Throws WrongUse if the driver is set to load another tool.
void inject_library(Environment& environment, const std::filesystem::path& library);

/// --mpi: puts `library` first in LD_PRELOAD.
void preload_library(Environment& environment, const std::filesystem::path& library);

/// Puts `folder`, whose sitecustomize.py Python runs at start, first in PYTHONPATH.
void add_python_folder(Environment& environment, const std::filesystem::path& folder);

}  // namespace rangefinder
