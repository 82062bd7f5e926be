// SPDX-License-Identifier: Apache-2.0
//
// The formats that traces can be exported to, as one table.
//
//   ExportRequest ─▶ export_formats()[i].write ─▶ ExportResult: files written, what they lack
//
// Writers stream: a trace is read twice (names, then events), memory grows with names and rows, not
// with records. A file appears when it is whole; tables of one folder appear together at the end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/read/trace_files.h"
#include "tools/export/output_file.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

struct ExportRequest {
  std::vector<TraceFolder> traces;
  std::filesystem::path out;  ///< file, or folder for formats of several files; "-": standard output
  Overwrite overwrite = Overwrite::no;
  std::string step_range;         ///< kineto: becomes ProfilerStep#n
  std::size_t max_modules = 200;  ///< prometheus: rows of modules; the rest is summed as (other)
};

struct ExportResult {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;  ///< what the files lack, a sentence each
};

enum class ExportShape : std::uint8_t {
  file,          ///< one file for all traces
  file_a_trace,  ///< one each: a folder, or a file if there is one trace
  folder         ///< several files
};

struct ExportFormat {
  std::string_view name;
  std::string_view about;
  std::string_view ending;  ///< of the default name, behind that of the trace's folder
  ExportShape shape;
  bool to_stdout;  ///< "-" is possible, for one file
  ExportResult (*write)(const ExportRequest&);
};

[[nodiscard]] std::span<const ExportFormat> export_formats();
/// nullptr: no such format.
[[nodiscard]] const ExportFormat* find_export_format(std::string_view name);

/// What is missing in every format made from this trace: its end, what was lost. Of damage read_damage tells.
void note_trace(const TraceOutline& trace, ExportResult& result);
/// GPU records without times, which no timeline can show.
void note_untimed(const TraceOutline& trace, ExportResult& result);

ExportResult export_perfetto(const ExportRequest& request);
ExportResult export_kineto(const ExportRequest& request);
ExportResult export_csv(const ExportRequest& request);
ExportResult export_sqlite(const ExportRequest& request);
ExportResult export_speedscope(const ExportRequest& request);
ExportResult export_prometheus(const ExportRequest& request);

}  // namespace rangefinder
