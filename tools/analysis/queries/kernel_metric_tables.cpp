// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/kernel_details.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMeaningWidth = 68;  // the longest of a stall
constexpr double kNegligible = 0.05;       // percent: stalls and pipes below it are only in JSON and CSV

/// "██████▌             " for a share of the peak.
std::string bar(double percent) {
  constexpr std::size_t kCells = 20;
  constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(percent, 0.0, 100.0) / 100 * kCells * 8));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[eighths % 8];
  return out + std::string(kCells - eighths / 8 - (eighths % 8 == 0 ? 0 : 1), ' ');
}

/// "48.1 %  █████████▋          "
Cell peak_cell(double percent) {
  Cell cell = number_cell(percent);
  cell.shown = percent_text(percent / 100) + "  " + bar(percent);
  return cell;
}

/// Adds a row for each value of a topic: its name and title, then `cells(value)`, the kernel last.
template <typename Cells>
void add_values(Table& table, const KernelDetails& details, MetricTopic topic, Cells cells) {
  table.columns.push_back({"n", "launches", Unit::count, 50});
  table.columns.push_back({"kernel", "kernel", Unit::text, 30});
  for (const KernelDetail& kernel : details.kernels) {
    for (const NamedValue& value : kernel.measured.values.all()) {
      if (value.metric->topic != topic) continue;
      std::vector<Cell> row = cells(value);
      row.push_back(number_cell(value.launches));
      row.push_back(owner_cell(details, kernel));
      table.add(std::move(row));
    }
  }
}

/// The key of a metric, and its title for people.
Cell metric_cell(const NamedMetric& metric, const char* title) {
  return Cell(CellValue(std::string(metric.name)), title);
}

struct LevelMetrics {
  const char* key;
  const char* title;
  const char* bytes;       ///< named metric of its bytes; "": of the exact lines
  const char* hit_rate;    ///< "": none
  const char* throughput;  ///< "": none
};
constexpr std::array kLevels{LevelMetrics{"l1", "L1", "l1_bytes", "l1_hit_rate", "l1_throughput"},
                             LevelMetrics{"shared", "shared memory", "shared_bytes", "", ""},
                             LevelMetrics{"local", "local memory (spills)", "local_bytes", "", ""},
                             LevelMetrics{"l2", "L2", "", "l2_hit_rate", "l2_throughput"},
                             LevelMetrics{"dram", "DRAM", "", "", "dram_throughput"}};

}  // namespace

std::vector<MemoryLevel> memory_levels(const MeasuredKernel& kernel, std::optional<double> l2_bytes,
                                       std::optional<double> dram_bytes) {
  std::vector<MemoryLevel> out;
  for (const LevelMetrics& level : kLevels) {
    const std::string_view key = level.key;
    std::optional<double> bytes = key == "l2" ? l2_bytes : key == "dram" ? dram_bytes : std::nullopt;
    if (const auto named = kernel.per_launch(level.bytes)) bytes = named;
    const auto hit_rate = kernel.values.value(level.hit_rate);
    const auto throughput = kernel.values.value(level.throughput);
    if (bytes || hit_rate || throughput) out.push_back({level.key, level.title, bytes, hit_rate, throughput});
  }
  return out;
}

Table kernel_speed_of_light(const KernelDetails& details) {
  Table table;
  table.name = "kernel_speed_of_light";
  table.title = "Speed of light: share of each unit's peak";
  table.columns = {{"metric", "unit"}, {"value", "of peak", Unit::percent}, {"busiest", "busiest part"}};
  add_values(table, details, MetricTopic::speed_of_light, [](const NamedValue& value) {
    return std::vector{metric_cell(*value.metric, value.metric->column), peak_cell(value.value),
                       value.part == nullptr ? Cell() : text_cell(value.part->title)};
  });
  if (!table.rows.empty()) {
    table.remarks =
        "compute and memory: the busiest of their parts, of launches measured in turn. L1, L2, DRAM: "
        "the parts of memory.\n";
  }
  return without_empty_columns(std::move(table));
}

Table kernel_memory(const KernelDetails& details) {
  Table table;
  table.name = "kernel_memory";
  table.title = "Memory";
  table.columns = {{"level", "level"},
                   {"bytes_per_launch", "bytes/launch", Unit::bytes},
                   {"hit_rate", "hit rate", Unit::percent},
                   {"throughput", "of peak", Unit::percent},
                   {"kernel", "kernel", Unit::text, 30}};
  for (const KernelDetail& kernel : details.kernels) {
    const auto mean = [](const Spread& first, double second) {
      return first.n == 0 ? std::nullopt : std::optional(first.mean + second);
    };
    for (const MemoryLevel& level :
         memory_levels(kernel.measured, mean(kernel.l2, 0), mean(kernel.read, kernel.write.mean))) {
      if (!level.measured()) continue;
      table.add({Cell(CellValue(std::string(level.key)), level.title), optional_cell(level.bytes_per_launch),
                 optional_cell(level.hit_rate), optional_cell(level.throughput),
                 owner_cell(details, kernel)});
    }
  }
  return without_empty_columns(std::move(table));
}

