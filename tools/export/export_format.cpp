// SPDX-License-Identifier: Apache-2.0
#include "tools/export/export_format.h"

#include <algorithm>
#include <array>
#include <optional>

#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

constexpr std::array kFormats{
    ExportFormat{"perfetto", "timeline for ui.perfetto.dev and chrome://tracing", ".perfetto.json",
                 ExportShape::file, true, export_perfetto},
    ExportFormat{"kineto", "timeline in PyTorch's format, one file per rank", ".kineto",
                 ExportShape::file_a_trace, true, export_kineto},
    ExportFormat{"speedscope", "flame graphs of time and bytes for speedscope.app", ".speedscope.json",
                 ExportShape::file, true, export_speedscope},
    ExportFormat{"csv", "a folder of tables", ".csv", ExportShape::folder, false, export_csv},
    ExportFormat{"sqlite", "one database per rank, with Nsight Systems' table names", ".sqlite",
                 ExportShape::file_a_trace, false, export_sqlite},
    ExportFormat{"prometheus", "sums as metrics, for node_exporter's textfile collector", ".prom",
                 ExportShape::file, true, export_prometheus},
};

/// The file name of a process. '_' replaces characters that a file name must not have.
std::string process_file_name(const Header& header) {
  std::string host = header.host.empty() ? "host" : header.host;
  const auto is_bad = [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20; };
  std::replace_if(host.begin(), host.end(), is_bad, '_');
  if (host.front() == '.' || host.front() == '-') host.front() = '_';
  host.resize(std::min<std::size_t>(host.size(), 128));  // file names have at most 255 bytes
  return host + "_" + std::to_string(header.pid) + "." + std::to_string(header.base_unix_ns);
}

}  // namespace

std::span<const ExportFormat> export_formats() {
  return kFormats;
}

const ExportFormat* find_export_format(std::string_view name) {
  const auto it = std::find_if(kFormats.begin(), kFormats.end(),
                               [name](const ExportFormat& format) { return format.name == name; });
  return it == kFormats.end() ? nullptr : &*it;
}

void note_trace(const TraceNames& trace, ExportResult& result) {
  const std::string folder = trace.files.folder.string() + ": ";
  if (!trace.end && trace.read.incomplete.empty()) {  // read_damage reports that
    result.notes.push_back(folder + unfinished_text(trace.read));
  }
  if (std::any_of(trace.loss.begin(), trace.loss.end(), [](std::uint64_t lost) { return lost != 0; })) {
    result.notes.push_back(folder + "some records were lost; `rangefinder report` lists them by cause");
  }
}

void note_untimed(const TraceNames& trace, std::uint64_t untimed, ExportResult& result) {
  if (untimed == 0) return;
  result.notes.push_back(trace.files.folder.string() + ": " +
                         counted_text(untimed, "GPU record", "GPU records") + " without times omitted");
}

ExportResult export_each(const ExportRequest& request, bool is_one_file, const std::string& ending,
                         const WriteTrace& write) {
  ExportResult result;
  std::optional<OutputFolder> folder;
  if (!is_one_file) folder.emplace(request.out);
  for (const TraceFolder& trace : request.traces) {
    const TraceOutline outline = read_outline(trace);
    note_trace(outline, result);
    const std::filesystem::path target =
        folder ? folder->path() / (process_file_name(outline.header) + ending) : request.out;
    // Each file is complete by itself and stays if a later one fails.
    write(outline, target, result);
    if (folder) folder->commit();
    result.files.push_back(target);
  }
  return result;
}

}  // namespace rangefinder
