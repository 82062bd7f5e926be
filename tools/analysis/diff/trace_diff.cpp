// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/trace_diff.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>
#include <string_view>

#include "profiler/metrics/named_metrics.h"
#include "tools/analysis/diff/fused_verdicts.h"
#include "tools/analysis/queries/duration_histogram.h"

namespace rangefinder {
namespace {

/// Smaller changes per iteration do not count: GPU clocks have a resolution of 32 ns.
constexpr double kMinNs = 200;
constexpr double kMinBytes = 4096;
/// A cause of idle time that is less of both iterations has no row.
constexpr double kMinOfWall = 0.01;
/// A larger change that is not significant is no "same".
constexpr double kMaxForSame = 0.10;
/// Of a normal distribution, in 95 % of cases a value is not farther from the mean.
constexpr double kSigmas = 1.96;

double min_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram_bytes:
    case Quantity::l2_bytes:
    case Quantity::memory_bytes:
      return kMinBytes;
    case Quantity::launches:
    case Quantity::kernels:
      return 1;
    default:
      return kMinNs;
  }
}

std::optional<double> mean(const Moments& moments) {
  return moments.n() == 0 ? std::nullopt : std::optional(moments.mean());
}

/// `a`, `b`: nullptr if the trace lacks it.
Change measured(std::string key, std::string shown, Quantity quantity, const Moments* a, const Moments* b) {
  const Moments of_a = a == nullptr ? Moments() : *a, of_b = b == nullptr ? Moments() : *b;
  Change out;
  out.key = std::move(key);
  out.shown = std::move(shown);
  out.quantity = quantity;
  out.a = mean(of_a);
  out.b = mean(of_b);
  out.n_a = of_a.n() + of_a.trimmed();
  out.n_b = of_b.n() + of_b.trimmed();
  out.test = welch(of_a, of_b);
  if (a == nullptr) out.verdict = Verdict::appeared;
  if (b == nullptr) out.verdict = Verdict::gone;
  return out;
}

/// Bytes of a path per iteration, and their error.
struct BytesOfPath {
  double bytes = 0, error = 0;
};

std::optional<BytesOfPath> bytes_of(const IterationSeries& series, const std::string& path,
                                    Quantity quantity) {
  const auto samples = series.sampled.find(path);
  if (samples != series.sampled.end()) {
    const SampledSeries& of = samples->second;
    return quantity == Quantity::dram_bytes ? BytesOfPath{of.dram_bytes, of.dram_error}
                                            : BytesOfPath{of.l2_bytes, of.l2_error};
  }
  const auto exact = series.paths.find(path);
  if (exact == series.paths.end()) return {};
  const Moments& moments = exact->second.spreads[static_cast<std::size_t>(quantity)];
  if (moments.n() == 0) return {};
  return BytesOfPath{moments.mean(),
                     kSigmas * std::sqrt(moments.variance() / static_cast<double>(moments.n()))};
}

/// At least one side is sampled.
Change sampled(const std::string& key, const std::string& shown, Quantity quantity, const BytesOfPath& a,
               const BytesOfPath& b) {
  Change out;
  out.key = key;
  out.shown = shown;
  out.quantity = quantity;
  out.a = a.bytes;
  out.b = b.bytes;
  out.bound = root_sum_square(a.error, b.error);
  return out;
}

/// Of sampled bytes, whose bound holds for 95 % of paths: of hundreds of rows some are beyond it by chance.
double p_of_bound(const Change& change) {
  const double difference = std::abs(*change.b - *change.a);
  if (difference == 0) return 1;
  return std::erfc(kSigmas * difference / (*change.bound * std::numbers::sqrt2));
}

bool large_enough(const Change& change, double least, double min) {
  const double difference = std::abs(*change.b - *change.a);
  return difference >= least * *change.a && difference >= std::max(min, min_of(change.quantity));
}

/// Sets the verdicts of rows that are tested together: those of the iteration, or of one kind and quantity.
/// `min`: smaller changes do not count.
void judge(std::vector<Change>& changes, std::optional<Quantity> quantity, const DiffOptions& options,
           double min = 0) {
  std::vector<double> p;
  std::vector<Change*> tested;
  for (Change& change : changes) {
    if (quantity && change.quantity != *quantity) continue;
    if (!change.a || !change.b) {  // new or gone
      if (std::max(change.a.value_or(0), change.b.value_or(0)) < min) change.verdict = Verdict::untested;
      continue;
    }
    if (!change.bound && !change.test) continue;
    p.push_back(change.bound ? p_of_bound(change) : change.test->p);
    tested.push_back(&change);
  }
  const std::vector<bool> significant = holm(p, options.alpha);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    Change& change = *tested[i];
    if (!change.bound && std::min(change.n_a, change.n_b) < kMinForVerdict) continue;
    change.verdict = Verdict::same;
    if (!significant[i] && large_enough(change, kMaxForSame, min)) change.verdict = Verdict::unclear;
    if (significant[i] && large_enough(change, options.least, min))
      change.verdict = *change.b > *change.a ? Verdict::worse : Verdict::better;
  }
}

