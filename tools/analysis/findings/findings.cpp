// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/findings.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "profiler/base/iteration_names.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/module_table.h"

namespace rangefinder {
namespace {

/// Fewer iterations are no loop.
constexpr std::size_t kMinIterations = 3;

/// The paths of the loop's range and all paths below them.
std::unordered_set<std::uint32_t> paths_of_loop(const TraceTotals& trace, const Iterations& loop) {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, path] : trace.paths) ids.push_back(id);
  std::sort(ids.begin(), ids.end());  // parents first
  std::unordered_set<std::uint32_t> out;
  for (const std::uint32_t id : ids) {
    if (out.count(trace.parent_of(id)) != 0 || loop.paths.count(id) != 0) out.insert(id);
  }
  return out;
}

/// Of a loop without ranges: the paths of its graph's nodes, or of all kernels from its first iteration on.
std::unordered_set<std::uint32_t> paths_of_work(const KernelFacts& kernels, const Iterations& loop,
                                                TimeNs start_ns) {
  std::unordered_set<std::uint32_t> out;
  for (const KernelPlace& place : kernels.places()) {
    if (loop.rule == IterationRule::kernels && place.last_end_ns >= start_ns) out.insert(place.path);
    if (place.graph != 0 && loop.path == "graph " + std::to_string(place.graph)) out.insert(place.path);
  }
  return out;
}

/// Of the iterations that IterationLog counts.
Loop find_loop(const TraceTotals& trace, const KernelFacts& kernels, const IterationLog& log) {
  const Iterations& iterations = log.iterations();
  if (log.seen().size() < kMinIterations) return {};
  const bool by_range = iterations.by_range();
  Loop loop;
  std::vector<double> walls;
  for (const std::size_t i : log.seen()) {
    const IterationTotals& row = log.rows()[i];
    if (!log.counts(i) || row.wall_ns.value_or(0) == 0) continue;
    const Iteration& of = iterations.instances[i];
    if (walls.empty()) loop.start_ns = of.start_ns;
    loop.end_ns =
        std::max({loop.end_ns, of.end_ns, row.last_gpu_ns == kNoTime ? of.end_ns : row.last_gpu_ns});
    loop.thread = of.thread;
    loop.wall_ns += *row.wall_ns;
    loop.busy_ns += row.busy_ns;
    walls.push_back(static_cast<double>(*row.wall_ns));
  }
  if (walls.size() + 1 < kMinIterations) return {};
  loop.count = walls.size();
  loop.all = log.seen().size();
  loop.median_ns = median_of(walls);
  if (by_range) loop.path = iterations.path;
  loop.paths =
      by_range ? paths_of_loop(trace, iterations) : paths_of_work(kernels, iterations, loop.start_ns);
  return loop.paths.empty() ? Loop{} : loop;
}

/// Paths of the loop whose kernels all ran before its second iteration are set-up too.
void drop_first(const Loop& loop, const KernelFacts& kernels, std::unordered_set<std::uint32_t>& paths) {
  std::unordered_map<std::uint32_t, TimeNs> last;
  for (const KernelPlace& place : kernels.places()) {
    TimeNs& end_ns = last.try_emplace(place.path, place.last_end_ns).first->second;
    end_ns = std::max(end_ns, place.last_end_ns);
  }
  for (const auto& [path, end_ns] : last) {
    if (end_ns < loop.start_ns) paths.erase(path);
  }
}

/// Paths beside the loop's whose kernels run in each of its iterations, such as a backward pass without a
/// range.
void add_beside(const Loop& loop, const KernelFacts& kernels, std::unordered_set<std::uint32_t>& paths) {
  for (const KernelPlace& place : kernels.places()) {
    if (place.use.count >= loop.count && place.last_end_ns >= loop.start_ns) paths.insert(place.path);
  }
}

std::unordered_set<std::uint32_t> all_paths(const TraceTotals& trace) {
  std::unordered_set<std::uint32_t> out{0};
  for (const auto& [id, path] : trace.paths) out.insert(id);
  return out;
}

