// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/trace_diff.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "tools/analysis/queries/duration_histogram.h"

namespace rangefinder {
namespace {

/// Smaller changes per iteration do not count: GPU clocks have a resolution of 32 ns.
constexpr double kMinNs = 200;
constexpr double kMinBytes = 4096;
/// A cause of idle time that is less of both iterations has no row.
constexpr double kMinOfWall = 0.01;
/// With fewer batches a test without a result proves nothing: three of 10, 10 and 45 ms are compatible with
/// any mean.
constexpr std::size_t kMinForSame = 4;
/// A larger change that is not significant is no "same".
constexpr double kMaxForSame = 0.10;

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

Change sampled(const std::string& key, const std::string& shown, Quantity quantity, const SampledSeries& a,
               const SampledSeries& b) {
  const bool dram = quantity == Quantity::dram_bytes;
  Change out;
  out.key = key;
  out.shown = shown;
  out.quantity = quantity;
  out.a = dram ? a.dram_bytes : a.l2_bytes;
  out.b = dram ? b.dram_bytes : b.l2_bytes;
  out.bound = dram ? root_sum_square(a.dram_error, b.dram_error) : root_sum_square(a.l2_error, b.l2_error);
  return out;
}

/// Of sampled bytes, whose bound holds for 95 % of paths: of hundreds of rows some are beyond it by chance.
double p_of_bound(const Change& change) {
  constexpr double kSigmas = 1.96;  // the bound, as of a normal distribution
  const double difference = std::abs(*change.b - *change.a);
  if (difference == 0) return 1;
  return std::erfc(kSigmas * difference / (*change.bound * std::numbers::sqrt2));
}

bool large_enough(const Change& change, double least) {
  const double difference = std::abs(*change.b - *change.a);
  return difference >= least * *change.a && difference >= min_of(change.quantity);
}

/// Sets the verdicts of rows that are tested together: those of the iteration, or of one kind and quantity.
void judge(std::vector<Change>& changes, std::optional<Quantity> quantity, const DiffOptions& options) {
  std::vector<double> p;
  std::vector<Change*> tested;
  for (Change& change : changes) {
    if ((quantity && change.quantity != *quantity) || !change.a || !change.b) continue;
    if (!change.bound && !change.test) continue;
    p.push_back(change.bound ? p_of_bound(change) : change.test->p);
    tested.push_back(&change);
  }
  const std::vector<bool> significant = holm(p, options.alpha);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    Change& change = *tested[i];
    if (!significant[i] && !change.bound && std::min(change.n_a, change.n_b) < kMinForSame) continue;
    change.verdict = Verdict::same;
    if (!significant[i] && large_enough(change, kMaxForSame)) change.verdict = Verdict::unclear;
    if (significant[i] && large_enough(change, options.least))
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
  const SampledSeries* const samples_a = find(a.sampled, path);
  const SampledSeries* const samples_b = find(b.sampled, path);
  for (const Quantity quantity : {Quantity::dram_bytes, Quantity::l2_bytes}) {
    if (samples_a != nullptr && samples_b != nullptr) {
      out.push_back(sampled(path, shown, quantity, *samples_a, *samples_b));
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

/// `causes`: the causes of idle time, else the other rows. Empty if a side has no iterations.
std::vector<Change> iteration_rows(const IterationSeries& a, const IterationSeries& b, bool causes) {
  std::vector<Change> out;
  for (const auto& [quantity, of_a] : a.of_iterations) {
    const auto in_b = b.of_iterations.find(quantity);
    if (in_b == b.of_iterations.end() || is_idle_cause(quantity) != causes) continue;
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
std::vector<Change> idle_rows(const IterationSeries& a, const IterationSeries& b, const Change& wall,
                              const DiffOptions& options) {
  std::vector<Change> out = iteration_rows(a, b, true);
  const auto is_small = [&](const Change& row) {
    return *row.a < kMinOfWall * *wall.a && *row.b < kMinOfWall * *wall.b;
  };
  out.erase(std::remove_if(out.begin(), out.end(), is_small), out.end());
  judge(out, {}, options);
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

double weight(const Change& change) {
  return std::abs(change.b.value_or(0) - change.a.value_or(0)) *
         (change.quantity == Quantity::gpu_ns || change.quantity == Quantity::host_ns ? 1
                                                                                      : 1e-12);  // time first
}

}  // namespace

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

TraceDiff compare(const IterationSeries& a, const IterationSeries& b, const DiffOptions& options) {
  TraceDiff out;
  out.iterations = iteration_rows(a, b, false);
  judge(out.iterations, {}, options);
  if (!out.iterations.empty()) {
    const std::vector<Change> causes = idle_rows(a, b, out.iterations.front(), options);
    const auto below_idle = std::find_if(out.iterations.begin(), out.iterations.end(),
                                         [](const Change& row) { return row.quantity > Quantity::idle_ns; });
    out.iterations.insert(below_idle, causes.begin(), causes.end());
  }
  for (const std::string& path : path_order(a, b)) add_path(out.modules, path, a, b);
  for (const std::string& name : keys(a.kernels, b.kernels)) add_kernel(out.kernels, name, a, b);
  for (const std::string& path : keys(a.calls, b.calls)) add_calls(out.calls, path, a, b);
  judge(out.calls, Quantity::gpu_ns, options);
  judge(out.calls, Quantity::host_ns, options);
  for (const Quantity quantity : {Quantity::gpu_ns, Quantity::dram_bytes, Quantity::l2_bytes}) {
    judge(out.modules, quantity, options);
    judge(out.kernels, quantity, options);
  }
  heaviest_first(out.kernels);
  return out;
}

}  // namespace rangefinder
