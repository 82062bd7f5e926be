// SPDX-License-Identifier: Apache-2.0
//
// Sampled bytes compared with exact ones, path by path: the same program run with `run --counters sampled`,
// and once or several times with `run --counters exact`.
//
//   sampled_against_exact SAMPLED EXACT [EXACT…] [--all] [--skip N]
//
// Prints for each path exact and sampled bytes per call, their difference, the stated error and whether it
// covers the difference. Then medians, for paths of 5 % of GPU time or more and for all. Paths are matched by
// text and compared if all traces measured all launches. Bytes are scaled to one call, because the runs may
// differ in length. What a kernel moves varies between processes (contents of caches, addresses): the truth
// is between the minimum and the maximum of the exact runs. `--skip`: number of first iterations to ignore,
// because they are cold. A truth may be sampled too, if its kernels were so far apart that no sample held two
// of them (pausing_nvtx_tool.cpp). Exit code 1 if fewer than 95 % of all values are covered, or a heavy path
// is off by more than 2 %.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/sampling/sampled_bytes.h"

using namespace rangefinder;

namespace {

constexpr double kHeavyPart = 0.05, kMaxHeavyPercent = 2, kMinCovered = 0.95;
constexpr const char* kColumns[kSharedColumns] = {"read", "written", "L2"};

/// Bytes per call, by column: minimum and maximum of the runs.
struct ExactPath {
  std::array<double, kSharedColumns> least{}, most{};
  std::size_t runs = 0;

  void add(std::size_t column, double a_call) {
    least[column] = runs == 0 ? a_call : std::min(least[column], a_call);
    most[column] = std::max(most[column], a_call);
  }
};

struct Comparison {
  std::string path;
  double part_of_gpu_time = 0;
  std::size_t column = 0;
  double least = 0, most = 0, sampled = 0, stated = 0;  // bytes per call

  [[nodiscard]] bool heavy() const { return part_of_gpu_time >= kHeavyPart; }
  /// The value between the exact minimum and maximum that is closest to the sampled one.
  [[nodiscard]] double exact() const { return std::clamp(sampled, least, most); }
  [[nodiscard]] bool covered() const { return std::abs(sampled - exact()) <= stated; }
  [[nodiscard]] double percent() const { return most > 0 ? 100 * (sampled - exact()) / most : INFINITY; }
  [[nodiscard]] double spread_percent() const { return most > 0 ? 100 * (most - least) / most : 0; }
  [[nodiscard]] double stated_percent() const { return sampled > 0 ? 100 * stated / sampled : INFINITY; }
};

struct Warm {
  Warm(const TraceFolder& files, const SelectionOptions& options)
      : rows(files, {.columns = TotalsFold::kColumns | SampledTrace::kColumns | Selection::columns(options)}),
        selection(options, rows),
        totals(load_totals(rows, selection)) {}
  Trace rows;
  Selection selection;
  TraceTotals totals;
};

/// A trace without its first iterations.
std::unique_ptr<Warm> load_warm(const char* folder, std::uint64_t skip) {
  const std::vector<TraceFolder> traces = find_traces(folder);
  if (traces.size() != 1)
    std::fprintf(stderr, "%s holds %zu traces; using the first\n", folder, traces.size());
  SelectionOptions options;
  if (skip != 0) options.iterations.first = skip;
  return std::make_unique<Warm>(traces.front(), options);
}

/// Keyed by text of the path. Only paths with all launches measured.
void add_exact_paths(std::map<std::string, ExactPath>& out, const TraceTotals& trace) {
  for (const PathTotals& row : trace.totals.paths()) {
    if (row.path == 0 || row.calls == 0 || row.counters.measured == 0 || row.counters.unmeasured != 0)
      continue;
    const std::array<std::uint64_t, kSharedColumns> bytes{
        row.counters.dram_read_bytes, row.counters.dram_write_bytes, row.counters.l2_bytes};
    ExactPath& path = out[trace.path_text(row.path)];
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      path.add(c, static_cast<double>(bytes[c]) / static_cast<double>(row.calls));
    }
    ++path.runs;
  }
}

void add_sampled_paths(std::map<std::string, ExactPath>& out, const TraceTotals& trace,
                       const SampledTotals& sampled) {
  for (const PathTotals& row : trace.totals.paths()) {
    const SampledPath* const known = sampled.find(row.path);
    if (row.path == 0 || row.calls == 0 || known == nullptr) continue;
    ExactPath& path = out[trace.path_text(row.path)];
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      path.add(c, static_cast<double>(known->inclusive[c].bytes) / static_cast<double>(row.calls));
    }
    ++path.runs;
  }
}

void add_truth(std::map<std::string, ExactPath>& out, const char* folder, std::uint64_t skip) {
  const auto warm = load_warm(folder, skip);
  if (warm->totals.samples_lines == 0) return add_exact_paths(out, warm->totals);
  const auto trace = SampledTrace::load(warm->rows, &warm->selection);
  if (trace) add_sampled_paths(out, warm->totals, trace->totals());
}

