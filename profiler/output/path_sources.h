// SPDX-License-Identifier: Apache-2.0
//
// Source lines of modules, by path.
//
//   add(train/decoder/attn, "decoder, attn") ─▶ find(train/decoder/attn)
//                                               find(val/decoder/attn), find(backward/decoder/attn), …
//
// The hooks name a module once. Its other paths end with the same names, those of the modules around it
// included. If paths with the same names have different lines, other paths get what they have in common.
//
// Bounded: kMax paths and names. Drain thread only. Throws bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "profiler/events/path_table.h"

namespace rangefinder {

/// Files are NameTable ids; 0: unknown.
struct PathSource {
  std::uint32_t class_file = 0, class_line = 0;
  std::uint32_t call_file = 0, call_line = 0;
  bool operator==(const PathSource&) const = default;
  [[nodiscard]] bool known() const noexcept { return class_file != 0 || call_file != 0; }
};

class PathSources {
 public:
  static constexpr std::size_t kMax = PathTable::kMaxPaths;

  explicit PathSources(const PathTable& paths) noexcept : paths_(paths) {}

  /// `module`: module_chain() of its names. The first one of a path stays.
  void add(std::uint32_t path, std::uint64_t module, const PathSource& source);
  /// Of the path itself, else of the module with most names at its end. Absent: unknown.
  [[nodiscard]] std::optional<PathSource> find(std::uint32_t path) const;

 private:
  const PathTable& paths_;
  std::unordered_map<std::uint32_t, PathSource> by_path_;
  std::unordered_map<std::uint64_t, PathSource> by_module_;
};

}  // namespace rangefinder
