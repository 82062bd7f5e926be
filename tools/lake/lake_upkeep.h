// SPDX-License-Identifier: Apache-2.0
//
// What keeps a lake small and fast: what is in it, removing runs, joining small files.
//
// Manifests are what counts (lake_folder.h): a run is gone when its manifests are, and files after them. A
// kill between leaves files that no query reads; the next of these calls deletes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/analysis/table/table.h"
#include "tools/lake/lake_folder.h"

namespace rangefinder {

/// A row for each run: processes, hosts, files, bytes, times.
[[nodiscard]] Table lake_runs(const LakeFolder& lake);

struct LakeRemoved {
  std::vector<std::string> runs;
  std::uint64_t processes = 0, bytes = 0;
};

/// Throws Missing if there is no such run. `lake`: Use::remove, as for the others.
LakeRemoved remove_run(const LakeFolder& lake, const std::string& run);
/// Runs whose last process began before `before_unix_s`.
LakeRemoved expire_runs(const LakeFolder& lake, std::int64_t before_unix_s);

struct LakeCompacted {
  std::uint64_t parts_before = 0, parts_after = 0;
  std::uint64_t removed_bytes = 0;  ///< of files that no query reads
};
/// Joins parts of fewer than 8 processes, up to 96 in one, and those that contain rows which no longer count.
LakeCompacted compact_lake(const LakeFolder& lake);

}  // namespace rangefinder