/// Paths of A in its order. A path that only B has comes after its predecessor in B.
std::vector<std::string> path_order(const IterationSeries& a, const IterationSeries& b) {
  const auto ordered = [](const IterationSeries& series) {
    std::vector<const std::pair<const std::string, PathSeries>*> out;
    for (const auto& entry : series.paths) out.push_back(&entry);
    std::sort(out.begin(), out.end(),
              [](const auto* x, const auto* y) { return x->second.order < y->second.order; });
    return out;
  };
  std::map<std::string, std::vector<std::string>> only_b;  // by predecessor; "": none
  std::string before;
  for (const auto* entry : ordered(b)) {
    if (a.paths.count(entry->first) == 0) {
      only_b[before].push_back(entry->first);
    } else {
      before = entry->first;
    }
  }
  std::vector<std::string> out = std::move(only_b[""]);
  for (const auto* entry : ordered(a)) {
    out.push_back(entry->first);
    const auto more = only_b.find(entry->first);
    if (more != only_b.end()) out.insert(out.end(), more->second.begin(), more->second.end());
  }
  return out;
}

template <typename Series>
const Series* find(const std::map<std::string, Series>& all, const std::string& key) {
  const auto at = all.find(key);
  return at == all.end() ? nullptr : &at->second;
}

template <typename Series>
std::set<std::string> keys(const std::map<std::string, Series>& a, const std::map<std::string, Series>& b) {
  std::set<std::string> out;
  for (const auto* side : {&a, &b}) {
    for (const auto& [key, series] : *side) out.insert(key);
  }
  return out;
}

/// nullptr: the trace lacks the path or kernel.
template <typename Series>
const Moments* moments_of(const Series* series, Quantity quantity) {
  return series == nullptr ? nullptr : &series->spreads[static_cast<std::size_t>(quantity)];
}

void add_path(std::vector<Change>& out, const std::string& path, const IterationSeries& a,
              const IterationSeries& b) {
  const PathSeries* const in_a = find(a.paths, path);
  const PathSeries* const in_b = find(b.paths, path);
  const PathSeries& either = in_a != nullptr ? *in_a : *in_b;
  const std::string shown = std::string(either.depth == 0 ? 0 : 2 * (either.depth - 1), ' ') + either.name;
  const auto change_of = [&](Quantity quantity) {
    return measured(path, shown, quantity, moments_of(in_a, quantity), moments_of(in_b, quantity));
  };
  out.push_back(change_of(Quantity::gpu_ns));
  if (in_a != nullptr) out.back().ranks_a = in_a->ranks;
  if (in_b != nullptr) out.back().ranks_b = in_b->ranks;
  const bool samples = find(a.sampled, path) != nullptr || find(b.sampled, path) != nullptr;
  for (const Quantity quantity : {Quantity::dram_bytes, Quantity::l2_bytes}) {
    const auto of_a = bytes_of(a, path, quantity), of_b = bytes_of(b, path, quantity);
    if (samples && of_a && of_b) {
      out.push_back(sampled(path, shown, quantity, *of_a, *of_b));
    } else if (Change change = change_of(quantity); change.a || change.b) {
      out.push_back(std::move(change));
    }
  }
}

void add_kernel(std::vector<Change>& out, const std::string& name, const IterationSeries& a,
                const IterationSeries& b) {
  const KernelSeries* const in_a = find(a.kernels, name);
  const KernelSeries* const in_b = find(b.kernels, name);
  for (const Quantity quantity : {Quantity::gpu_ns, Quantity::dram_bytes, Quantity::l2_bytes}) {
    Change change = measured(name, "", quantity, moments_of(in_a, quantity), moments_of(in_b, quantity));
    if (!change.a && !change.b) continue;
    change.where = (in_b != nullptr ? in_b : in_a)->where;
    out.push_back(std::move(change));
  }
}

Change of_iteration(Quantity quantity, double a, double b) {
  Change out;
  out.quantity = quantity;
  out.a = a;
  out.b = b;
  return out;
}

/// Whether counters of these modes leave the quantity as it is.
bool compares(Basis basis, Quantity quantity) {
  const bool count = quantity >= Quantity::launches, busy = quantity == Quantity::busy_ns;
  return basis == Basis::bytes ? count : basis != Basis::serialised || count || busy;
}

