// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/candidates.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace rangefinder {
namespace {

// Our folder in the wheel, below site-packages. Other installations have no Python environment around
// them, and the folder so many levels up might be one that every user may write.
constexpr std::string_view kFolderInWheel = "/rangefinder/_tree/lib/rangefinder";

/// A list in which each file is once.
class CandidateList {
 public:
  void add(CuptiPlace place, std::string path) {
    if (path.empty()) return;
    CuptiOutcome outcome = CuptiOutcome::not_tried;
    struct stat status {};
    if (path.find('/') == std::string::npos || stat(path.c_str(), &status) != 0) {
      if (is_listed(path)) return;
      const bool only_a_path = place != CuptiPlace::named && place != CuptiPlace::linker;
      if (only_a_path) outcome = CuptiOutcome::absent;
    } else {
      const std::pair file{status.st_dev, status.st_ino};
      if (std::find(files_.begin(), files_.end(), file) != files_.end()) return;
      files_.push_back(file);
    }
    candidates_.push_back({place, std::move(path), outcome, {}});
  }

  void add_folder(CuptiPlace place, const std::string& folder) { add(place, folder + "/" + kCuptiSoname); }

  [[nodiscard]] std::vector<CuptiCandidate> take() { return std::move(candidates_); }

 private:
  [[nodiscard]] bool is_listed(const std::string& path) const {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](const CuptiCandidate& candidate) { return candidate.path == path; });
  }

  std::vector<CuptiCandidate> candidates_;
  std::vector<std::pair<dev_t, ino_t>> files_;
};

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

/// Folder of the file that holds this code: librangefinder.so, or a program of Rangefinder.
std::string own_folder() {
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1(&kFolderInWheel, &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  const std::string_view name = static_cast<const link_map*>(map)->l_name;
  if (!name.empty()) return folder_of(name);
  std::array<char, PATH_MAX> program{};  // the main program has no name there
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  return length <= 0 ? std::string() : folder_of({program.data(), static_cast<std::size_t>(length)});
}

/// A program without CUDA's libraries does not show which environment it is in: the wheel's command does,
/// and the place of the wheel.
void add_environment(CandidateList& list, const std::string& folder) {
  if (!folder.empty()) list.add_folder(CuptiPlace::environment, folder);
  const std::string own = own_folder();
  if (own.starts_with('/') && own.ends_with(kFolderInWheel)) {
    const std::string site_packages = own.substr(0, own.size() - kFolderInWheel.size());
    list.add_folder(CuptiPlace::environment, site_packages + "/nvidia/cu13/lib");
  }
}

void add_toolkits(CandidateList& list) {
  std::vector<std::string> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      toolkits.emplace_back(value);
  }
  toolkits.emplace_back("/usr/local/cuda");
  toolkits.emplace_back("/usr/local/cuda-13.0");
  for (const std::string& toolkit : toolkits) {
    for (const char* folder : {"/extras/CUPTI/lib64", "/lib64", "/targets/x86_64-linux/lib"})
      list.add_folder(CuptiPlace::toolkit, toolkit + folder);
  }
}

}  // namespace

const char* place_text(CuptiPlace place) noexcept {
  switch (place) {
    case CuptiPlace::loaded:
      return "already loaded by the program";
    case CuptiPlace::named:
      return "named by RANGEFINDER_CUPTI";
    case CuptiPlace::beside_torch:
      return "beside PyTorch or libcudart";
    case CuptiPlace::environment:
      return "in the Python environment";
    case CuptiPlace::toolkit:
      return "in the toolkit";
    case CuptiPlace::linker:
      return "on the linker's path";
  }
  return "";
}

std::vector<CuptiCandidate> cupti_candidates(const std::string& loaded_path, const CuptiSearch& search) {
  CandidateList list;
  list.add(CuptiPlace::loaded, loaded_path);
  list.add(CuptiPlace::named, search.path);
  for (const std::string& folder : wheel_folders()) list.add_folder(CuptiPlace::beside_torch, folder);
  add_environment(list, search.folder);
  add_toolkits(list);
  list.add(CuptiPlace::linker, kCuptiSoname);
  return list.take();
}

}  // namespace rangefinder
