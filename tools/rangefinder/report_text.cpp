// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/report_text.h"

#include <algorithm>
#include <array>

#include "profiler/attribution/layer_report.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/queries/module_table.h"

namespace rangefinder {
namespace {

/// How the recording ended, so that the reader knows whether it is complete.
std::string ending(const TraceTotals& trace) {
  std::string out;
  if (!trace.read.incomplete.empty()) {
    out += "The trace is " + trace.read.incomplete + ".\n";
  } else if (!trace.end) {
    out += "No end line: " + unfinished_text(trace.read) + ".\n";
  }
  if (trace.read.torn) {
    out += "The last line of " + trace.read.torn_file.filename().string() + " is torn and was skipped.\n";
  }
  if (trace.read.broken != 0) {
    out += counted_text(trace.read.broken, "line", "lines") +
           " could not be read. The first: " + trace.first_broken + "\n";
  }
  return out;
}

std::string driver_line(const Header& header) {
  if (header.driver_release.empty()) return {};
  std::string out = "Driver " + printable(header.driver_release);
  if (header.runtime_version > 0) out += ", CUDA runtime " + cuda_version_text(header.runtime_version);
  return out + "\n";
}

/// Reports that sums count overlapping time twice. Otherwise a program seems to take longer than with exact
/// counters, which serialise launches.
std::string overlap_line(const TraceTotals& trace) {
  constexpr double kMaxBusyShare = 0.95;
  const std::uint64_t summed_ns = all_gpu_ns(trace);
  const std::uint64_t busy_ns = trace.totals.gpu_busy_ns();
  if (summed_ns == 0) return {};  // no kernels: nothing, or only copies
  if (static_cast<double>(busy_ns) > kMaxBusyShare * static_cast<double>(summed_ns)) return {};
  return "Kernels overlap: " + std::string(trace.gpus.size() > 1 ? "GPUs were" : "the GPU was") +
         " busy for " + duration_text(busy_ns) + ", with " + duration_text(summed_ns) +
         " of kernels. A kernel that waits for the previous one counts too.\n";
}

/// Kernels end although the program goes on: PyTorch's profiler, which is in its libtorch, may have taken
/// CUPTI.
std::string kineto_line(const TraceTotals& trace) {
  const auto is_pytorch = [](const auto& name) { return name.second.from_library == "PyTorch"; };
  const AfterLastWork& after = trace.after_last_work;
  if (!trace.end || after.end_ns() == kNoTime ||
      std::none_of(trace.kernel_names.begin(), trace.kernel_names.end(), is_pytorch))
    return {};
  std::size_t calls = after.launches();
  for (const PathTotals& row : trace.totals.paths()) calls += row.kernels != 0 ? after.ranges(row.path) : 0;
  if (calls < AfterLastWork::kKept) return {};
  return "No kernels after " +
         duration_text(static_cast<std::uint64_t>(std::max<TimeNs>(after.end_ns(), 0))) +
         " although the program went on: PyTorch's profiler (Kineto) is in the process and may have taken "
         "CUPTI, which serves one tool. Use --torch-modules, which hands CUPTI over, or run torch.profiler "
         "without rangefinder.\n";
}

/// NVTX looks for a tool once, at its first call. A program without any range is as likely.
std::string no_ranges_line(const TraceTotals& trace) {
  const auto is_range = [](const auto& count) { return count.first == "range" && count.second != 0; };
  const bool written =
      trace.end && std::any_of(trace.end->records.begin(), trace.end->records.end(), is_range);
  // --range and other selections leave out ranges, but no paths.
  if (trace.kernels == 0 || trace.ranges != 0 || !trace.paths.empty() || written) return {};
  return "No NVTX range was recorded. If the program has ranges, it may have called NVTX before CUDA loaded "
         "Rangefinder: set NVTX_INJECTION64_PATH to the same library as CUDA_INJECTION64_PATH, as "
         "`rangefinder run` "
         "does.\n";
}

/// Times in which another tool had CUPTI.
std::string gap_lines(const TraceTotals& trace) {
  constexpr std::size_t kMaxLines = 3;
  const auto text = [](TimeNs ns) {
    return duration_text(static_cast<std::uint64_t>(std::max<TimeNs>(ns, 0)));
  };
  std::string out;
  for (std::size_t i = 0; i < std::min(trace.gaps.size(), kMaxLines); ++i) {
    const auto& [start_ns, end_ns, cause] = trace.gaps[i];
    out += (cause == "yield" ? "Another tool" : printable(cause)) + " had CUPTI from " + text(start_ns) +
           " to " + text(end_ns) + " (" + text(end_ns - start_ns) +
           "): kernels of that time are not in the trace.\n";
  }
  if (trace.gaps.size() > kMaxLines)
    out += "So it was " + counted_text(trace.gaps.size() - kMaxLines, "more time", "more times") + ".\n";
  return out;
}

/// The sums of paths that samples cannot tell apart; the heaviest ones.
std::string inseparable_lines(const TraceTotals& trace, const SampledTotals& sampled) {
  constexpr std::size_t kMaxGroups = 3, kMaxPaths = 4;
  std::vector<const InseparableGroup*> groups;
  for (const InseparableGroup& group : sampled.inseparable) groups.push_back(&group);
  const auto dram = [](const InseparableGroup& group) {
    return group.sum[kSharedDramRead].bytes + group.sum[kSharedDramWrite].bytes;
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto* a, const auto* b) { return dram(*a) > dram(*b); });
  std::string out;
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxGroups); ++i) {
    const std::vector<std::uint32_t>& paths = groups[i]->paths;
    out += "Always at one time: ";
    for (std::size_t p = 0; p < std::min(paths.size(), kMaxPaths); ++p)
      out += (p == 0 ? "" : ", ") + printable(trace.path_text(paths[p]));
    if (paths.size() > kMaxPaths) out += " and " + count_text(paths.size() - kMaxPaths) + " more";
    out += "; together they read " + bytes_text(groups[i]->sum[kSharedDramRead].bytes) + " and wrote " +
           bytes_text(groups[i]->sum[kSharedDramWrite].bytes) + ".\n";
  }
  if (groups.size() > kMaxGroups)
    out +=
        count_text(groups.size() - kMaxGroups) + " more groups of modules always run at one time (--json).\n";
  return out;
}

