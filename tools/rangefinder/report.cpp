// SPDX-License-Identifier: Apache-2.0
//
// rangefinder report DIR… [--section modules|kernels] [--json]
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "profiler/attribution/layer_report.h"
#include "profiler/attribution/number_text.h"
#include "tools/analysis/kernel_table.h"
#include "tools/analysis/module_table.h"
#include "tools/analysis/rows_json.h"
#include "tools/analysis/trace_totals.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

struct ReportOptions {
  std::vector<std::string> places;
  std::string section = "modules";
  std::string sort;
  std::uint64_t top = 0;
  std::uint32_t depth = 0;
  bool flat = false;
  bool wide = false;
  bool json = false;

  [[nodiscard]] ModuleView modules() const { return {top, depth, sort, flat}; }
  [[nodiscard]] KernelView kernels() const { return {top, sort}; }
};

/// How the recording ended, for a reader who has to know whether it is all there.
std::string ending(const TraceTotals& trace) {
  std::string out;
  if (!trace.end) {
    out += "No end line: the program was killed, or still runs; at most the last second is missing.\n";
  }
  if (trace.read.torn) {
    out += "The last line of " + trace.read.torn_file.filename().string() + " is torn and was left out.\n";
  }
  if (trace.read.broken != 0) {
    out += counted_text(trace.read.broken, "line", "lines") +
           " could not be read; the first: " + trace.first_broken + "\n";
  }
  return out;
}

std::string driver_line(const Header& header) {
  if (header.driver_release.empty()) return {};
  std::string out = "Driver " + printable(header.driver_release);
  if (header.runtime_version > 0) {
    out += ", CUDA runtime " + std::to_string(header.runtime_version / 1000) + "." +
           std::to_string(header.runtime_version % 1000 / 10);
  }
  return out + "\n";
}

std::string title(const TraceTotals& trace) {
  std::string out = trace.files.folder.string() + "   " + printable(trace.header.executable) + "  (process " +
                    std::to_string(trace.header.pid) + " on " + printable(trace.header.host);
  if (!trace.header.rank.empty()) out += ", rank " + printable(trace.header.rank);
  out += ")\n";
  for (const GpuRecord& gpu : trace.gpus) {
    out += "GPU " + std::to_string(gpu.id) + "  " + printable(gpu.name) + ", " +
           bytes_text(gpu.memory_bytes) + " of memory, " + bytes_text(gpu.l2_bytes) + " of L2";
    if (gpu.peak_dram_bytes_per_s != 0) {
      out += ", DRAM peak " + rate_text(static_cast<double>(gpu.peak_dram_bytes_per_s));
    }
    out += "\n";
  }
  return out + driver_line(trace.header);
}

std::string footer(const TraceTotals& trace) {
  std::string out;
  const Json loss = loss_object(trace.loss);
  const std::vector<std::string> lost = loss_lines(loss);
  out += counted_text(trace.kernels, "kernel", "kernels") + ", " +
         counted_text(trace.copies, "copy", "copies") + ", " +
         counted_text(trace.memsets, "memset", "memsets") + ", " +
         counted_text(trace.ranges, "range", "ranges") +
         (lost.empty() ? ", 0 records lost.\n" : ". Lost or incomplete:\n");
  for (const std::string& line : lost) out += line + "\n";
  out += ending(trace);
  if (!trace.header.counters_reason.empty()) {
    out += "DRAM and L2 bytes were not measured: " + printable(trace.header.counters_reason) + "\n";
  }
  return out + "Times are sums of kernel durations; 1 kB is 1000 B.\n";
}

/// How the bytes came about, and how far they may be believed.
std::string bytes_footer(const TraceTotals& trace, const RowValues& values) {
  std::string out;
  if (values.sampled() != nullptr) {
    const auto& [read, write, l2] = values.sampled()->sharing;
    std::string intervals;
    for (const std::uint32_t ns : trace.sample_intervals_ns) {
      intervals += (intervals.empty() ? "" : ", ") + duration_text(ns);
    }
    const auto shared = [](const ColumnSharing& column) {
      return column.method == SharingMethod::unmixed ? "unmixed over repetitions" : "shared by time";
    };
    out += "Bytes are of " +
           counted_text(values.sampled()->samples.samples, "hardware sample", "hardware samples") +
           (intervals.empty() ? "" : ", one every " + intervals) + ": DRAM read " + shared(read) +
           ", DRAM write " + shared(write) + ", L2 " + shared(l2) + ".\n";
    out +=
        "DRAM ±: bound of the error of read + write that holds for 95 % of paths. (bytes of nobody): moved "
        "while\n"
        "nothing of this process ran on the GPU.\n";
  } else if (trace.totals.groups().any_launch()) {
    out +=
        "DRAM ±: part of read + write that L2 may have carried over from earlier work, or into later work.\n";
  }
  return out + truth_line(values.truth());
}

