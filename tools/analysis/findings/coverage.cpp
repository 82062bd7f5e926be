// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/coverage.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/range_names.h"

namespace rangefinder {
namespace {

/// Of the work of an iteration, or of the run: what runs beside it is too little to be a part of its own.
constexpr double kSurrounds = 0.98;
/// Compiled code also calls libraries, so its generated kernels may be a small part.
constexpr double kMinCompiled = 0.01;
/// Of the GPU time: less is not worth a line.
constexpr double kMinUnnamed = 0.01;
/// Begins the name of the range around compiled code whose modules have no names. Behind the colon is why
/// (tools/python/rangefinder/torch/compiled.py).
constexpr std::string_view kUnnamedCode = "(compiled";

/// Inductor and XLA name their kernels so: "triton_poi_fused_add_0", "loop_add_fusion", "input_fusion_2".
bool is_generated(std::string_view name) {
  return name.starts_with("triton_") || name.find("_fusion") != std::string_view::npos ||
         name.starts_with("fusion");
}

struct ReasonText {
  const char *key, *text;
};
/// By Uncovered.
constexpr ReasonText kReasons[]{
    {"none", ""},
    {"no_ranges",
     "The program has no NVTX range: add --torch-modules for PyTorch, or open ranges around its parts"},
    {"compiled_code",
     "The rest is compiled code: record it with --torch-modules, which names the modules of what "
     "torch.compile "
     "generates"},
    {"early_graphs",
     "The rest is graphs that were captured before recording began: record from the start of the program, or "
     "with --start ready"},
    {"threads", "The rest was launched by threads that open no range: pass the ranges on with --inherit"},
    {"around_all", ""},
    {"outside", "The rest was launched while no range was open: open ranges around it"},
    {"unnamed_code", ""},
};

const ReasonText& reason(Uncovered why) {
  return kReasons[static_cast<std::size_t>(why)];
}

/// Paths whose own work is one kernel: ranges in them could not tell more.
std::unordered_set<std::uint32_t> paths_of_one_kernel(const KernelFacts& kernels) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> paths;  // ns by name
  for (const KernelPlace& place : kernels.places()) paths[place.path][place.use.name] += place.use.total_ns;
  std::unordered_set<std::uint32_t> out;
  for (const auto& [path, names] : paths) {
    std::uint64_t all = 0, most = 0;
    for (const auto& [name, ns] : names) {
      all += ns;
      most = std::max(most, ns);
    }
    if (static_cast<double>(most) >= kMinCoverage * static_cast<double>(all)) out.insert(path);
  }
  return out;
}

double part(std::uint64_t ns, std::uint64_t of) {
  return static_cast<double>(ns) / static_cast<double>(std::max<std::uint64_t>(1, of));
}

/// Ranges around compiled code whose modules have no names.
class UnnamedCode {
 public:
  explicit UnnamedCode(const TraceTotals& trace) : trace_(trace) {}

  /// Returns true if `row` is in one. Rows in any order.
  bool add(const PathTotals& row) {
    const std::uint32_t range = range_around(row.path);
    if (range == 0) return false;
    ns_[range] += row.gpu_ns_exclusive;
    return true;
  }
  void describe(Coverage& out, std::uint64_t all_ns) const {
    std::uint64_t ns = 0, most = 0;
    std::uint32_t largest = 0;
    for (const auto& [range, own_ns] : ns_) {
      ns += own_ns;
      if (own_ns > most) largest = range;
      most = std::max(most, own_ns);
    }
    out.unnamed_share = part(ns, all_ns);
    if (out.unnamed_share < kMinUnnamed) return;
    out.unnamed = trace_.path_text(largest);
    if (!out.low()) out.why = Uncovered::unnamed;
  }

 private:
  [[nodiscard]] std::uint32_t range_around(std::uint32_t path) const {
    for (; path != 0; path = trace_.parent_of(path)) {
      if (trace_.own_name(path).starts_with(kUnnamedCode)) return path;
    }
    return 0;
  }

  const TraceTotals& trace_;
  std::map<std::uint32_t, std::uint64_t> ns_;  // by range
};

}  // namespace

void CoverageFacts::add_range(const RangeRecord& range, bool outermost) {
  threads_.insert(range.thread);
  if (outermost) ranges_.add(range.thread, range.start_ns, range.end_ns == kNoTime ? kMaxNs : range.end_ns);
}

ThreadSpans CoverageFacts::outside(TimeNs first_ns, TimeNs last_ns, const StackSamples& samples) const {
  ThreadSpans out;
  std::unordered_map<std::uint32_t, TimeNs> ends;  // of the last range so far
  const auto launches = [&](std::uint32_t thread) {
    return ns_by_thread_.count(thread) != 0 && samples.threads().count(thread) != 0;
  };
  ranges_.each([&](std::uint32_t thread, const GapList& ranges) {
    if (!launches(thread)) return;
    TimeNs& end_ns = ends.try_emplace(thread, first_ns).first->second;
    ranges.each([&](const Gap& range) {
      out.add(thread, end_ns, std::min(range.from_ns, last_ns));
      end_ns = std::max(end_ns, range.to_ns);
    });
  });
  for (const auto& [thread, ns] : ns_by_thread_) {
    if (!launches(thread)) continue;
    const auto end = ends.find(thread);
    out.add(thread, end == ends.end() ? first_ns : end->second, last_ns);
  }
  return out;
}

