// SPDX-License-Identifier: Apache-2.0
//
// The files of a trace.
//
//   rangefinder-4711/                          a trace: its segments and summary.json
//   out/run=…/host=…/rank=0/pid=4712/          one trace per process, at any depth below a folder
//
// Checks file names only. A segment is trace-NNNNN.ndjson or trace-NNNNN.ndjson.zst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rangefinder {

struct SegmentFile {
  std::filesystem::path path;
  std::uint32_t number = 0;
};

struct TraceFolder {
  std::filesystem::path folder;
  std::vector<SegmentFile> segments;  ///< sorted by number; empty: there is only a summary.json
  bool has_summary = false;
  bool whole = true;  ///< false: a single file that the user named
  /// True: readers receive the paths as recorded, not as reports show them (shown_paths.h).
  bool recorded_paths = false;
  std::string iteration_range = {};  ///< glob that the user gave; it also decides which paths are one
  std::string communication = {};    ///< regular expression for further kernels that communicate
};

/// The number of a segment, from its file name; false: the file is no segment.
[[nodiscard]] bool segment_number(const std::filesystem::path& file, std::uint32_t& number);

/// True for the names of a trace's files: segments and summary.json.
[[nodiscard]] bool is_trace_file(const std::filesystem::path& file);

/// Of all segments; files that cannot be read have none.
[[nodiscard]] std::uint64_t bytes_of(const TraceFolder& trace);

/// The trace in `folder` itself, not below it. Without a trace there, the result has no segments.
[[nodiscard]] TraceFolder open_trace_folder(const std::filesystem::path& folder);

/// `place`: a trace, a file of one, or a folder with traces below it. Throws Missing if there is no trace.
[[nodiscard]] std::vector<TraceFolder> find_traces(const std::filesystem::path& place);

/// True: the traces are the ranks of one job, so that comparing them makes sense. Their folders are
/// host=…/rank=…/pid=… below one folder, as the profiler writes them where a process has a rank, or rank=….
[[nodiscard]] bool ranks_of_one_job(const std::vector<TraceFolder>& traces);

}  // namespace rangefinder
