// SPDX-License-Identifier: Apache-2.0
//
// Adds traces to a lake.
//
//   traces ─▶ those that are not in it ─▶ blocks of 8, each to the next free thread
//                                            │ TraceTables: sorted, 8 to 96 processes, 400,000 rows or more
//                                            ▼
//                     COPY … TO staging/…, zstd ─▶ rename ─▶ manifests
//
// A thread has a DuckDB of its own. It keeps the rows of its part in memory, and the columns of the trace
// that it reads: docs/internals/lake.md says how much. A single trace is never split, whatever its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/analysis/model/trace.h"
#include "tools/lake/lake_folder.h"

namespace rangefinder {

struct LakeAddRequest {
  std::vector<TraceFolder> traces;
  std::filesystem::path lake;
  std::string run;  ///< empty: the run=… of the traces' folders, else the name of the folder that was named
  std::string default_run;
  ReadLimits limits;
};

struct LakeAddResult {
  std::uint64_t added = 0, replaced = 0, known = 0;  ///< processes
  std::uint64_t rows = 0, bytes = 0;                 ///< of what was written
  std::vector<std::string> unreadable;               ///< why a trace was not added
  std::vector<std::string> clashes;                  ///< sentences about a rank that a run has twice
};

/// Throws Missing, WrongName.
[[nodiscard]] LakeAddResult add_to_lake(const LakeAddRequest& request);

/// Processes of a part: fewer give many small files, more a large one that every query about one rank opens.
inline constexpr std::size_t kMinPartProcesses = 8, kMaxPartProcesses = 96;

/// "COPY …" of these rows into a file.
[[nodiscard]] std::string copy_sql(const std::string& rows, const std::filesystem::path& file);

}  // namespace rangefinder
