// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/layer_report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "profiler/base/text_table.h"
#include "schema/loss.h"

namespace rangefinder {
namespace {

using nlohmann::json;

const json& member(const json& object, const char* key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto it = object.find(key);
  return it == object.end() ? kNone : *it;
}

bool has_number(const json& object, const char* key) {
  return member(object, key).is_number();
}

std::uint64_t number(const json& object, const char* key) {
  const json& value = member(object, key);
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_number_integer()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.get<std::int64_t>(), 0));
}

std::string text(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? printable(value.get<std::string>()) : std::string();
}

/// Sum of `key` over the outermost paths and work outside any range.
std::uint64_t total(const json& summary, const char* key) {
  std::uint64_t sum = number(member(summary, "outside"), key);
  for (const json& module : member(summary, "modules")) {
    if (number(module, "depth") == 1) sum += number(module, key);
  }
  return sum;
}

struct Row {
  std::string path;
  const json* module;
};

std::vector<Row> heaviest(const json& summary, std::size_t max_rows) {
  std::vector<Row> rows;
  for (const json& module : member(summary, "modules")) rows.push_back({text(module, "path"), &module});
  const json& outside = member(summary, "outside");
  if (number(outside, "kernels") > 0) rows.push_back({"(outside of any range)", &outside});
  // Stable, so that a path comes before a child that did all its work.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return number(*a.module, "gpu_ns") > number(*b.module, "gpu_ns");
  });
  if (rows.size() > max_rows) rows.resize(max_rows);
  return rows;
}

