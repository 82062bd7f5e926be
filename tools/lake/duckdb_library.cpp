// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tools/analysis/model/missing.h"
#include "tools/lake/duckdb_functions.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libduckdb.so";
constexpr const char* kAdvice =
    ".\n  Get libduckdb.so 1.5 with `tools/setup --lake`, from the npm package "
    "@duckdb/node-bindings-linux-x64, "
    "or from a release\n  of DuckDB, and name it: RANGEFINDER_DUCKDB=/path/libduckdb.so";

std::vector<std::string> candidates() {
  if (const char* const named = std::getenv("RANGEFINDER_DUCKDB"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> out;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder / kLibrary, folder.parent_path() / "lib" / kLibrary}) {
    if (fs::exists(place, error)) out.push_back(place.string());
  }
  out.emplace_back(kLibrary);
  return out;
}

DuckDbFunctions load() {
  std::string reason;
  void* handle = nullptr;
  for (const std::string& file : candidates()) {
    handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) break;
    const char* const error = dlerror();
    if (reason.empty()) reason = error == nullptr ? file : error;
  }
  if (handle == nullptr) throw Missing("DuckDB is not there: " + reason + kAdvice);
  DuckDbFunctions out;
#define X(name, result, parameters)                                                \
  out.name = reinterpret_cast<decltype(out.name)>(dlsym(handle, "duckdb_" #name)); \
  if (out.name == nullptr) throw Missing(std::string("DuckDB lacks duckdb_" #name) + kAdvice);
  RANGEFINDER_DUCKDB_FUNCTIONS(X)
#undef X
  return out;
}

}  // namespace

const DuckDbFunctions& load_duckdb() {
  static const DuckDbFunctions functions = load();
  return functions;
}

}  // namespace rangefinder