/// How the bytes were measured, and how exact they are.
std::string bytes_footer(const TraceTotals& trace, const RowValues& values) {
  std::string out;
  if (values.sampled() != nullptr) {
    const auto& [read, write, l2] = values.sampled()->sharing;
    std::string intervals;
    for (const std::uint32_t ns : trace.sample_intervals_ns) {
      intervals += (intervals.empty() ? "" : ", ") + duration_text(ns);
    }
    const auto shared = [](const ColumnSharing& column) {
      return column.method == SharingMethod::unmixed ? "fitted over iterations" : "shared by time";
    };
    out += "Bytes come from " +
           counted_text(values.sampled()->samples.samples, "hardware sample", "hardware samples") +
           (intervals.empty() ? "" : ", one every " + intervals) + ": DRAM read " + shared(read) +
           ", DRAM write " + shared(write) + ", L2 " + shared(l2) + ".\n";
    out +=
        "DRAM ±: bound of the error of read + write, which holds for 95 % of paths. (unattributed): moved "
        "while nothing of this process ran on the GPU.\n";
    out += inseparable_lines(trace, *values.sampled());
  }
  return out + truth_line(values.truth());
}

}  // namespace

std::string report_title(const TraceTotals& trace) {
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

std::string report_command(const std::vector<std::string>& places, const std::string& option) {
  std::string out = "  rangefinder report ";
  for (const std::string& place : places) out += quoted_for_shell(place) + " ";
  return out + option + "\n";
}

std::string report_footer(const TraceTotals& trace, const RowValues& values, std::string_view section) {
  constexpr std::array<std::string_view, 5> kWithBytes{"overview", "modules", "layers", "kernels", "kernel"};
  const bool has_bytes = std::find(kWithBytes.begin(), kWithBytes.end(), section) != kWithBytes.end();
  std::string out = has_bytes ? bytes_footer(trace, values) : "";
  const std::vector<std::string> lost = loss_lines(loss_counts(trace.loss));
  out += counted_text(trace.kernels, "kernel", "kernels") + ", " +
         (trace.graphs == 0 ? "" : counted_text(trace.graphs, "whole graph", "whole graphs") + ", ") +
         counted_text(trace.copies, "copy", "copies") + ", " +
         counted_text(trace.memsets, "memset", "memsets") + ", " +
         counted_text(trace.ranges, "range", "ranges") +
         (lost.empty() ? ", 0 records lost.\n" : ". Lost or incomplete:\n");
  for (const std::string& line : lost) out += line + "\n";
  out += ending(trace);
  if (!trace.header.counters_reason.empty()) {
    out +=
        std::string(values.has_gpm() ? "L2 bytes, and DRAM bytes of short modules," : "DRAM and L2 bytes") +
        " were not measured: " + printable(trace.header.counters_reason) + "\n";
  }
  return out + gap_lines(trace) + kineto_line(trace) + overlap_line(trace) + no_ranges_line(trace) +
         "Times are sums of kernel durations; 1 kB is 1000 B.\n";
}
}  // namespace rangefinder
