// SPDX-License-Identifier: Apache-2.0
//
// The table of export formats.
//
//   ExportRequest ─▶ export_formats()[i].write ─▶ ExportResult: files written, notes on missing data
//
// prometheus and speedscope, which are sums, read a trace once. The others stream: they read it twice (names,
// then events), and their memory grows with names and rows, not with records. A file appears under its name
// when it is complete; the tables of one folder appear together at the end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/export/output_file.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

struct ExportRequest {
  std::vector<TraceFolder> traces;
  std::filesystem::path out;  ///< file, or folder for formats of several files; "-": standard output
  Overwrite overwrite = Overwrite::no;
  std::string step_range;         ///< kineto: becomes ProfilerStep#n
  std::size_t max_modules = 200;  ///< prometheus: maximum number of modules; others are summed as (other)
};

struct ExportResult {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;  ///< one sentence each about data missing in the files
};

enum class ExportShape : std::uint8_t {
  file,          ///< one file for all traces
  file_a_trace,  ///< one file per trace: a folder, or a single file for one trace
  folder         ///< several files
};

struct ExportFormat {
  std::string_view name;
  std::string_view about;
  std::string_view ending;  ///< suffix of the default name, after the name of the trace's folder
  ExportShape shape;
  bool to_stdout;  ///< "-" is allowed, for one file
  ExportResult (*write)(const ExportRequest&);
};

[[nodiscard]] std::span<const ExportFormat> export_formats();
/// nullptr: no such format.
[[nodiscard]] const ExportFormat* find_export_format(std::string_view name);

/// Adds notes about data missing in every format: no end line, lost records. read_damage reports damage.
void note_trace(const TraceNames& trace, ExportResult& result);
/// Adds a note about GPU records without times, which a timeline cannot show.
void note_untimed(const TraceNames& trace, std::uint64_t untimed, ExportResult& result);

using WriteTrace =
    std::function<void(const TraceOutline&, const std::filesystem::path& target, ExportResult&)>;
/// Writes one file per trace: `request.out`, or files in that folder named node7_4711.1700000000000000000 and
/// `ending`, as PyTorch's profiler does.
[[nodiscard]] ExportResult export_each(const ExportRequest& request, bool is_one_file,
                                       const std::string& ending, const WriteTrace& write);

ExportResult export_perfetto(const ExportRequest& request);
ExportResult export_kineto(const ExportRequest& request);
ExportResult export_csv(const ExportRequest& request);
ExportResult export_sqlite(const ExportRequest& request);
ExportResult export_speedscope(const ExportRequest& request);
ExportResult export_prometheus(const ExportRequest& request);

}  // namespace rangefinder
