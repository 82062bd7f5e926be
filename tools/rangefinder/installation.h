// SPDX-License-Identifier: Apache-2.0
//
// Where the other parts of Rangefinder are, from where this program is: a build tree, an
// installed tree or an unpacked archive look alike, so nothing is compiled in but the
// names of the folders.
//
//   bin/rangefinder   lib/librangefinder.so   share/rangefinder/python/
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rangefinder {

/// Folder of the running program.
[[nodiscard]] std::filesystem::path program_folder();

inline constexpr const char* kInjectionLibrary = "librangefinder.so";
inline constexpr const char* kMpiLibrary = "librangefinder_mpi.so";

/// Places where a library of ours may be, best first.
[[nodiscard]] std::vector<std::filesystem::path> library_places(const std::filesystem::path& program_folder,
                                                                const char* library = kInjectionLibrary);

/// Throws Missing when it is in none of them.
[[nodiscard]] std::filesystem::path find_library();

/// What --mpi preloads. Throws Missing: it is built only where mpi.h was found.
[[nodiscard]] std::filesystem::path find_mpi_library();

/// Folder to put on PYTHONPATH for --torch-modules. Throws Missing.
[[nodiscard]] std::filesystem::path find_python_folder();

/// True if `path` is the injection library of this or another installation of Rangefinder.
[[nodiscard]] bool is_our_library(const std::string& path);

}  // namespace rangefinder
