// SPDX-License-Identifier: Apache-2.0
//
// Where libcupti may be, in the order of search. A program that has one mapped uses that; RANGEFINDER_CUPTI
// comes before all of these.
//
//   beside PyTorch or libcudart ─▶ Python environment ─▶ toolkit ─▶ the linker's path
//
// The Python environment comes before the toolkit: a program that imports torch later would map that copy,
// and a process must not have two.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

inline constexpr const char* kCuptiSoname = "libcupti.so.13";

struct CuptiPlace {
  const char* kind;  ///< for a sentence, as in "toolkit"
  std::string root;  ///< folder that a user knows, as in /usr/local/cuda; empty: none
  std::string path;  ///< of the library; without a `/`: the linker searches
};

/// Any thread. Reads the environment and the list of mapped libraries. The libraries need not exist.
[[nodiscard]] std::vector<CuptiPlace> cupti_places();

/// "." for a name without a `/`.
[[nodiscard]] std::string folder_of(std::string_view path);

/// Two names of one file, by device and inode.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

}  // namespace rangefinder