/// Without a loop: the ranges that were opened at least kMinIterations times, those below them, and nodes of
/// graphs. If there are none, all.
std::unordered_set<std::uint32_t> repeated_paths(const TraceTotals& trace, const KernelFacts& kernels) {
  std::unordered_set<std::uint32_t> out, all{0};
  std::unordered_map<std::uint32_t, std::uint64_t> calls, most_below;  // by path; of the paths below it
  for (const PathTotals& row : trace.totals.paths()) calls[row.path] = row.path == 0 ? 0 : row.calls;
  std::vector<std::uint32_t> ids;
  for (const auto& [id, path] : trace.paths) ids.push_back(id);
  std::sort(ids.begin(), ids.end());  // parents first
  for (const std::uint32_t id : ids) {
    std::uint64_t& most = most_below[trace.parent_of(id)];
    most = std::max(most, calls[id]);
  }
  for (const std::uint32_t id : ids) {
    all.insert(id);
    const std::uint32_t parent = trace.parent_of(id);
    // What was opened once beside others that repeat is set-up.
    const bool below = out.count(parent) != 0 && (calls[id] > 1 || most_below[parent] <= 1);
    const bool repeats = calls[id] >= kMinIterations || below;
    if (repeats) out.insert(id);
  }
  for (const KernelPlace& place : kernels.places()) {
    all.insert(place.path);
    if (place.graph != 0) out.insert(place.path);
  }
  return out.empty() ? all : out;
}

/// CUPTI's own part: its callbacks and its record, measured on one thread (docs/internals/measured.md).
constexpr std::uint64_t kCuptiNsOfLaunch = 1'200;

std::optional<std::uint64_t> launch_cost_ns(const std::optional<EndRecord>& end) {
  if (!end || end->own_cost.launch_callback_median_ns == 0) return std::nullopt;
  return 2 * end->own_cost.launch_callback_median_ns + kCuptiNsOfLaunch;  // the median is that of one half
}

/// With --range: keeps what is about a selected path or about a kernel that runs in one.
void keep_selected(const FindingContext& context, std::vector<Finding>& findings) {
  const TraceTotals& trace = context.input.trace;
  if (!trace.in_range) return;
  std::unordered_set<std::string> places;
  for (const std::uint32_t path : trace.in_range->paths) {
    places.insert(context.path_text(path));
    places.insert(numbers_folded(context.path_text(path)));
  }
  std::erase_if(findings, [&places](const Finding& finding) { return places.count(finding.where) == 0; });
}

/// The time that savings are compared with.
struct Compared {
  std::uint64_t ns = 0;
  const char* name = "";  ///< "an iteration"
};

Compared compared_with(const FindingContext& context, const Rule& rule) {
  const bool loop = context.loop.found();
  if (context.host_times_valid || rule.of_host()) return {context.span_ns, loop ? "an iteration" : "the run"};
  if (loop) return {context.of_analysed(context.gpu_ns), "an iteration's GPU time"};
  return {std::max<std::uint64_t>(1, all_gpu_ns(context.input.trace)), "the GPU time"};
}

/// "12 %", "3.4 %".
std::string share_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, share >= 0.0995 ? "%.0f %%" : "%.1f %%", share * 100);
  return text;
}

std::string title_of(const Finding& finding, const Compared& compared, bool is_saving) {
  std::string out = subject_text(finding) + finding.effect;
  const std::string share =
      finding.share ? share_text(*finding.share) + " of " + compared.name : "in set-up or warm-up";
  if (is_saving) {
    const std::uint64_t ns = finding.saving_each_ns.value_or(*finding.saving_ns);
    return out + ": up to " + duration_text(ns) + (finding.share ? ", " : " ") + share;
  }
  return finding.of_ns == 0 ? out : out + " (" + share + ")";
}

/// By module, numbers folded: the time in which its work ran. Filled when it is first needed.
using ModuleBusy = std::map<std::string, std::uint64_t>;