/// `causes`: the causes of idle time, else the other rows. Empty if a side has no iterations.
std::vector<Change> iteration_rows(const IterationSeries& a, const IterationSeries& b, Basis basis,
                                   bool causes) {
  std::vector<Change> out;
  for (const auto& [quantity, of_a] : a.of_iterations) {
    const auto in_b = b.of_iterations.find(quantity);
    if (in_b == b.of_iterations.end() || is_idle_cause(quantity) != causes) continue;
    if (!compares(basis, quantity)) continue;
    const IterationValues& of_b = in_b->second;
    Change row = of_iteration(quantity, of_a.median, of_b.median);
    row.n_a = of_a.batches.n() + of_a.batches.trimmed();
    row.n_b = of_b.batches.n() + of_b.batches.trimmed();
    row.test = welch(of_a.batches, of_b.batches);
    out.push_back(std::move(row));
    if (quantity != Quantity::wall_ns) continue;
    if (std::min(of_a.n, of_b.n) >= kMinForP95) {
      out.push_back(of_iteration(Quantity::wall_p95_ns, of_a.p95, of_b.p95));
    } else {
      out.push_back(of_iteration(Quantity::wall_longest_ns, of_a.longest, of_b.longest));
    }
  }
  return out;
}

/// Tested apart from the other rows: their number must not hide a change of the iteration.
std::vector<Change> idle_rows(const IterationSeries& a, const IterationSeries& b, Basis basis,
                              const Change& wall) {
  std::vector<Change> out = iteration_rows(a, b, basis, true);
  const auto is_small = [&](const Change& row) {
    return *row.a < kMinOfWall * *wall.a && *row.b < kMinOfWall * *wall.b;
  };
  out.erase(std::remove_if(out.begin(), out.end(), is_small), out.end());
  return out;
}

void add_calls(std::vector<Change>& out, const std::string& path, const IterationSeries& a,
               const IterationSeries& b) {
  const CallSeries* const in_a = find(a.calls, path);
  const CallSeries* const in_b = find(b.calls, path);
  for (const Quantity quantity : {Quantity::gpu_ns, Quantity::host_ns}) {
    const auto moments = quantity == Quantity::gpu_ns ? &CallSeries::gpu_ns : &CallSeries::host_ns;
    Change change = measured(path, path, quantity, in_a == nullptr ? nullptr : &(in_a->*moments),
                             in_b == nullptr ? nullptr : &(in_b->*moments));
    if (change.a || change.b) out.push_back(std::move(change));
  }
}

/// The part of `a` in rows that `b` has too, by GPU time.
template <typename Series>
double common_share(const std::map<std::string, Series>& a, const std::map<std::string, Series>& b) {
  double all = 0, common = 0;
  for (const auto& [key, series] : a) {
    const double ns = series.spreads[static_cast<std::size_t>(Quantity::gpu_ns)].mean();
    all += ns;
    if (b.count(key) != 0) common += ns;
  }
  return all > 0 ? common / all : 0;
}

/// Changes of time below it do not count.
double min_time(const TraceDiff& diff, const DiffOptions& options) {
  const double iteration = diff.iterations.empty() ? 0 : diff.iterations.front().a.value_or(0);
  return std::max(options.min_ns, options.min_share * iteration);
}

double largest(const std::vector<Change>& rows, Quantity quantity) {
  double out = 0;
  for (const Change& row : rows) {
    if (row.quantity == quantity) out = std::max(out, row.a.value_or(0));
  }
  return out;
}

Verdict metric_verdict(const NamedMetric& metric, double a, double b) {
  constexpr double kMinPoints = 2;  // of a metric in percent
  const bool percent = std::string_view(metric.unit) == "%";
  const double difference = std::abs(b - a);
  if (difference < kMaxForSame * std::abs(a) || (percent && difference < kMinPoints)) return Verdict::same;
  if (difference == 0) return Verdict::same;
  if (metric.better == Better::neither) return Verdict::unclear;
  return (b > a) == (metric.better == Better::higher) ? Verdict::better : Verdict::worse;
}

template <typename Series>
void add_metric_changes(std::vector<MetricChange>& out, const std::map<std::string, Series>& a,
                        const std::map<std::string, Series>& b, bool kernels) {
  for (const auto& [key, of_a] : a) {
    const Series* const of_b = find(b, key);
    if (of_b == nullptr) continue;
    for (const NamedMetric& metric : named_metrics()) {
      const double* const in_a = find(of_a.metrics, metric.name);
      const double* const in_b = find(of_b->metrics, metric.name);
      if (in_a == nullptr || in_b == nullptr) continue;
      out.push_back({key, kernels, &metric, *in_a, *in_b, metric_verdict(metric, *in_a, *in_b)});
    }
  }
}

}  // namespace

