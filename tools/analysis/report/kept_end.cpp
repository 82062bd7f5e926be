// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/report/kept_end.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/json_count.h"
#include "tools/analysis/model/regular_file.h"
#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct RunTotals {
  std::uint64_t kernels = 0, gpu_ns = 0, copies = 0, copied_bytes = 0;
  std::optional<std::uint64_t> dram_bytes;
};

RunTotals totals_of(const TraceTotals& trace, const RowValues& values) {
  RunTotals out;
  for (const KernelTotals& row : trace.totals.kernels()) {
    out.kernels += row.count;
    out.gpu_ns += row.total_ns;
  }
  for (const MemcpyTotals& row : trace.totals.copies()) {
    out.copies += row.count;
    out.copied_bytes += row.bytes;
  }
  RowBytes bytes;
  for (const PathTotals& row : trace.totals.paths()) {
    if (row.depth <= 1) bytes += values.bytes(row);
  }
  if (bytes.source != RowBytes::Source::none) out.dram_bytes = bytes.dram();
  return out;
}

void add_bytes(RunTotals& out, const OrderedJson& row) {
  if (!row.is_object() || count_at(row, "depth") > 1 || !row.contains("dram_read_bytes")) return;
  out.dram_bytes =
      out.dram_bytes.value_or(0) + count_at(row, "dram_read_bytes") + count_at(row, "dram_write_bytes");
}

/// Fields that the summary lacks count as 0.
RunTotals totals_of(const OrderedJson& summary) {
  const OrderedJson none = OrderedJson::array();
  const auto rows = [&](const char* key) -> const OrderedJson& {
    const auto at = summary.find(key);
    return at != summary.end() && at->is_array() ? *at : none;
  };
  RunTotals out;
  for (const OrderedJson& row : rows("kernels")) {
    out.kernels += count_at(row, "count");
    out.gpu_ns += count_at(row, "total_ns");
  }
  for (const OrderedJson& row : rows("memcpy")) {
    out.copies += count_at(row, "count");
    out.copied_bytes += count_at(row, "bytes");
  }
  for (const OrderedJson& row : rows("modules")) add_bytes(out, row);
  if (summary.contains("outside")) add_bytes(out, summary["outside"]);
  return out;
}

std::vector<Cell> cells(const char* of, const RunTotals& totals) {
  return {text_cell(of),
          number_cell(totals.kernels),
          cell_if(totals.gpu_ns != 0, totals.gpu_ns),
          cell_if(totals.copies != 0, totals.copies),
          cell_if(totals.copies != 0, totals.copied_bytes),
          cell_if(totals.dram_bytes.has_value(), totals.dram_bytes.value_or(0))};
}

Table totals_table(const TraceTotals& trace, const RowValues& values, bool everything) {
  Table out;
  out.arranged = true;
  out.columns = {{"of", "", Unit::text},
                 {"kernels", "kernels", Unit::count},
                 {"gpu_ns", "GPU time", Unit::ns},
                 {"copies", "copies", Unit::count},
                 {"copied_bytes", "copied", Unit::bytes},
                 {"dram_bytes", "DRAM", Unit::bytes}};
  if (everything) out.add(cells("in the trace", totals_of(trace, values)));
  const auto summary = read_json_file<OrderedJson>(trace.files.folder / "summary.json");
  if (summary.is_object()) {
    const bool final = summary.value("final", OrderedJson()) == OrderedJson(true);
    out.add(cells(final ? "whole run" : "whole run so far", totals_of(summary)));
  }
  drop_empty_columns(out);
  return out;
}

std::uint32_t removed_segments(const TraceTotals& trace) {
  const bool removed = trace.loss[static_cast<std::size_t>(Loss::lines_over_max_size)] != 0;
  return removed && trace.files.whole ? trace.files.segments.front().number : 0;
}

}  // namespace

std::string kept_end_text(const TraceTotals& trace, const RowValues& values, bool everything,
                          const TextStyle& style) {
  const std::uint32_t removed = removed_segments(trace);
  if (removed == 0) return "";
  const auto text = [](TimeNs ns) {
    return duration_text(static_cast<std::uint64_t>(std::max<TimeNs>(ns, 0)));
  };
  std::string out = "Only the end of this run of " + text(trace.last_ns) + " is in the trace";
  const auto [first_ns, last_ns] = trace.totals.gpu_span();
  if (everything && first_ns < last_ns) out += ": GPU work from " + text(first_ns) + " on";
  out += ". " + counted_text(removed, "earlier segment was", "earlier segments were") +
         " removed to stay within --max-size-mb (--keep last). Tables are of what remains.\n";
  return wrapped_lines(out, style.width) + render_text(totals_table(trace, values, everything), style);
}

OrderedJson kept_end_json(const TraceTotals& trace, const RowValues& values, bool everything) {
  const std::uint32_t removed = removed_segments(trace);
  if (removed == 0) return nullptr;
  OrderedJson out{{"removed_segments", removed}};
  const auto [first_ns, last_ns] = trace.totals.gpu_span();
  if (everything && first_ns < last_ns) out["gpu_from_ns"] = first_ns;
  out["totals"] = render_rows(totals_table(trace, values, everything));
  return out;
}

}  // namespace rangefinder