/// The time in which the GPU was busy with what the finding is about, in the analysed time.
std::uint64_t busy_ns(const FindingContext& context, ModuleBusy& modules, const Finding& finding) {
  if (modules.empty()) {
    for (const PathTotals& row : context.rows) modules[context.module_text(row.path)] += row.run_ns();
  }
  std::uint64_t out = context.of_analysed(context.input.trace.totals.gpu_busy_ns());
  if (const auto at = modules.find(finding.where); at != modules.end())
    out = std::min(out, context.of_analysed(at->second));
  const bool loop = context.loop.found() && context.host_times_valid && !context.outside;
  return loop ? std::min(out, context.loop.busy_ns) : out;
}

/// The saving is the same part of the time as before.
void limit_to(std::uint64_t ns, Finding& finding) {
  if (finding.of_ns <= ns) return;
  if (finding.saving_ns) {
    const double part = static_cast<double>(*finding.saving_ns) / static_cast<double>(finding.of_ns);
    finding.saving_ns = static_cast<std::uint64_t>(std::min(1.0, part) * static_cast<double>(ns));
  }
  finding.of_ns = ns;
}

/// Bounds a finding by the time that it is about and by the compared time; adds share, severity, saving of an
/// iteration, source lines and title.
void complete(const FindingContext& context, const ModuleSources& sources, ModuleBusy& modules,
              Finding& finding) {
  const Rule& rule = rule_named(finding.id);
  const Compared compared = compared_with(context, rule);
  finding.experimental = rule.experimental();
  finding.outside = context.outside;
  // Kernels that overlap, or wait for the one before them, last longer than the GPU is busy with them.
  if (!rule.of_host()) limit_to(busy_ns(context, modules, finding), finding);
  if (!context.outside) finding.of_ns = std::min(finding.of_ns, compared.ns);
  if (finding.saving_ns) finding.saving_ns = std::min(*finding.saving_ns, finding.of_ns);
  const std::uint64_t ns = finding.saving_ns.value_or(finding.of_ns);
  if (ns != 0 && compared.ns != 0 && !context.outside) {
    finding.share = static_cast<double>(ns) / static_cast<double>(compared.ns);
    finding.severity = severity_of(ns, compared.ns);
    // Time that the trace cannot show to be lost is no serious matter.
    if (!finding.saving_ns) finding.severity = *finding.share >= 0.10 ? Severity::notable : Severity::info;
  }
  if (context.outside) finding.severity = Severity::info;
  if (finding.saving_ns && context.loop.found() && !context.outside)
    finding.saving_each_ns = context.of_iteration(*finding.saving_ns);
  set_sources(sources, finding);
  finding.title = title_of(finding, compared, finding.saving_ns.has_value());
}

/// Warps wait because of what such a rule reports.
bool causes_waits(Cause cause) {
  return cause == Cause::traffic || cause == Cause::on_chip || cause == Cause::arithmetic;
}

/// Of two findings with the same cause and place, the one to show. nullptr: causes or places differ.
const Finding* better_of(const Finding& a, const Finding& b) {
  const Rule &of_a = rule_named(a.id), &of_b = rule_named(b.id);
  if (a.where != b.where || a.outside != b.outside) return nullptr;
  if (of_a.cause == of_b.cause) return of_b.rank < of_a.rank ? &b : &a;
  const bool any_a = of_a.cause == Cause::any_of_gpu, any_b = of_b.cause == Cause::any_of_gpu;
  const auto explains = [](const Rule& rule, const Finding& finding) {
    return !rule.of_host() && rule.cause != Cause::summary && finding.saving_ns;
  };
  if (any_a && explains(of_b, b)) return &b;
  if (any_b && explains(of_a, a)) return &a;
  if (of_a.cause == Cause::latency && causes_waits(of_b.cause)) return &b;
  if (of_b.cause == Cause::latency && causes_waits(of_a.cause)) return &a;
  return nullptr;
}

void take_over(Finding& shown, const Finding& other) {
  if (other.id == shown.id) return;  // another kernel of the same place
  const std::string text = other.id + " (" + other.effect + ")";
  const auto also = std::find_if(shown.evidence.begin(), shown.evidence.end(),
                                 [](const Evidence& one) { return one.key == "also"; });
  if (also == shown.evidence.end()) {
    shown.evidence.push_back(evidence_text("also", "the same cause:", text));
  } else {
    also->value = std::get<std::string>(also->value) + "; " + text;
  }
}