double weight(const Change& change) {
  return std::abs(change.b.value_or(0) - change.a.value_or(0)) *
         (change.quantity == Quantity::gpu_ns || change.quantity == Quantity::host_ns ? 1
                                                                                      : 1e-12);  // time first
}

std::optional<double> Change::relative() const {
  if (!a || !b || *a == 0) return {};
  return (*b - *a) / *a;
}

std::vector<const Change*> TraceDiff::worse_than(double over) const {
  std::vector<const Change*> out;
  for (const Change& change : modules) {
    if (change.verdict == Verdict::worse && change.relative().value_or(HUGE_VAL) > over)
      out.push_back(&change);
  }
  return out;
}

void heaviest_first(std::vector<Change>& changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& x, const Change& y) { return weight(x) > weight(y); });
}

void worst_first(TraceDiff& diff) {
  const auto rank = [](const Change& change) {
    return change.verdict == Verdict::worse ? 0 : change.is_changed() ? 1 : 2;
  };
  for (auto* const rows : {&diff.modules, &diff.kernels, &diff.calls}) {
    heaviest_first(*rows);
    std::stable_sort(rows->begin(), rows->end(),
                     [&rank](const Change& x, const Change& y) { return rank(x) < rank(y); });
  }
}

std::string program_name(const Header& header) {
  const std::string name = std::filesystem::path(header.executable).filename().string();
  if (!name.starts_with("python")) return name;
  const auto is_option = [](const std::string& word) { return word.starts_with('-') && word != "-m"; };
  auto word = header.command.begin();
  if (word != header.command.end()) word = std::find_if_not(word + 1, header.command.end(), is_option);
  if (word != header.command.end() && *word == "-m") ++word;
  return word == header.command.end() ? name : std::filesystem::path(*word).filename().string();
}

Basis basis_of(const IterationSeries& a, const IterationSeries& b) {
  constexpr double kMinCommon = 0.5;
  const auto common = [&](const auto& series) {
    return std::min(common_share(series(a), series(b)), common_share(series(b), series(a)));
  };
  if (program_name(a.header) != program_name(b.header) &&
      common([](const IterationSeries& side) -> const auto& { return side.paths; }) < kMinCommon &&
      common([](const IterationSeries& side) -> const auto& { return side.kernels; }) < kMinCommon) {
    return Basis::none;
  }
  if (a.counters != b.counters) return Basis::bytes;
  return a.counters == "exact" ? Basis::serialised : Basis::all;
}

TraceDiff compare(const IterationSeries& a, const IterationSeries& b, const DiffOptions& options) {
  TraceDiff out;
  out.basis = basis_of(a, b);
  out.enough = !a.iteration_path.empty() && !b.iteration_path.empty() &&
               std::min(a.iterations, b.iterations) >= kMinForVerdict;
  out.iterations = iteration_rows(a, b, out.basis, false);
  std::vector<Change> causes;
  if (!out.iterations.empty() && out.basis != Basis::serialised && out.basis != Basis::bytes)
    causes = idle_rows(a, b, out.basis, out.iterations.front());
  for (const std::string& path : path_order(a, b)) add_path(out.modules, path, a, b);
  for (const std::string& name : keys(a.kernels, b.kernels)) add_kernel(out.kernels, name, a, b);
  for (const std::string& path : keys(a.calls, b.calls)) add_calls(out.calls, path, a, b);
  if (out.enough && out.basis != Basis::none) {
    judge(out.iterations, {}, options);
    judge(causes, {}, options);
    const bool times = out.basis != Basis::bytes;
    const double min_ns = times ? min_time(out, options) : 0;
    for (const Quantity quantity : {Quantity::gpu_ns, Quantity::host_ns}) {
      if (!times || (quantity == Quantity::host_ns && out.basis == Basis::serialised)) continue;
      for (auto* const rows : {&out.modules, &out.kernels, &out.calls})
        judge(*rows, quantity, options, min_ns);
    }
    for (const Quantity quantity : {Quantity::dram_bytes, Quantity::l2_bytes}) {
      const double min_bytes = options.min_share * largest(out.modules, quantity);
      for (auto* const rows : {&out.modules, &out.kernels}) judge(*rows, quantity, options, min_bytes);
    }
  }
  judge_fused(out.modules, a, b, options.least);
  const auto below_idle = std::find_if(out.iterations.begin(), out.iterations.end(),
                                       [](const Change& row) { return row.quantity > Quantity::idle_ns; });
  out.iterations.insert(below_idle, causes.begin(), causes.end());
  if (out.basis != Basis::none) {
    add_metric_changes(out.metrics, a.paths, b.paths, false);
    add_metric_changes(out.metrics, a.kernels, b.kernels, true);
  }
  heaviest_first(out.kernels);
  return out;
}

}  // namespace rangefinder
