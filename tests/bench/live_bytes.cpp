// SPDX-License-Identifier: Apache-2.0
//
// Sampled bytes of a live summary, compared with those of the report on the same trace.
//
//   live_bytes TRACE [--all]
//
// Plays the trace's records through SampleSharing in the order and with the delay of an application, and
// prints for each path of 5 % of GPU time or more (--all: every path) both values, their difference and the
// live bound. The report's bytes have an error of their own: a difference within both bounds is covered. Exit
// code 1 if fewer than 95 % of all values are covered, or the bound of a heavy path exceeds 25 %.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "profiler/attribution/sampled_rows.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/whole_trace.h"
#include "tools/analysis/sampling/sampled_bytes.h"

using namespace rangefinder;

namespace {

constexpr double kHeavyPart = 0.05, kMaxBoundPercent = 25, kMinCovered = 0.95;
constexpr TimeNs kDelayNs = 3'000'000'000;  // as TraceBuilder::kSharingDelayNs
constexpr const char* kColumns[kSharedColumns] = {"read", "written", "L2"};

L2Sizes l2_sizes(const std::vector<GpuRecord>& gpus) {
  L2Sizes out;
  for (const GpuRecord& gpu : gpus) out.set(gpu.id, gpu.l2_bytes);
  return out;
}

class LiveRun final {
 public:
  explicit LiveRun(const TraceTotals& trace) : sharing(l2_sizes(trace.gpus)) {
    for (const auto& [id, path] : trace.paths) sharing.add_path(id, path.parent);
  }
  void take(const KernelRecord& record) { sharing.add(record); }
  void take(const MemcpyRecord& record) { sharing.add(record); }
  void take(const MemsetRecord& record) { sharing.add(record); }
  void take(const GraphRecord& record) { sharing.add(record); }
  void take(const SamplesRecord& record) {
    sharing.add(record);
    if (!record.runs.empty()) sharing.advance(record.runs.back().end_ns - kDelayNs);
  }
  template <typename Other>
  void take(const Other&) {}

  SampleSharing sharing;
};

struct Counts {
  std::size_t values = 0, covered = 0, too_wide = 0;
};

void compare(const TraceTotals& trace, const PathTotals& row, const RowBytes& live, const SampledPath& fitted,
             bool all, double all_ns, Counts& counts) {
  const std::uint64_t bytes[] = {live.read, live.write, live.l2};
  const double bounds[] = {*live.read_error, *live.write_error, *live.l2_error};
  const bool heavy = static_cast<double>(fitted.inclusive_work_ns) >= kHeavyPart * all_ns;
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const auto found = static_cast<double>(bytes[c]), truth = static_cast<double>(fitted.inclusive[c].bytes);
    if (found <= 0 && truth <= 0) continue;
    const double off = std::abs(found - truth);
    const bool covered = off <= bounds[c] + static_cast<double>(fitted.inclusive[c].error_bytes);
    const double percent = truth > 0 ? 100 / truth : 0;
    ++counts.values;
    counts.covered += covered ? 1 : 0;
    const bool small = 100 * fitted.inclusive[c].bytes < fitted.inclusive[kSharedL2].bytes;
    const bool wide = heavy && !small && found > 0 && 100 * bounds[c] / found > kMaxBoundPercent;
    counts.too_wide += wide ? 1 : 0;
    if (!all && !heavy) continue;
    std::printf("%-44s %-8s live %14.0f report %14.0f  %+7.2f %%  bound %6.2f %%%s%s\n",
                trace.path_text(row.path).c_str(), kColumns[c], found, truth, (found - truth) * percent,
                found > 0 ? 100 * bounds[c] / found : 0, covered ? "" : "  not covered",
                wide ? "  wide" : "");
  }
}

int compare_trace(const char* place, bool all) {
  const TraceFolder folder = open_trace_folder(place);
  WholeTrace whole(folder, SampledTrace::kColumns);
  const TraceTotals& trace = whole.totals();
  const auto fitted = SampledTrace::load(whole.rows());
  if (!fitted) {
    std::fprintf(stderr, "%s has no samples\n", place);
    return 3;
  }
  LiveRun live(trace);
  LineReader reader;
  static_cast<void>(read_lines(folder, reader, [&](const Line& line, const LinePlace&) {
    std::visit([&](const auto& record) { live.take(record); }, line);
  }));
  live.sharing.finish();
  const SampledTotals totals = fitted->totals();
  const std::vector<PathTotals> rows = trace.totals.paths();
  const std::vector<RowBytes> bytes = live_sampled_bytes(rows, live.sharing);
  double all_ns = 0;
  for (const SampledPath& path : totals.paths) all_ns += static_cast<double>(path.work_ns);
  Counts counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SampledPath* const path = totals.find(rows[i].path);
    if (path != nullptr && bytes[i].source == RowBytes::Source::sampled)
      compare(trace, rows[i], bytes[i], *path, all, all_ns, counts);
  }
  const double covered =
      static_cast<double>(counts.covered) / static_cast<double>(std::max<std::size_t>(counts.values, 1));
  std::printf("%zu values, %.1f %% covered, %zu of heavy paths with a bound above 25 %%\n", counts.values,
              100 * covered, counts.too_wide);
  return covered >= kMinCovered && counts.too_wide == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool all = argc > 2 && std::strcmp(argv[2], "--all") == 0;
  if (argc < 2) {
    std::fprintf(stderr, "live_bytes TRACE [--all]\n");
    return 2;
  }
  try {
    return compare_trace(argv[1], all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "live_bytes: %s\n", error.what());
    return 3;
  }
}
