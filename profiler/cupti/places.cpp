// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/places.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <climits>
#include <cstdlib>
#include <string_view>

namespace rangefinder {
namespace {

constexpr const char* kBesidePyTorch = "beside PyTorch or libcudart";
constexpr const char* kPython = "Python environment";
constexpr const char* kToolkit = "toolkit";
constexpr const char* kLinker = "the linker's path";

void add(std::vector<CuptiPlace>& places, const char* kind, const std::string& root,
         const std::string& folder) {
  places.push_back({kind, root, folder + "/" + kCuptiSoname});
}

/// Folders where a Python wheel keeps libcupti, relative to mapped libraries.
void add_beside_mapped(std::vector<CuptiPlace>& places) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const std::string_view path = info->dlpi_name;
        const std::string_view file = path.substr(path.rfind('/') + 1);
        auto& out = *static_cast<std::vector<CuptiPlace>*>(data);
        const std::string folder = folder_of(path);
        if (file.starts_with("libcudart.so")) {
          add(out, kBesidePyTorch, folder, folder);                            // nvidia/cu13/lib
          add(out, kBesidePyTorch, folder, folder + "/../../cuda_cupti/lib");  // nvidia/cuda_runtime/lib
        } else if (file == "libtorch_cuda.so" || file == "libtorch_cpu.so") {
          add(out, kBesidePyTorch, folder, folder + "/../../nvidia/cu13/lib");
          add(out, kBesidePyTorch, folder, folder + "/../../nvidia/cuda_cupti/lib");
        }
        return 0;
      },
      &places);
}

/// Folder of the program or library that this is compiled into; empty: unknown.
std::string own_folder() {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&cupti_places), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return {};
  }
  char resolved[PATH_MAX];
  // The linker has no name for the program itself.
  const char* const name = *map->l_name == '\0' ? "/proc/self/exe" : map->l_name;
  return realpath(name, resolved) == nullptr ? std::string() : folder_of(resolved);
}

/// A plain program maps neither libcudart.so nor torch. The wheel's command passes the folder of
/// nvidia-cuda-cupti; and the wheel has us in SITE/rangefinder/_tree/lib/rangefinder, beside SITE/nvidia.
void add_python_environment(std::vector<CuptiPlace>& places) {
  if (const char* value = std::getenv("RANGEFINDER_CUPTI_FOLDER"); value != nullptr && *value != '\0')
    add(places, kPython, value, value);
  std::string site = own_folder();
  if (site.find("/site-packages/") == std::string::npos && site.find("/dist-packages/") == std::string::npos)
    return;
  for (int level = 0; level < 4; ++level) site = folder_of(site);
  add(places, kPython, site + "/nvidia/cu13/lib", site + "/nvidia/cu13/lib");
}

void add_toolkits(std::vector<CuptiPlace>& places) {
  std::vector<std::string> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      toolkits.emplace_back(value);
  }
  toolkits.emplace_back("/usr/local/cuda");
  toolkits.emplace_back("/usr/local/cuda-13.0");
  for (const std::string& toolkit : toolkits) {
    for (const char* folder : {"/extras/CUPTI/lib64", "/lib64", "/targets/x86_64-linux/lib"})
      add(places, kToolkit, toolkit, toolkit + folder);
  }
}

}  // namespace

std::vector<CuptiPlace> cupti_places() {
  std::vector<CuptiPlace> places;
  add_beside_mapped(places);
  add_python_environment(places);
  add_toolkits(places);
  places.push_back({kLinker, "", kCuptiSoname});
  return places;
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string(".") : std::string(path.substr(0, slash));
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat status_a {
  }, status_b{};
  return stat(a.c_str(), &status_a) == 0 && stat(b.c_str(), &status_b) == 0 &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

}  // namespace rangefinder
