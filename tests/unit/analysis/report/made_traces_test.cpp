// SPDX-License-Identifier: Apache-2.0
//
// What docs/reading-results.md defines holds for any trace: checked over 1,000 made ones.
//
// The host launches ahead, so that iterations overlap on the GPU; there are two streams, copies, waits, a
// slow first iteration, work between the iterations, before the first and after the last. tests/replay has
// the same properties over recorded runs.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/unit/analysis/findings/findings_trace.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/report/run_summary.h"

namespace rangefinder::test {
namespace {

class RandomTrace {
 public:
  explicit RandomTrace(std::uint32_t seed) : random_(seed), exact_(below(4) == 0) {
    step_ = made_.add_path("step");
    for (const char* const name : {"embed", "layer", "head"}) modules_.push_back(made_.add_path(name, step_));
    modules_.push_back(made_.add_path("attn", modules_[1]));
    for (const char* const name : {"gemm", "softmax", "add"}) made_.add_name(name);
    made_.add_config(grid_of(1'024, 256));
    module(0);
    for (std::size_t i = 0, count = below(9); i < count; ++i) iteration(i == 0 ? 5 : 1);
    module(0);
    made_.write();
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return made_.folder.path(); }
  [[nodiscard]] bool exact() const { return exact_; }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  TimeNs ns(std::uint32_t limit) { return static_cast<TimeNs>(below(limit)); }

  void iteration(TimeNs slower) {
    const TimeNs start = host_;
    const std::uint64_t range = ++ranges_;
    for (std::size_t m = 0, count = 1 + below(4); m < count; ++m) module(modules_[m], slower);
    if (below(3) == 0) wait();
    made_.put(test::range(range, step_, start, host_));
    if (below(2) == 0) module(0);
    host_ += ns(30'000);
  }

  void module(std::uint32_t path, TimeNs slower = 1) {
    const TimeNs start = host_;
    const std::uint64_t range = path == 0 ? 0 : ++ranges_;
    for (std::size_t k = 0, count = 1 + below(4); k < count; ++k) work(path, range, slower);
    host_ += ns(2'000);
    if (range != 0) made_.put(test::range(range, path, start, host_));
  }

  void work(std::uint32_t path, std::uint64_t range, TimeNs slower) {
    const TimeNs called = host_;
    host_ += 4'000;
    TimeNs& free = free_[below(2)];
    const TimeNs start = std::max(host_ + ns(5'000), exact_ ? latest() : free),
                 length = 1'000 + slower * ns(40'000);
    free = start + length;
    const GpuWork on{start, free, 0, 1, &free == free_.data() ? 13U : 14U, ++made_.correlation, path, range};
    if (!exact_ && below(6) == 0) {
      made_.put(LaunchRecord{
          {called, host_, MadeTrace::kThread, path, range}, "cuMemcpyHtoDAsync", on.correlation, 1, 0});
      return made_.put(MemcpyRecord{on, CopyKind::HtoD, MemoryKind::pinned, MemoryKind::device,
                                    1 + below(1U << 20U), true});
    }
    const LaunchRecord launch{
        {called, host_, MadeTrace::kThread, path, range}, "cuLaunchKernel", on.correlation, 1, 0};
    const std::uint32_t name = 1 + below(3);
    if (exact_) {
      ExactRecord line;
      line.launch = launch;
      line.name = name;
      line.grid = {1'024, 1, 1};
      line.block = {256, 1, 1};
      line.measured = below(8) != 0;
      line.gpu_ns = static_cast<std::uint64_t>(length);
      // Up to the peak, and beyond it: bytes of earlier work are written back.
      line.dram_read_bytes = below(6'000) * static_cast<std::uint64_t>(length) / 1'000;
      line.dram_write_bytes = line.dram_read_bytes / 3;
      line.l2_bytes = 2 * line.dram_read_bytes;
      made_.put(line);
    } else {
      made_.put(launch);
    }
    made_.put(KernelRecord{on, name, 1});
  }

  [[nodiscard]] TimeNs latest() const { return *std::max_element(free_.begin(), free_.end()); }

  void wait() {
    const TimeNs until = std::max(host_, latest()) + 1'000;
    made_.sync(step_, host_, until);
    host_ = until;
  }

  std::mt19937 random_;
  bool exact_;  ///< one launch at a time
  MadeTrace made_;
  std::uint32_t step_ = 0;
  std::vector<std::uint32_t> modules_;
  std::uint64_t ranges_ = 0;
  TimeNs host_ = 1'000'000;
  std::array<TimeNs, 2> free_{};  ///< by stream: when it is idle again
};

/// A parent has at least what its child has, and no rate is above the peak.
void check_rows(const TraceTotals& trace, const RowValues& values) {
  std::map<std::uint32_t, PathTotals> rows;
  for (const PathTotals& row : trace.rows()) rows[row.path] = row;
  for (const auto& [path, row] : rows) {
    CHECK(row.gpu_busy_ns <= row.gpu_ns);
    const Derived derived = values.derived(row);
    CHECK(derived.dram_peak_share.value_or(0) <= 1);
    CHECK(derived.l2_peak_share.value_or(0) <= 1);
    const auto parent = rows.find(trace.parent_of(path));
    if (path == 0 || parent == rows.end() || parent->first == 0) continue;
    CHECK(row.kernels <= parent->second.kernels);
    CHECK(row.gpu_ns <= parent->second.gpu_ns);
    CHECK(row.gpu_busy_ns <= parent->second.gpu_busy_ns);
    const RowBytes own = values.bytes(row), of_parent = values.bytes(parent->second);
    if (own.source == RowBytes::Source::none) continue;
    CHECK(own.dram() <= of_parent.dram());
    CHECK((!own.partial() || of_parent.partial()));  // a lower bound makes the sum one
  }
}

/// Busy time fits into wall time, idle time is the sum of its causes, savings fit into an iteration.
void check_opening(WholeTrace& trace, bool exact) {
  RunSummaryReader reader;
  reader.start(trace.iterations());
  const EachRows each = [&trace](const auto& see) { trace.each(see); };
  each([&reader](const SelectedRows& rows) { reader.add(rows); });
  reader.finish(each);
  const RunSummary run = reader.result({trace.totals(), trace.values(), SectionView{}});
  const nlohmann::ordered_json json = run_summary_json(run);
  if (run.busy_share) {
    CHECK(*run.busy_share <= 1);
    double causes = 0;
    for (const auto& share : json.value("idle_shares", nlohmann::ordered_json::object()))
      causes += share.get<double>();
    if (causes > 0) CHECK(std::abs(causes - (1 - *run.busy_share)) < 1e-9);
  }
  for (const Finding& finding : run.findings) {
    INFO(finding.id);
    CHECK(finding.share.value_or(0) <= 1);
    if (exact) continue;
    if (finding.saving_each_ns) CHECK(*finding.saving_each_ns <= run.wall_ns);
    const auto [first, last] = trace.totals().totals.gpu_span();  // fewer than three iterations: of the run
    if (!finding.saving_each_ns)
      CHECK(finding.saving_ns.value_or(0) <= static_cast<std::uint64_t>(last - first));
  }
}

void check_iterations(WholeTrace& trace) {
  IterationLog log;
  log.begin(trace.iterations());
  trace.each([&log](const SelectedRows& rows) { log.add(rows); });
  log.finish();
  std::uint64_t busy_ns = 0;
  for (const std::size_t i : log.seen()) {
    CHECK(log.rows()[i].busy_ns <= log.rows()[i].wall_ns.value_or(0));
    busy_ns += log.rows()[i].busy_ns;
  }
  CHECK(busy_ns <= trace.totals().totals.gpu_busy_ns());
}

using Sums = std::map<std::uint32_t, std::array<std::uint64_t, 5>>;  // by path
void add_rows(WholeTrace& trace, const HalfOpen<std::uint64_t>& iterations, Sums& sums) {
  Selection selection({.iterations = iterations}, trace.iterations());
  const TraceTotals totals = load_totals(trace.rows(), selection);
  for (const PathTotals& row : totals.rows()) {
    const std::array<std::uint64_t, 5> parts{row.calls, row.kernels, row.gpu_ns, row.gpu_busy_ns,
                                             row.counters.dram_read_bytes};
    for (std::size_t i = 0; i < parts.size(); ++i) sums[row.path][i] += parts[i];
  }
}

/// Disjoint selections add up to the whole: busy times too, of iterations that overlap on the GPU.
void check_selections(WholeTrace& trace, std::uint64_t edge) {
  Sums parts, whole;
  add_rows(trace, {{}, edge}, parts);
  add_rows(trace, {edge, {}}, parts);
  add_rows(trace, {0, {}}, whole);
  CHECK(parts == whole);
}

/// Kernels alone, copies alone, both and neither are all of the time.
void check_gpu(const std::filesystem::path& folder) {
  const SectionRun run("gpu", folder);
  if (run.table("gpu").rows.empty()) return;
  const auto share = [&run](const char* key) {
    const std::string text = run.text("gpu", 0, key);
    return text.empty() ? 0 : std::stod(text);
  };
  const double sum =
      share("kernel_share") + share("copy_share") - share("both_share") + share("neither_share");
  CHECK(std::abs(sum - 1) < 1e-5);  // shares have six digits
}

TEST_CASE("the definitions hold for 1,000 made traces") {
  for (std::uint32_t seed = 1; seed <= 1'000; ++seed) {
    INFO("seed " << seed);
    const RandomTrace made(seed);
    WholeTrace trace(open_trace_folder(made.folder()), RunSummaryReader::kColumns | TotalsFold::kColumns);
    check_rows(trace.totals(), trace.values());
    check_opening(trace, made.exact());
    check_iterations(trace);
    if (trace.iterations().instances.size() >= 2)
      check_selections(trace, 1 + seed % (trace.iterations().instances.size() - 1));
    check_gpu(made.folder());
  }
}

}  // namespace
}  // namespace rangefinder::test
