// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "profiler/guest/sanitizer_runtime.h"

namespace rangefinder {
namespace {

constexpr const char* kSoname = "libcupti.so.13";

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string(".") : std::string(path.substr(0, slash));
}

/// Folders where a Python wheel keeps libcupti, relative to mapped libraries.
std::vector<std::string> wheel_folders() {
  std::vector<std::string> folders;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const std::string_view path = info->dlpi_name;
        const std::string_view file = path.substr(path.rfind('/') + 1);
        auto& out = *static_cast<std::vector<std::string>*>(data);
        const std::string folder = folder_of(path);
        if (file.starts_with("libcudart.so")) {
          out.push_back(folder);                            // nvidia/cu13/lib
          out.push_back(folder + "/../../cuda_cupti/lib");  // nvidia/cuda_runtime/lib
        } else if (file == "libtorch_cuda.so" || file == "libtorch_cpu.so") {
          out.push_back(folder + "/../../nvidia/cu13/lib");
          out.push_back(folder + "/../../nvidia/cuda_cupti/lib");
        }
        return 0;
      },
      &folders);
  return folders;
}

std::vector<std::string> candidates() {
  std::vector<std::string> out;
  for (const std::string& folder : wheel_folders()) out.push_back(folder + "/" + kSoname);
  std::vector<std::string> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      toolkits.emplace_back(value);
  }
  toolkits.emplace_back("/usr/local/cuda");
  toolkits.emplace_back("/usr/local/cuda-13.0");
  for (const std::string& toolkit : toolkits) {
    for (const char* folder : {"/extras/CUPTI/lib64/", "/lib64/", "/targets/x86_64-linux/lib/"}) {
      out.push_back(toolkit + folder + kSoname);
    }
  }
  out.emplace_back(kSoname);
  return out;
}

std::string path_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return kSoname;
  return map->l_name;
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat status_a {
  }, status_b{};
  return stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0 &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

/// A handle, with a note for the user in `remark`; nullptr: no libcupti was found.
void* open_library(const std::string& override_path, std::string& remark) {
  if (void* const mapped = dlopen(kSoname, RTLD_NOLOAD | RTLD_LAZY); mapped != nullptr) {
    if (!override_path.empty() && !is_same_file(path_of(mapped), override_path)) {
      remark = "the program has " + path_of(mapped) +
               " loaded already, so RANGEFINDER_CUPTI=" + override_path + " is not used";
    }
    return mapped;
  }
  if (!override_path.empty()) return dlopen(override_path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  for (const std::string& candidate : candidates()) {
    const bool is_path = candidate.find('/') != std::string::npos;
    if (is_path && access(candidate.c_str(), R_OK) != 0) continue;
    if (void* const handle = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL); handle != nullptr)
      return handle;
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
  void* const handle = open_library(override_path, library.remark);
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
