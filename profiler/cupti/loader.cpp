// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <string_view>

#include "profiler/cupti/places.h"
#include "profiler/guest/sanitizer_runtime.h"

namespace rangefinder {
namespace {

std::string path_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return kCuptiSoname;
  return map->l_name;
}

/// A handle; nullptr: no libcupti was found. Says in `library` where it was, what did not load, and a remark.
void* open_library(const std::string& override_path, CuptiLibrary& library) {
  if (void* const mapped = dlopen(kCuptiSoname, RTLD_NOLOAD | RTLD_LAZY); mapped != nullptr) {
    library.kind = "loaded by the program";
    if (!override_path.empty() && !is_same_file(path_of(mapped), override_path)) {
      library.remark = "the program has " + path_of(mapped) +
                       " loaded already, so RANGEFINDER_CUPTI=" + override_path + " is not used";
    }
    return mapped;
  }
  if (!override_path.empty()) {
    library.kind = "RANGEFINDER_CUPTI";
    return dlopen(override_path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
  for (const CuptiPlace& place : cupti_places()) {
    const bool is_path = place.path.find('/') != std::string::npos;
    if (is_path && access(place.path.c_str(), R_OK) != 0) continue;
    if (void* const handle = dlopen(place.path.c_str(), RTLD_LAZY | RTLD_LOCAL); handle != nullptr) {
      library.kind = place.kind;
      return handle;
    }
    if (is_path) library.not_loaded.emplace_back(place.path, dlerror());
  }
  return nullptr;
}

/// Name of the first missing function; nullptr: none is missing.
const char* resolve(void* handle, CuptiFunctions& functions) {
#define X(name)                                                                              \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(handle, "cupti" #name)); \
  if (functions.name == nullptr) return "cupti" #name;
  RANGEFINDER_CUPTI_FUNCTIONS(X)
#undef X
  return nullptr;
}

std::string upgrade_advice(std::uint32_t version) {
  return "CUPTI " + cupti_version_text(version) +
         " is not supported: install CUDA 13.0 Update 1 or a later 13.x (Debian, Ubuntu: cuda-cupti-13-0; "
         "Python: nvidia-cuda-cupti), or name one with RANGEFINDER_CUPTI";
}

}  // namespace

std::string cupti_version_text(std::uint32_t version) {
  // Numbers below 100000 use the old scheme, as in 18 for CUDA 10.2.
  if (version < 100'000) return "interface " + std::to_string(version) + " (before CUDA 12)";
  const std::uint32_t update = version % 100;
  std::string text = std::to_string(version / 10'000) + "." + std::to_string(version / 100 % 100);
  if (update != 0) text += " Update " + std::to_string(update);
  return text;
}

std::string cupti_result_text(const CuptiFunctions& cupti, CUptiResult result) {
  const char* text = nullptr;
  if (cupti.GetResultString != nullptr && cupti.GetResultString(result, &text) == CUPTI_SUCCESS &&
      text != nullptr) {
    return text;
  }
  return "CUPTI error " + std::to_string(static_cast<int>(result));
}

bool load_cupti(const std::string& override_path, CuptiLibrary& library, CuptiFailure& failure) {
  void* const handle = open_library(override_path, library);
  if (handle == nullptr) {
    failure.reason = override_path.empty()
                         ? std::string(
                               "libcupti.so.13 was not found: install cuda-cupti-13-0 (Python: "
                               "nvidia-cuda-cupti) or name it with RANGEFINDER_CUPTI")
                         : "cannot load " + override_path + ", named by RANGEFINDER_CUPTI";
    return false;
  }
  library.path = path_of(handle);
  failure.path = library.path;

  // Check the version first: an old library also lacks functions, and the version explains more.
  const auto get_version = reinterpret_cast<decltype(&cuptiGetVersion)>(dlsym(handle, "cuptiGetVersion"));
  if (get_version == nullptr || get_version(&library.version) != CUPTI_SUCCESS) {
    failure.reason = library.path + " is not libcupti: it has no cuptiGetVersion";
    return false;
  }
  failure.version = library.version;
  if (library.version < kOldestCupti || library.version / 10'000 != kNewestCuptiMajor) {
    failure.reason = upgrade_advice(library.version);
    return false;
  }
  if (const char* const missing = resolve(handle, library.functions); missing != nullptr) {
    failure.reason = library.path + " lacks " + missing;
    return false;
  }
  if (const char* const sanitizer = sanitizer_that_ends_deep_binding(); sanitizer != nullptr) {
    library.no_counters = "the program is built with " + std::string(sanitizer) +
                          ", which ends it when CUPTI loads its counter library (RTLD_DEEPBIND)";
  }
  return true;
}

void preload_counter_library(const CuptiLibrary& library) {
  const std::string path = folder_of(library.path) + "/libnvperf_host.so";
  if (access(path.c_str(), R_OK) == 0) (void)dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace rangefinder