Table kernel_accesses(const KernelDetails& details) {
  Table table;
  table.name = "kernel_accesses";
  table.title = "Global memory accesses and shared-memory banks";
  table.columns = {{"access", "access"},
                   {"sectors_per_request", "sectors/request", Unit::number},
                   {"bytes_used", "bytes used", Unit::percent},
                   {"conflicts_per_request", "conflicts/request", Unit::number},
                   {"kernel", "kernel", Unit::text, 30}};
  bool any_used = false;
  for (const KernelDetail& kernel : details.kernels) {
    for (const std::string kind : {"load", "store"}) {
      const auto sectors = kernel.measured.values.value(kind + "_sectors_per_request");
      const auto used = kernel.measured.values.value(kind + "_bytes_used");
      any_used = any_used || used;
      if (!sectors) continue;
      table.add({Cell(CellValue(kind), "global " + kind + "s"), optional_cell(sectors), optional_cell(used),
                 Cell(), owner_cell(details, kernel)});
    }
    if (const auto conflicts = kernel.measured.values.value("shared_conflicts_per_request")) {
      table.add({Cell(CellValue("shared"), "shared memory"), Cell(), Cell(), optional_cell(conflicts),
                 owner_cell(details, kernel)});
    }
  }
  if (any_used) {
    table.remarks =
        "bytes used: if each thread accesses a word of 4 bytes. With 8 bytes it is twice as much, with 16 "
        "bytes "
        "four times.\n";
  }
  return without_empty_columns(std::move(table));
}

Table kernel_occupancy(const KernelDetails& details) {
  Table table;
  table.name = "kernel_occupancy";
  table.title = "Occupancy and issue";
  table.columns = {{"metric", "metric"}, {"value", "value", Unit::number}, {"unit", "unit"}};
  add_values(table, details, MetricTopic::occupancy, [](const NamedValue& value) {
    return std::vector{metric_cell(*value.metric, value.metric->title), number_cell(value.value),
                       text_cell(value.metric->unit)};
  });
  return without_empty_columns(std::move(table));
}

Table kernel_pipes(const KernelDetails& details) {
  Table table;
  table.name = "kernel_pipes";
  table.title = "Pipes: share of the active cycles of a multiprocessor";
  table.columns = {{"pipe", "pipe"}, {"value", "busy", Unit::percent}};
  add_values(table, details, MetricTopic::pipes, [](const NamedValue& value) {
    return std::vector{metric_cell(*value.metric, value.metric->title), peak_cell(value.value)};
  });
  sort_rows(table, "value");
  return without_empty_columns(std::move(table));
}

Table kernel_stalls(const KernelDetails& details, bool all) {
  Table table;
  table.name = "kernel_stalls";
  table.title = "Stall reasons: share of the warps' time between two instructions";
  table.min_first_width = 18;  // the longest reason
  table.columns = {{"reason", "reason"},
                   {"stall_share", "of time", Unit::percent},
                   {"n", "launches", Unit::count, 40},
                   {"meaning", "meaning"},
                   {"kernel", "kernel", Unit::text, 30}};
  std::size_t hidden = 0;
  for (const KernelDetail& kernel : details.kernels) {
    for (const NamedValue& value : kernel.measured.values.stalls()) {
      if (value.value < kNegligible && !all) {
        ++hidden;
        continue;
      }
      table.add({metric_cell(*value.metric, value.metric->title), number_cell(value.value),
                 number_cell(value.launches), left_aligned(value.metric->meaning, kMeaningWidth),
                 owner_cell(details, kernel)});
    }
  }
  sort_rows(table, "stall_share");
  if (hidden != 0 && !table.rows.empty())
    table.remarks = counted_text(hidden, "reason", "reasons") + " below " + percent_text(kNegligible / 100) +
                    " omitted.\n";
  return without_empty_columns(std::move(table));
}

std::string kernel_not_measured(const KernelDetails& details, const RecordedCounters& recorded) {
  using enum MetricTopic;
  std::string missing;
  for (const MetricTopic topic : {speed_of_light, memory, occupancy, pipes, stalls, roofline}) {
    const auto has = [topic](const KernelDetail& kernel) {
      return std::any_of(kernel.measured.values.all().begin(), kernel.measured.values.all().end(),
                         [topic](const NamedValue& value) { return value.metric->topic == topic; });
    };
    if (!std::any_of(details.kernels.begin(), details.kernels.end(), has))
      missing += (missing.empty() ? "" : ",") + std::string(topic_name(topic));
  }
  if (missing.empty()) return "";
  return "Not measured, or in too few launches: " + missing + ". Record with " +
         metrics_option(recorded, missing) + ".\n";
}

}  // namespace rangefinder