Json trace_json(const TraceTotals& trace, const ReportOptions& options) {
  Json out{{"folder", trace.files.folder.string()},
           {"process", process_object(trace.header)},
           {"duration_ns", trace.last_ns},
           {"gpus", Json::array()}};
  for (const GpuRecord& gpu : trace.gpus) out["gpus"].push_back(gpu_object(gpu));
  const RowValues values = load_row_values(trace);
  if (options.section == "modules") {
    out["modules"] = Json::array();
    for (const PathTotals& row : select_modules(trace, values, options.modules())) {
      if (row.path != 0) out["modules"].push_back(module_row(row, trace.path_text(row.path), values));
    }
    out["outside"] = module_row(trace.totals.paths().back(), "", values);
    if (Json sets = metric_sets_array(trace.totals.groups()); !sets.empty()) out["metric_sets"] = sets;
  } else {
    out["kernels"] = Json::array();
    for (const KernelTotals& row : select_kernels(trace, values, options.kernels())) {
      const auto name = trace.kernel_names.find(row.name);
      out["kernels"].push_back(
          kernel_row(row, name == trace.kernel_names.end() ? nullptr : &name->second, values));
    }
  }
  out["memcpy"] = Json::array();
  for (const MemcpyTotals& row : trace.totals.copies()) out["memcpy"].push_back(copy_row(row));
  if (values.sampled() != nullptr) out["samples"] = samples_object(*values.sampled());
  if (Json truth = truth_object(values.truth()); !truth.is_null()) out["truth"] = truth;
  out["loss"] = loss_object(trace.loss);
  out["ended"] = trace.end.has_value();
  out["torn"] = trace.read.torn;
  out["broken_lines"] = trace.read.broken;
  return out;
}

std::string trace_text(const TraceTotals& trace, const ReportOptions& options) {
  const TextStyle style{options.wide ? 0 : line_width(STDOUT_FILENO), use_colour(STDOUT_FILENO)};
  const RowValues values = load_row_values(trace);
  return title(trace) + "\n" +
         (options.section == "modules" ? module_table(trace, values, options.modules(), style)
                                       : kernel_table(trace, values, options.kernels(), style)) +
         "\n" + bytes_footer(trace, values) + footer(trace);
}

void check_sort(const ReportOptions& options) {
  const auto& known = options.section == "modules" ? module_sort_columns() : kernel_sort_columns();
  if (options.sort.empty() || std::find(known.begin(), known.end(), options.sort) != known.end()) return;
  std::string text = "--sort " + options.sort + ": the section " + options.section + " can be sorted by";
  for (const std::string& name : known) text += " " + name;
  throw WrongUse(text);
}

int report(const ReportOptions& options) {
  check_sort(options);
  std::vector<TraceFolder> traces;
  for (const std::string& place : options.places) {
    for (TraceFolder& trace : find_traces(place)) traces.push_back(std::move(trace));
  }
  Json all{{"schema", "rangefinder.report"},
           {"version", "1.0"},
           {"section", options.section},
           {"traces", Json::array()}};
  const char* separator = "";
  for (const TraceFolder& files : traces) {
    const TraceTotals trace = load_trace(files);
    if (options.json) {
      all["traces"].push_back(trace_json(trace, options));
    } else {
      std::cout << separator << trace_text(trace, options);
      separator = "\n";
    }
  }
  if (options.json) std::cout << dump_json(all) << "\n";
  return kExitOk;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* const verb =
      app.add_subcommand("report", "Time and bytes of each module, or each kernel, of a trace");
  verb->add_option("DIR", options->places, "Folder of a trace, or one with traces below it")->required();
  verb->add_option("--section", options->section,
                   "modules: the tree of NVTX ranges; kernels: by kernel name [modules]")
      ->check(CLI::IsMember({"modules", "kernels"}));
  verb->add_option("--top", options->top, "Only the heaviest so many rows")->check(CLI::PositiveNumber);
  verb->add_option(
      "--sort", options->sort,
      "Column to sort by; modules: gpu self busy host calls kernels dram read write l2 declared; "
      "kernels: total mean min max count read write l2");
  verb->add_option("--depth", options->depth, "Deepest level of modules shown")->check(CLI::PositiveNumber);
  verb->add_flag("--flat", options->flat, "Full paths in one list instead of a tree");
  verb->add_flag("--wide", options->wide, "All columns, however long the lines get");
  verb->add_flag("--json", options->json, "As JSON, full names and plain numbers (ns, bytes)");
  verb->callback([options, &action] { action = [options] { return report(*options); }; });
}

}  // namespace rangefinder
