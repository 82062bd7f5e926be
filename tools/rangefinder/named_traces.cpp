// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/named_traces.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/table/table.h"
#include "tools/serve/trace_list.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCommandWidth = 60;

std::vector<TraceFolder> traces_at(const fs::path& place) {
  if (place.filename() != "summary.json" || !fs::is_regular_file(place)) return find_traces(place);
  return {open_trace_folder(place.has_parent_path() ? place.parent_path() : ".")};
}

}  // namespace

std::vector<TraceFolder> named_traces(const std::vector<std::string>& places) {
  std::vector<TraceFolder> out;
  for (const std::string& place : places) {
    for (TraceFolder& trace : traces_at(place)) out.push_back(std::move(trace));
  }
  return out;
}

std::string trace_list_text(const std::vector<TraceFolder>& traces, const TextStyle& style) {
  Table table;
  table.columns = {{"trace", "trace"},
                   {"command", "program"},
                   {"counters", "counters", Unit::text, 50},
                   {"bytes", "size", Unit::bytes, 60}};
  TraceList headers;
  for (const TraceFolder& trace : traces) {
    const std::string folder = trace.folder.string();
    const std::uint64_t bytes = bytes_of(trace);
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    if (!trace.segments.empty()) row = headers.rows({{folder, trace, bytes, {}, {}}}).front();
    table.add({Cell(CellValue(folder)), Cell(CellValue(cut_back(row.value("command", ""), kCommandWidth))),
               Cell(CellValue(row.value("counters", ""))), Cell(CellValue(bytes))});
  }
  return render_text(table, style) + "\n" + counted_text(traces.size(), "trace", "traces") +
         ", not the ranks of one job. Name one of them, or show all:\n";
}

}  // namespace rangefinder
