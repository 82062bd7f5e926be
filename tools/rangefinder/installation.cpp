// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/installation.h"

#include <cstdlib>

#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPythonFile = "sitecustomize.py";

/// From PREFIX/lib/x86_64-linux-gnu/rangefinder to PREFIX.
constexpr int kMaxLevels = 3;

/// Places of share/rangefinder/`part`, in order.
std::vector<fs::path> share_places(const std::string& part) {
  std::vector<fs::path> places;
  fs::path folder = program_folder();
  for (int level = 0; level < kMaxLevels; ++level) {
    folder = folder.parent_path();
    places.push_back(folder / "share" / "rangefinder" / part);
  }
  return places;
}

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
  return {program_folder / library, program_folder.parent_path() / "lib" / library};
}

fs::path find_library() {
  if (const fs::path found = found_library(kInjectionLibrary); !found.empty()) return found;
  throw Missing(std::string(kInjectionLibrary) + " was not found, so nothing can be traced. Searched:" +
                listed(library_places(program_folder())) +
                "\n  Build the target rangefinder_injection, or reinstall Rangefinder.");
}

fs::path find_mpi_library() {
  if (const fs::path found = found_library(kMpiLibrary); !found.empty()) return found;
  throw Missing(std::string("--mpi needs ") + kMpiLibrary +
                ", which was not found. Searched:" + listed(library_places(program_folder(), kMpiLibrary)) +
                "\n  It is in source builds only, because it must match the MPI of the program. CMake builds "
                "it if it finds mpi.h\n"
                "  (Debian, Ubuntu: libopenmpi-dev).");
}

CuptiSearch wanted_cupti() {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  return {value("RANGEFINDER_CUPTI"), value("RANGEFINDER_CUPTI_FOLDER")};
}

fs::path find_python_folder(bool needed) {
  const std::vector<fs::path> places = share_places("python/rangefinder/_start");
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place / kPythonFile, ignored)) return place;
  }
  if (!needed) return {};
  throw Missing(std::string("--torch-modules needs ") + kPythonFile + ", which was not found. Searched:" +
                listed(places) + "\n  Reinstall Rangefinder, or run without --torch-modules.");
}

fs::path find_example(const std::string& name) {
  const std::vector<fs::path> places = share_places("example/" + name);
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::is_directory(place, ignored)) return place;
  }
  throw Missing("the example " + name + " was not found. Searched:" + listed(places) +
                "\n  Reinstall Rangefinder.");
}

bool is_our_library(const std::string& path) {
  return fs::path(path).filename() == kInjectionLibrary;
}

}  // namespace rangefinder