double real(const json& object, const char* key) {
  const json& value = member(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

/// The row's bytes lack some of its launches or time.
bool is_partial(const json& module) {
  if (!has_number(module, "dram_read_bytes")) return number(module, "unmeasured_launches") > 0;
  if (member(module, "bytes_estimated") == json(true)) return false;
  return has_number(module, "launches") || has_number(module, "sampled_share") ||
         number(module, "unmeasured_launches") > 0;
}

/// Empty if not measured; with "+" if only part was measured.
std::string measured_bytes(const json& module, const char* key) {
  if (!has_number(module, key)) return {};
  return bytes_text(number(module, key)) + (is_partial(module) ? "+" : "");
}

std::string error_cell(const json& module, const char* key) {
  return has_number(module, key) ? error_text(real(module, key)) : std::string();
}

std::string share_cell(const json& module, const char* key) {
  return has_number(module, key) ? percent_text(real(module, key)) : std::string();
}

/// A column that is shown if any row has its key.
struct ByteColumn {
  const char* title;
  int importance;
  const char* key;
  std::string (*cell)(const json& module, const char* key);
};

constexpr std::array kByteColumns{
    ByteColumn{"DRAM read", kAlwaysShown, "dram_read_bytes", measured_bytes},
    ByteColumn{"DRAM write", kAlwaysShown, "dram_write_bytes", measured_bytes},
    ByteColumn{"DRAM ±", 5, "bytes_error_pct", error_cell},
    ByteColumn{"of peak", 4, "dram_peak_share", share_cell},
    ByteColumn{"L2", 3, "l2_bytes", measured_bytes},
    ByteColumn{"limiter", 2, "limiter", text},
};

std::vector<std::string> byte_cells(const std::vector<ByteColumn>& columns, const json& row) {
  std::vector<std::string> cells;
  for (const ByteColumn& column : columns) cells.push_back(column.cell(row, column.key));
  return cells;
}

/// How sampled bytes were shared among paths.
std::string samples_remark(const json& samples) {
  if (!samples.is_object()) return {};
  const std::string head = "Bytes are from " + count_text(number(samples, "count")) + " hardware samples, ";
  for (const json& method : member(samples, "method")) {
    if (method == json("unmixed")) return head + "unmixed over iterations; ± holds for 95 % of paths.\n";
  }
  return head + "shared by time: a light kernel beside a heavy one gets too much.\n";
}

CopyTruth truth_of(const json& truth) {
  return {number(truth, "copies"), number(truth, "known_bytes"), number(truth, "measured_bytes")};
}

struct Table {
  std::string text;
  bool bytes = false;    ///< at least one row has counter bytes
  bool partial = false;  ///< at least one row is_partial()
};

Table render_table(const json& summary, const LayerReportStyle& style) {
  const std::vector<Row> rows = heaviest(summary, style.rows);
  Table out;
  for (const Row& row : rows) {
    out.bytes |= has_number(*row.module, "dram_read_bytes");
    out.partial |= is_partial(*row.module);
  }
  std::vector<ByteColumn> columns;
  for (const ByteColumn& column : kByteColumns) {
    const auto has = [&column](const Row& row) { return !member(*row.module, column.key).is_null(); };
    if (std::any_of(rows.begin(), rows.end(), has)) columns.push_back(column);
  }
  TextTable table("path", CutSide::front);
  table.add_column("calls", 1);
  table.add_column("kernels", 0);
  table.add_column("GPU time");
  table.add_column("share");
  for (const ByteColumn& column : columns) table.add_column(column.title, column.importance);
  const auto all_ns = static_cast<double>(std::max<std::uint64_t>(total_gpu_ns(summary), 1));
  for (const Row& row : rows) {
    const json& module = *row.module;
    const std::uint64_t gpu_ns = number(module, "gpu_ns");
    std::vector<std::string> cells{has_number(module, "calls") ? count_text(number(module, "calls")) : "",
                                   count_text(number(module, "kernels")), duration_text(gpu_ns),
                                   percent_text(static_cast<double>(gpu_ns) / all_ns)};
    for (std::string& cell : byte_cells(columns, module)) cells.push_back(std::move(cell));
    table.add_row(row.path, std::move(cells));
  }
  const json& unattributed = member(member(summary, "samples"), "unattributed");
  if (!columns.empty() && has_number(unattributed, "dram_read_bytes")) {
    std::vector<std::string> cells(4);  // no calls, kernels, time and share
    for (std::string& cell : byte_cells(columns, unattributed)) cells.push_back(std::move(cell));
    table.add_row("(unattributed)", std::move(cells));
  }
  if (!table.empty()) {
    out.text = table.render(style.width, style.colour ? "\033[1m" : "", style.colour ? "\033[0m" : "");
  }
  return out;
}

/// Remarks on how the numbers were obtained.
std::string remarks(const json& summary, const Table& table) {
  std::string out;
  const std::string refused = text(member(summary, "process"), "counters_reason");
  if (table.partial) out += "+: a lower bound; part of that path's work was not measured.\n";
  out += samples_remark(member(summary, "samples")) + truth_line(truth_of(member(summary, "truth")));
  if (!refused.empty()) {
    out += "DRAM and L2 bytes were not measured: " + refused + "\n";
  } else if (!table.bytes && total(summary, "kernels") > 0) {
    out += "DRAM and L2 bytes were not requested: add them with rangefinder run --counters exact.\n";
  }
  const json& monitor = member(summary, "monitor");
  if (const std::uint64_t observed_ns = number(monitor, "observed_ns"); observed_ns != 0) {
    out +=
        "Monitor mode: " + count_text(number(monitor, "windows")) + " windows, " +
        percent_text(static_cast<double>(number(monitor, "window_ns")) / static_cast<double>(observed_ns)) +
        " of the time; the table covers only the windows. Rates: rangefinder report --section monitor\n";
  }
  if (member(summary, "final") == json(false)) {
    out += "The program did not exit normally: the table shows its state at the last summary.\n";
  }
  return out;
}

std::uint64_t copies(const json& summary) {
  std::uint64_t sum = 0;
  for (const json& row : member(summary, "memcpy")) sum += number(row, "count");
  return sum;
}

}  // namespace

std::uint64_t total_gpu_ns(const json& summary) {
  return total(summary, "gpu_ns");
}

std::string truth_line(const CopyTruth& truth) {
  if (truth.copies == 0 || truth.known_bytes == 0) return {};
  const double share = static_cast<double>(truth.measured_bytes) / static_cast<double>(truth.known_bytes);
  return "Copies of known size: " + count_text(truth.copies) + ", measured " + percent_text(share) +
         " of their bytes.\n";
}

std::vector<std::string> loss_lines(const json& loss) {
  std::vector<std::string> lines;
  if (!loss.is_object()) return lines;
  for (const auto& [cause, n] : loss.items()) {
    if (!n.is_number_integer() || n == 0) continue;
    const auto known = std::find_if(kLossCauses.begin(), kLossCauses.end(),
                                    [&name = cause](const LossCause& c) { return name == c.name; });
    std::string line = "  " + count_text(number(loss, cause.c_str())) + "  " + printable(cause);
    if (known != kLossCauses.end()) line += std::string(": ") + known->meaning;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string layer_report(const json& summary, const LayerReportStyle& style) {
  const Table table = render_table(summary, style);
  const std::size_t paths = member(summary, "modules").size();
  std::string out = table.text;
  if (paths > style.rows) {
    out += "(the " + count_text(style.rows) + " heaviest of " + count_text(paths) + " paths)\n";
  } else if (paths == 0 && total(summary, "kernels") > 0) {
    out +=
        "No NVTX range enclosed a launch: mark the parts of the program with nvtxRangePush and\n"
        "nvtxRangePop, or use --torch-modules for PyTorch.\n";
  }
  if (!out.empty()) out += "\n";
  out += remarks(summary, table);

  const std::vector<std::string> lost = loss_lines(member(summary, "loss"));
  out += counted_text(total(summary, "kernels"), "kernel", "kernels") + ", " +
         counted_text(copies(summary), "copy", "copies");
  out += lost.empty() ? ", 0 records lost." : ". Lost or incomplete:";
  for (const std::string& line : lost) out += "\n" + line;
  if (!style.folder.empty()) {
    out += std::string(lost.empty() ? "  " : "\n") + "Next:  rangefinder report " + printable(style.folder);
  }
  return out + "\n";
}

}  // namespace rangefinder