bool heavier(const Finding& a, const Finding& b) {
  if (a.outside != b.outside) return b.outside;
  if (a.saving_ns.has_value() != b.saving_ns.has_value()) return a.saving_ns.has_value();
  if (a.saving_ns != b.saving_ns) return *a.saving_ns > *b.saving_ns;
  if (a.severity != b.severity) return a.severity > b.severity;
  return a.share.value_or(0) > b.share.value_or(0);
}

/// In the scope of the context.
std::vector<Finding> run_rules(const FindingContext& context) {
  std::vector<Finding> out;
  for (const Rule& rule : rule_table()) rule.find(context, out);
  ModuleBusy modules;
  const ModuleSources sources(context.input.trace);
  for (Finding& finding : out) complete(context, sources, modules, finding);
  keep_selected(context, out);
  return out;
}

/// Of findings with the same cause and place, one stays, and the others are in its evidence. Largest saving
/// first; findings without one come last, set-up after all. Findings must be complete.
void rank_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), heavier);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (std::size_t k = i + 1; k < findings.size();) {
      const Finding* const better = better_of(findings[i], findings[k]);
      if (better == nullptr) {
        ++k;
        continue;
      }
      if (better == &findings[k]) std::swap(findings[i], findings[k]);
      take_over(findings[i], findings[k]);
      findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  std::stable_sort(findings.begin(), findings.end(), heavier);
}

}  // namespace

constinit const Columns FindingRules::kColumns = FindingFacts::kColumns;

FindingRules::FindingRules(const Iterations& iterations)
    : FindingRules(iterations, std::make_unique<FindingFacts>(iterations)) {}
FindingRules::FindingRules(const Iterations& iterations, std::unique_ptr<FindingFacts> facts)
    : iterations_(iterations), facts_(std::move(facts)) {}
FindingRules::~FindingRules() = default;

void FindingRules::add(const SelectedRows& rows) {
  facts_->add(rows);
}

void FindingRules::finish(const EachRows& each) {
  facts_->finish();
  if (!facts_->needs_host_times()) return;
  each([this](const SelectedRows& rows) { facts_->add_host_times(rows); });
  facts_->finish_host_times();
}

FindingContext FindingRules::context(const SectionInput& input) {
  const TraceTotals& trace = input.trace;
  facts_->kernels.evaluate(trace, input.values.context().peaks);
  FindingContext out{input, facts_->kernels, facts_->gaps, facts_->log, *facts_, iterations_};
  out.loop = find_loop(trace, facts_->kernels, facts_->iteration_log);
  if (out.loop.found()) {
    out.paths = out.loop.paths;
  } else {
    out.paths = facts_->coverage.result(trace, iterations_, facts_->kernels).low()
                    ? all_paths(trace)
                    : repeated_paths(trace, facts_->kernels);
  }
  out.host_times_valid = !facts_->kernels.any_exact();
  out.launch_cost_ns = launch_cost_ns(trace.end);
  const auto [first, last] = trace.totals.gpu_span();
  out.span_ns = elapsed_ns(first, last) - trace.holds.gap_ns(first, last);
  if (const Loop& loop = out.loop; loop.found()) {
    drop_first(loop, facts_->kernels, out.paths);
    add_beside(loop, facts_->kernels, out.paths);
    out.span_ns = loop.wall_ns;
  }
  out.set_scope();
  return out;
}

std::vector<Finding> FindingRules::findings(const SectionInput& input) {
  FindingContext scope = context(input);
  std::vector<Finding> out = run_rules(scope);
  cannot_tell_ = rules_without_data(scope);
  if (input.view.all) {
    scope.outside = true;
    scope.set_scope();
    for (Finding& finding : run_rules(scope)) out.push_back(std::move(finding));
  }
  rank_findings(out);
  return out;
}

}  // namespace rangefinder
