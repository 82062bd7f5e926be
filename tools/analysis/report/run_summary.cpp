// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/report/run_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "tools/analysis/findings/facts.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/duration_histogram.h"

namespace rangefinder {
namespace {

/// One range around everything is no iteration.
constexpr std::size_t kMinIterations = 2;

/// The outermost path around `path`.
std::uint32_t outermost(const TraceTotals& trace, std::uint32_t path) {
  for (std::uint32_t up = trace.parent_of(path); up != 0; up = trace.parent_of(up)) path = up;
  return path;
}

void add_idle(IdleTime& sum, const IdleTime& part) {
  std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus<>());
}

std::uint64_t whole(double ns) {
  return static_cast<std::uint64_t>(std::llround(ns));
}

std::optional<RunSummary::HeldMeans> held_means(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return RunSummary::HeldMeans{*least, median_of(values), *most};
}

}  // namespace

constinit const Columns RunSummaryReader::kColumns =
    IterationLog::kColumns | IdleCauses::kColumns | FindingFacts::kColumns | TotalsFold::kColumns;

void RunSummaryReader::start(const Iterations& iterations) {
  iterations_ = iterations;
  idle_.emplace(iterations_);
  rules_.emplace(iterations_, std::make_unique<FindingFacts>(iterations_, &*idle_));
}

bool RunSummaryReader::exact() const {
  return rules_->facts().kernels.any_exact();
}

RunSummary RunSummaryReader::result(const SectionInput& input) {
  RunSummary out;
  out.findings = rules_->findings(input);
  out.cannot_tell = rules_->cannot_tell();
  const FindingFacts& facts = rules_->facts();
  out.coverage = facts.coverage.result(input.trace, iterations_, facts.kernels);
  if (input.counted != nullptr) {
    Coverage part = facts.coverage.result(input.counted->trace, iterations_, facts.kernels);
    part.of_iterations = true;
    // A range around all work of the iterations describes them, if it is one part of the run.
    if (part.why != Uncovered::around || out.coverage.low()) out.coverage = std::move(part);
  }
  // In monitor mode only some windows have GPU work.
  if (input.trace.header.monitor_period_ns == 0) add_times(input.trace, out);
  add_bytes(input, out);
  add_paths(input.trace, out);
  return out;
}

std::vector<std::size_t> RunSummaryReader::counted() const {
  const IterationLog& log = this->log();
  std::vector<std::size_t> out;
  if (iterations_.instances.size() < kMinIterations) return out;
  for (const std::size_t i : log.seen()) {
    if (log.counts(i) && log.rows()[i].wall_ns.value_or(0) != 0) out.push_back(i);
  }
  return out;
}

std::optional<std::size_t> RunSummaryReader::counted_from() const {
  if (counted().empty()) return {};
  return log().warm_up();
}

const IterationLog& RunSummaryReader::log() const {
  return rules_->facts().iteration_log;
}

std::optional<std::size_t> RunSummaryReader::median_iteration() const {
  const std::vector<std::size_t> all = counted();
  if (all.empty()) return {};
  const auto wall = [this](std::size_t i) { return static_cast<double>(*log().rows()[i].wall_ns); };
  std::vector<double> walls;
  for (const std::size_t i : all) walls.push_back(wall(i));
  const double median = median_of(walls);
  const auto nearer = [&](std::size_t a, std::size_t b) {
    return std::abs(wall(a) - median) < std::abs(wall(b) - median);
  };
  return *std::min_element(all.begin(), all.end(), nearer);
}

void RunSummaryReader::add_times(const TraceTotals& trace, RunSummary& out) const {
  const IterationLog& log = this->log();
  const Iterations& iterations = log.iterations();
  std::vector<double> walls, clocks, powers;
  std::uint64_t wall_ns = 0, busy_ns = 0;
  IdleTime idle{};
  for (const std::size_t i : counted()) {
    wall_ns += *log.rows()[i].wall_ns;
    busy_ns += log.rows()[i].busy_ns;
    walls.push_back(static_cast<double>(*log.rows()[i].wall_ns));
    if (idle_->known()) add_idle(idle, idle_->by_iteration()[i]);
    if (const auto& mhz = log.rows()[i].sm_mhz) clocks.push_back(*mhz);
    if (const auto& power = log.rows()[i].power_w) powers.push_back(*power);
  }
  out.exact = exact();
  if (walls.empty()) return add_run(trace, out);
  out.path = iterations.path;
  out.rule = iterations.rule;
  out.count = walls.size();
  out.warm_up = log.warm_up();
  out.sm_mhz = held_means(clocks);
  out.power_w = held_means(powers);
  out.wall_ns = whole(median_of(walls));
  out.mean_ns = whole(std::accumulate(walls.begin(), walls.end(), 0.0) / static_cast<double>(walls.size()));
  if (walls.size() >= kMinForP95) {
    out.p95_ns = whole(p95_of(walls));
  } else {
    out.longest_ns = whole(*std::max_element(walls.begin(), walls.end()));
  }
  if (exact()) return;
  out.idle = idle;
  add_functions(trace, counted(), out);
  out.busy_share = static_cast<double>(busy_ns) / static_cast<double>(wall_ns);
}

