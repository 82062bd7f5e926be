// SPDX-License-Identifier: Apache-2.0
//
// Which files make a trace.
//
//   rangefinder-4711/                          a trace: its segments and summary.json
//   out/run=…/host=…/rank=0/pid=4712/          one trace a process, any depth below a folder
//
// Looks at names only. A segment is trace-NNNNN.ndjson, or the same with .zst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace rangefinder {

struct SegmentFile {
  std::filesystem::path path;
  std::uint32_t number = 0;
};

struct TraceFolder {
  std::filesystem::path folder;
  std::vector<SegmentFile> segments;  ///< by number; empty: only a summary.json is there
  bool has_summary = false;
  bool whole = true;  ///< false: one segment, named by the user
};

/// Number of a segment from its file name; false: it is none.
[[nodiscard]] bool segment_number(const std::filesystem::path& file, std::uint32_t& number);

/// True for the names of files that a trace consists of: segments and summary.json.
[[nodiscard]] bool is_trace_file(const std::filesystem::path& file);

/// The trace in `folder` itself; no segments when there is none.
[[nodiscard]] TraceFolder open_trace_folder(const std::filesystem::path& folder);

/// `place` as a trace, as a file of one, or all traces below it. Throws Missing if there is none.
[[nodiscard]] std::vector<TraceFolder> find_traces(const std::filesystem::path& place);

}  // namespace rangefinder
