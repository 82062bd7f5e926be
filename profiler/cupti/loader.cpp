// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "profiler/guest/sanitizer_runtime.h"

namespace rangefinder {
namespace {

std::string path_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return kCuptiSoname;
  return map->l_name;
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat status_a {
  }, status_b{};
  return stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0 &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

/// A handle; nullptr, with the reason in `candidate`, if it cannot be loaded.
void* open_candidate(CuptiCandidate& candidate) {
  if (candidate.outcome == CuptiOutcome::absent) return nullptr;
  if (void* const handle = dlopen(candidate.path.c_str(), RTLD_LAZY | RTLD_LOCAL); handle != nullptr) {
    candidate.outcome = CuptiOutcome::taken;
    return handle;
  }
  candidate.outcome = CuptiOutcome::not_loaded;
  const char* const reason = dlerror();
  candidate.error = reason == nullptr ? "" : reason;
  const std::string prefix = candidate.path + ": ";
  if (candidate.error.starts_with(prefix)) candidate.error.erase(0, prefix.size());
  return nullptr;
}

/// A handle, with a note for the user in `remark`; nullptr: no libcupti was found.
void* open_library(const CuptiSearch& search, std::vector<CuptiCandidate>& candidates, std::string& remark) {
  void* const loaded = dlopen(kCuptiSoname, RTLD_NOLOAD | RTLD_LAZY);
  candidates = cupti_candidates(loaded == nullptr ? std::string() : path_of(loaded), search);
  if (loaded != nullptr) {
    candidates.front().outcome = CuptiOutcome::taken;
    if (!search.path.empty() && !is_same_file(candidates.front().path, search.path)) {
      remark = "the program has " + candidates.front().path +
               " loaded already, so RANGEFINDER_CUPTI=" + search.path + " is not used";
    }
    return loaded;
  }
  for (CuptiCandidate& candidate : candidates) {
    if (void* const handle = open_candidate(candidate); handle != nullptr) return handle;
    if (candidate.place == CuptiPlace::named) return nullptr;  // nothing replaces the user's choice
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

bool load_cupti(const CuptiSearch& search, CuptiLibrary& library, CuptiFailure& failure,
                std::vector<CuptiCandidate>* candidates) {
  std::vector<CuptiCandidate> tried;
  void* const handle = open_library(search, tried, library.remark);
  if (candidates != nullptr) *candidates = std::move(tried);
  if (handle == nullptr) {
    failure.reason = search.path.empty()
                         ? std::string(
                               "libcupti.so.13 was not found: install cuda-cupti-13-0 (Python: "
                               "nvidia-cuda-cupti) or name it with RANGEFINDER_CUPTI")
                         : "cannot load " + search.path + ", named by RANGEFINDER_CUPTI";
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
  const std::string path = library.path.substr(0, library.path.rfind('/') + 1) + "libnvperf_host.so";
  if (access(path.c_str(), R_OK) == 0) (void)dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace rangefinder