void CoverageFacts::add(const WorkEvent& event, const TraceNames& names) {
  if (event.kind != WorkKind::kernel || event.work.path != 0) return;
  const std::uint64_t ns = event.duration();
  outside_ns_ += ns;
  if (event.work.graph != 0 && !event.work.captured) early_graph_ns_ += ns;
  ns_by_thread_[event.thread] += ns;
  std::uint32_t kind = compiled_.find(event.name);
  if (kind == DenseIds::kNone) {
    const auto at = names.kernel_names.find(event.name);
    if (at == names.kernel_names.end()) return;  // its line may come later
    kind = is_generated(at->second.demangled) ? 2 : 1;
    compiled_.set(event.name, kind);
  }
  if (kind == 2) compiled_ns_ += ns;
}

Coverage CoverageFacts::result(const TraceTotals& trace, const Iterations& iterations,
                               const KernelFacts& kernels) const {
  Coverage out;
  const std::vector<PathTotals> rows = trace.totals.paths();
  std::uint64_t all_ns = 0, iteration_ns = 0, outside_ns = 0;
  for (const PathTotals& row : rows) {
    if (row.path == 0) outside_ns = row.gpu_ns;
    if (row.depth <= 1) all_ns += row.gpu_ns;
    if (iterations.by_range() && iterations.paths.count(row.path) != 0) iteration_ns += row.gpu_ns;
  }
  if (all_ns == 0) return out;
  const auto below_iteration = [&](std::uint32_t path) {
    for (; path != 0; path = trace.parent_of(path)) {
      if (iterations.paths.count(path) != 0) return true;
    }
    return false;
  };
  std::uint64_t covered_ns = 0, around_ns = 0;
  std::uint32_t deepest = 0;
  const std::unordered_set<std::uint32_t> of_one_kernel = paths_of_one_kernel(kernels);
  UnnamedCode unnamed(trace);
  for (const PathTotals& row : rows) {
    if (row.path == 0 || unnamed.add(row)) continue;
    const bool around =
        part(row.gpu_ns, all_ns) >= kSurrounds ||
        (iteration_ns != 0 && below_iteration(row.path) &&
         (iterations.paths.count(row.path) != 0 || part(row.gpu_ns, iteration_ns) >= kSurrounds));
    const bool hides = around && of_one_kernel.count(row.path) == 0;
    (hides ? around_ns : covered_ns) += row.gpu_ns_exclusive;
    if (!hides || row.depth <= deepest) continue;
    deepest = row.depth;
    out.around = trace.path_text(row.path);
  }
  out.share = std::min(1.0, part(covered_ns, all_ns));
  unnamed.describe(out, all_ns);
  if (!out.low()) return out;
  if (threads_.empty()) {
    out.why = Uncovered::no_ranges;
  } else if (out.unnamed_share > part(std::max(around_ns, outside_ns), all_ns)) {
    out.why = Uncovered::unnamed;
    return out;
  } else if (around_ns > outside_ns) {
    out.why = Uncovered::around;
  } else {
    out.why = Uncovered::outside;
    std::uint64_t threads_ns = 0;
    for (const auto& [thread, ns] : ns_by_thread_) threads_ns += threads_.count(thread) == 0 ? ns : 0;
    if (2 * threads_ns > outside_ns_) out.why = Uncovered::threads;
  }
  // These explain why there is no range, whoever launched the work.
  if (out.why == Uncovered::around) return out;
  if (2 * early_graph_ns_ > outside_ns_) {
    out.why = Uncovered::early_graph;
  } else if (part(compiled_ns_, outside_ns_) >= kMinCompiled) {
    out.why = Uncovered::compiled;
  }
  return out;
}

std::string coverage_text(const Coverage& coverage) {
  if (coverage.is_known()) return "";
  const std::string of =
      std::string(" of the GPU time ") + (coverage.of_iterations ? "of the iterations " : "") + "is in ";
  if (coverage.why == Uncovered::around) {
    return percent_text(1 - coverage.share) + of + "`" + printable(coverage.around) +
           "`, around all work, and in none of its parts: open ranges in it";
  }
  if (coverage.why == Uncovered::unnamed) {
    const bool is_xla = coverage.unnamed.ends_with(kNoScope);
    return percent_text(coverage.unnamed_share) + of +
           (is_xla ? "operations for which XLA names no scope"
                   : "compiled code whose modules have no names") +
           ", as `" + printable(coverage.unnamed) +
           (is_xla ? "`: fusions with several results, broadcasts, what XLA adds itself"
                   : "`, which says why");
  }
  return percent_text(coverage.share) + of + "a range. " + reason(coverage.why).text +
         (coverage.function ? ". Outside of ranges the host is in " + coverage.function->text() : "");
}

nlohmann::ordered_json coverage_json(const Coverage& coverage) {
  nlohmann::ordered_json out{{"share", coverage.share}};
  if (coverage.is_known()) return out;
  out["why"] = reason(coverage.why).key;
  if (coverage.why == Uncovered::around) out["around"] = coverage.around;
  if (!coverage.unnamed.empty()) out["unnamed"] = coverage.unnamed;
  if (coverage.function) out["function"] = function_json(*coverage.function);
  out["text"] = coverage_text(coverage);
  return out;
}

}  // namespace rangefinder