std::vector<Comparison> compare(const TraceTotals& trace, const SampledTotals& sampled,
                                const std::map<std::string, ExactPath>& exact, std::size_t runs) {
  std::uint64_t all_ns = 0;
  for (const SampledPath& path : sampled.paths) all_ns += path.work_ns;
  std::vector<Comparison> out;
  for (const PathTotals& row : trace.totals.paths()) {
    const SampledPath* path = sampled.find(row.path);
    const auto known = exact.find(trace.path_text(row.path));
    if (path == nullptr || known == exact.end() || known->second.runs != runs || row.calls == 0) continue;
    const auto calls = static_cast<double>(row.calls);
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      Comparison next;
      next.path = known->first;
      next.part_of_gpu_time = static_cast<double>(path->inclusive_work_ns) / static_cast<double>(all_ns);
      next.column = c;
      next.least = known->second.least[c];
      next.most = known->second.most[c];
      next.sampled = static_cast<double>(path->inclusive[c].bytes) / calls;
      next.stated = static_cast<double>(path->inclusive[c].error_bytes) / calls;
      if (next.most > 0 || next.sampled > 0) out.push_back(next);
    }
  }
  return out;
}

void print_rows(const std::vector<Comparison>& rows, bool all) {
  std::printf("%-60s %6s %-8s %10s %8s %10s %9s %9s\n", "path", "time", "column", "exact", "spread",
              "sampled", "off", "stated");
  for (const Comparison& row : rows) {
    if (!all && !row.heavy() && row.covered()) continue;
    std::printf("%-60s %5.1f%% %-8s %10s %7.2f%% %10s %+8.2f%% %8.2f%%%s\n", cut_front(row.path, 60).c_str(),
                100 * row.part_of_gpu_time, kColumns[row.column],
                bytes_text(static_cast<std::uint64_t>(row.exact())).c_str(), row.spread_percent(),
                bytes_text(static_cast<std::uint64_t>(row.sampled)).c_str(), row.percent(),
                row.stated_percent(), row.covered() ? "" : "  NOT COVERED");
  }
}

double at_part(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

/// Returns false if a bound is exceeded.
bool print_summary(const std::vector<Comparison>& rows, std::size_t column) {
  std::vector<double> off, stated, heavy_off, heavy_stated;
  double covered = 0;
  for (const Comparison& row : rows) {
    if (row.column != column) continue;
    covered += row.covered() ? 1 : 0;
    off.push_back(std::abs(row.percent()));
    stated.push_back(row.stated_percent());
    if (!row.heavy()) continue;
    heavy_off.push_back(std::abs(row.percent()));
    heavy_stated.push_back(row.stated_percent());
  }
  const double part = off.empty() ? 0 : covered / static_cast<double>(off.size());
  std::printf("%-8s %4zu paths %6.1f %% %9.2f %% %9.2f %% | %4zu paths %7.2f %% %7.2f %% %7.2f %%\n",
              kColumns[column], off.size(), 100 * part, at_part(off, 0.5), at_part(stated, 0.5),
              heavy_off.size(), at_part(heavy_off, 0.5), at_part(heavy_off, 1), at_part(heavy_stated, 0.5));
  return part >= kMinCovered && at_part(heavy_off, 1) <= kMaxHeavyPercent;
}

struct Arguments {
  std::vector<const char*> folders;  // the sampled one first
  bool all = false;
  std::uint64_t skip = 0;
};

int run(const Arguments& arguments) {
  const char* const sampled_folder = arguments.folders.front();
  const auto warm = load_warm(sampled_folder, arguments.skip);
  const TraceTotals& sampled_trace = warm->totals;
  const auto trace = SampledTrace::load(warm->rows, &warm->selection);
  std::map<std::string, ExactPath> exact;
  for (std::size_t i = 1; i < arguments.folders.size(); ++i)
    add_truth(exact, arguments.folders[i], arguments.skip);
  if (!trace || exact.empty()) {
    std::fprintf(stderr, "%s holds no %s\n", trace ? arguments.folders[1] : sampled_folder,
                 trace ? "exact values" : "samples");
    return 3;
  }
  const SampledTotals sampled = trace->totals();
  const std::vector<Comparison> rows = compare(sampled_trace, sampled, exact, arguments.folders.size() - 1);
  print_rows(rows, arguments.all);
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const ColumnSharing& sharing = sampled.sharing[c];
    std::printf("%s: %s, lag %d ns, held-back error %.3f of sharing by time; unattributed %s of %s\n",
                kColumns[c], std::string(sharing_method_name(sharing.method)).c_str(), sharing.lag_ns,
                sharing.held_out_ratio.value_or(NAN), bytes_text(sampled.samples.unattributed[c]).c_str(),
                bytes_text(sampled.samples.bytes[c]).c_str());
  }
  std::printf("\n%-8s %10s %8s %11s %11s | paths of 5 %% of GPU time or more: off median, worst, stated\n",
              "column", "", "covered", "off median", "stated");
  bool good = true;
  for (std::size_t c = 0; c < kSharedColumns; ++c) good = print_summary(rows, c) && good;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--all") == 0) {
      arguments.all = true;
    } else if (std::strcmp(argv[i], "--skip") == 0 && i + 1 < argc) {
      arguments.skip = std::strtoull(argv[++i], nullptr, 10);
    } else {
      arguments.folders.push_back(argv[i]);
    }
  }
  if (arguments.folders.size() < 2) {
    std::fprintf(stderr, "usage: sampled_against_exact SAMPLED EXACT [EXACT...] [--all] [--skip N]\n");
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sampled_against_exact: %s\n", error.what());
    return 3;
  }
}
