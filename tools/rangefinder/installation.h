// SPDX-License-Identifier: Apache-2.0
//
// Finds the other parts of Rangefinder, relative to this program and to nothing else: an installed tree can
// be moved.
//
//   build tree   bin/rangefinder               lib/librangefinder.so               share/rangefinder/
//   installed    lib/rangefinder/rangefinder   lib/rangefinder/librangefinder.so   share/rangefinder/
//
// Debian's packages have lib/x86_64-linux-gnu in place of lib. bin/rangefinder of an installed tree is a
// launcher.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/cupti/candidates.h"

namespace rangefinder {

/// Folder of the running program.
[[nodiscard]] std::filesystem::path program_folder();

inline constexpr const char* kInjectionLibrary = "librangefinder.so";
inline constexpr const char* kMpiLibrary = "librangefinder_mpi.so";

/// Places to search for a library of Rangefinder, in order.
[[nodiscard]] std::vector<std::filesystem::path> library_places(const std::filesystem::path& program_folder,
                                                                const char* library = kInjectionLibrary);

/// The injection library. Throws Missing.
[[nodiscard]] std::filesystem::path find_library();

/// The library that --mpi preloads. Throws Missing: it is built only if CMake found mpi.h.
[[nodiscard]] std::filesystem::path find_mpi_library();

/// Which libcupti this program's user wants: RANGEFINDER_CUPTI, RANGEFINDER_CUPTI_FOLDER.
[[nodiscard]] CuptiSearch wanted_cupti();

/// The folder of sitecustomize.py, for PYTHONPATH. Empty: it is not there. Throws Missing if `needed`, by
/// --torch-modules.
[[nodiscard]] std::filesystem::path find_python_folder(bool needed);

/// A recorded trace that comes with Rangefinder; its folder is share/rangefinder/example/NAME.
struct Example {
  const char* name;
  const char* about;  ///< one line of --help
};

/// The first is the default.
inline constexpr std::array kExamples{
    Example{"rtdetr", "Hugging Face's RT-DETR on an H100: the GPU waits for the host"},
    Example{"decoder", "a decoder in a CUDA graph on an H100: what each layer reads"},
};

/// Folder of the example of that name. Throws Missing.
[[nodiscard]] std::filesystem::path find_example(const std::string& name);

/// True if `path` is the injection library of this or another installation of Rangefinder.
[[nodiscard]] bool is_our_library(const std::string& path);

}  // namespace rangefinder
