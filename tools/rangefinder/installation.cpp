// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/installation.h"

#include <set>

#include "tools/analysis/read/missing.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPythonFile = "rangefinder_torch.py";

std::string listed(const std::vector<fs::path>& places) {
  std::string text;
  for (const fs::path& place : places) text += "\n    " + place.string();
  return text;
}

/// Empty: not found.
fs::path found_library(const char* library) {
  std::error_code ignored;
  for (const fs::path& place : library_places(program_folder(), library)) {
    if (fs::is_regular_file(place, ignored)) return fs::canonical(place);
  }
  return {};
}

}  // namespace

fs::path program_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

std::vector<fs::path> library_places(const fs::path& program_folder, const char* library) {
  std::vector<fs::path> places{program_folder / library};
  const std::set<std::string> folders{"lib", RANGEFINDER_LIBDIR};
  for (const std::string& folder : folders) {
    const fs::path base = program_folder.parent_path() / folder;
    places.push_back(base / library);
    places.push_back(base / "rangefinder" / library);
  }
  return places;
}

fs::path find_library() {
  if (const fs::path found = found_library(kInjectionLibrary); !found.empty()) return found;
  throw Missing(std::string(kInjectionLibrary) + " was not found, so nothing can be traced. Searched:" +
                listed(library_places(program_folder())) +
                "\n  Build the target rangefinder_injection, or reinstall Rangefinder.");
}

fs::path find_mpi_library() {
  if (const fs::path found = found_library(kMpiLibrary); !found.empty()) return found;
  throw Missing(
      std::string("--mpi needs ") + kMpiLibrary +
      ", which was not found. Searched:" + listed(library_places(program_folder(), kMpiLibrary)) +
      "\n  CMake builds it if it finds mpi.h (Debian, Ubuntu: libopenmpi-dev): rebuild Rangefinder.");
}

fs::path find_python_folder() {
  const std::vector<fs::path> places{
      program_folder().parent_path() / "share" / "rangefinder" / "python",
      program_folder().parent_path() / RANGEFINDER_DATADIR / "rangefinder" / "python",
      fs::path(RANGEFINDER_SOURCE_PYTHON),
  };
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place / kPythonFile, ignored)) return place;
  }
  throw Missing(std::string("--torch-modules needs ") + kPythonFile + ", which was not found. Searched:" +
                listed(places) + "\n  Reinstall Rangefinder, or run without --torch-modules.");
}

bool is_our_library(const std::string& path) {
  return fs::path(path).filename() == kInjectionLibrary;
}

}  // namespace rangefinder