void RunSummaryReader::add_run(const TraceTotals& trace, RunSummary& out) const {
  const auto [first, last] = trace.totals.gpu_span();
  const std::uint64_t span_ns = elapsed_ns(first, last);
  out.wall_ns = span_ns - std::min(span_ns, trace.holds.gap_ns(first, last));
  if (exact() || out.wall_ns == 0) return;
  const std::uint64_t busy_ns = trace.totals.gpu_busy_ns();
  out.busy_share = std::min(1.0, static_cast<double>(busy_ns) / static_cast<double>(out.wall_ns));
  if (!idle_->known()) return;
  out.idle = idle_->total();
  add_functions(trace, {}, out);
}

void RunSummaryReader::add_functions(const TraceTotals& trace, const std::vector<std::size_t>& iterations,
                                     RunSummary& out) const {
  if (!idle_->known() || trace.stacks.empty()) return;
  const auto counts = [&](TimeNs at_ns) {
    return iterations.empty() ||
           std::binary_search(iterations.begin(), iterations.end(), iterations_.at(at_ns));
  };
  const auto main_of = [&](const ThreadSpans& spans) {
    StackTimes times;
    each_sample_in(rules_->facts().stacks, spans, [&](std::uint32_t thread, const StackMoment& moment) {
      const bool held = trace.holds.within(thread, moment.at_ns, moment.at_ns + 1) != 0;
      if (!held && counts(moment.at_ns)) times.add(moment);
    });
    return main_function(trace.stacks, times);
  };
  out.host_code = main_of(idle_->host_times().code);
  out.host_waiting = main_of(idle_->host_times().waiting);
  const auto [first, last] = trace.totals.gpu_span();
  const FindingFacts& facts = rules_->facts();
  if (out.coverage.is_outside())
    out.coverage.function = main_of(facts.coverage.outside(first, last, facts.stacks));
}

void RunSummaryReader::add_bytes(const SectionInput& input, RunSummary& out) const {
  const TraceTotals& trace = input.counted == nullptr ? input.trace : input.counted->trace;
  const RowValues& values = input.counted == nullptr ? input.values : *input.counted->values;
  const bool of_path = !out.path.empty() && iterations_.by_range();
  RowBytes sum;
  for (const PathTotals& row : trace.totals.paths()) {
    if (of_path ? iterations_.paths.count(row.path) == 0 : row.depth > 1) continue;
    sum += values.bytes(row);
    out.need.add(values, row);
    out.calls += row.calls;
    if (of_path) out.derived = values.derived(row);
  }
  if (!of_path) out.calls = std::max<std::size_t>(out.count, 1);
  if (sum.source != RowBytes::Source::none) out.bytes = sum;
}

void RunSummaryReader::add_paths(const TraceTotals& trace, RunSummary& out) const {
  const Iterations& iterations = iterations_;
  if (out.path.empty()) return;
  for (const std::uint32_t path : iterations.paths) {
    out.depth = std::max(out.depth, path_depth(trace.paths, path));
    out.iteration_paths.push_back(outermost(trace, path));
  }
}

RunSummary run_summary_of(WholeTrace& trace) {
  RunSummaryReader reader;
  reader.start(trace.iterations());
  const EachRows each = [&trace](const auto& see) { trace.each(see); };
  each([&reader](const SelectedRows& rows) { reader.add(rows); });
  reader.finish(each);
  const std::optional<std::size_t> from = reader.counted_from();
  const TracePart* const counted = from ? trace.measured_from(*from) : nullptr;
  return reader.result({trace.totals(), trace.values(), SectionView{}, counted});
}

}  // namespace rangefinder
