// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/stragglers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tools/analysis/model/range_names.h"

namespace rangefinder {
namespace {

/// Of an iteration: ranks that make the others wait for less are not late. Hosts that do the same differ by
/// more than GPUs, most in all that they do.
constexpr double kMinLateGpu = 0.03, kMinLateHost = 0.05, kMinLateEverywhere = 0.15;
/// Of the wait: below, a cost does not explain it.
constexpr double kMinExplained = 0.4;
/// Of the largest excess: the deepest module with as much of it is named.
constexpr double kMinOfExcess = 0.6;
/// An iteration counts as late if the rank made the others wait for this part of an iteration.
constexpr double kMinLateIteration = 0.01;
/// Of the others' SM clock: a lower one may explain longer kernels.
constexpr double kLowClock = 0.97;

constexpr std::array<std::string_view, 9> kCauses{"unknown", "host",   "loading", "launching", "memory",
                                                  "waiting", "copies", "gpu",     "clocks"};

bool loads_data(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string plain = letters_and_digits(path.substr(slash == std::string_view::npos ? 0 : slash + 1));
  constexpr std::array<std::string_view, 4> kLoading{"dataload", "loaddata", "loadbatch", "nextbatch"};
  return std::any_of(kLoading.begin(), kLoading.end(),
                     [&plain](std::string_view part) { return plain.find(part) != std::string::npos; });
}

/// What a rank took more than the others, in one module and those below it: costs that add up.
struct Excess {
  std::size_t module = 0;
  double ns = 0, own_ns = 0;
  std::vector<double> by_cost;  ///< parts of `ns`
};

/// Costs that add up to the time of one side, and what each is called.
struct Side {
  struct Part {
    RankCost cost;
    LateCause cause;
    bool may_block;  ///< calls that wait where the GPU is behind: more of it on the others is no work
  };
  std::vector<Part> parts;
};

const Side kHostSide{{{RankCost::host, LateCause::host, false},
                      {RankCost::launching, LateCause::launching, true},
                      {RankCost::copy_calls, LateCause::copies, true},
                      {RankCost::memory, LateCause::memory, true}}};
const Side kWaitingSide{{{RankCost::waiting, LateCause::waiting, false}}};
const Side kGpuSide{
    {{RankCost::kernels, LateCause::gpu, false}, {RankCost::copies, LateCause::copies, false}}};

class CauseOf {
 public:
  CauseOf(const std::vector<JobRank>& ranks, const RankWaits& waits, const RankModules& modules,
          const JobIterations& iterations, Straggler& out)
      : ranks_(ranks), waits_(waits), modules_(modules), iterations_(iterations), out_(out) {}

  /// `late`: the iterations in which it was late.
  void find(const JobIterations& late) {
    late_ = late;
    // Per iteration of all, as the lateness is.
    part_ = static_cast<double>(late.size()) / static_cast<double>(iterations_.size());
    const double busy_ns = more_busy_ns();
    const bool gpu = busy_ns >= out_.waited_for_ns / 2;
    take(gpu ? kGpuSide : kHostSide);
    // Nothing that one side does explains the wait.
    if (out_.made_wait_ns < kMinExplained * out_.waited_for_ns) {
      const Straggler first = std::exchange(out_, unexplained());
      if (gpu || busy_ns > 0) take(gpu ? kHostSide : kGpuSide);
      if (!gpu && out_.made_wait_ns < first.made_wait_ns) take(kWaitingSide);
      if (out_.made_wait_ns < first.made_wait_ns) out_ = first;
    }
    if (out_.cause == LateCause::host && loads_data(out_.module)) out_.cause = LateCause::loading;
    if (out_.cause == LateCause::gpu) compare_clocks();
  }

 private:
  [[nodiscard]] Straggler unexplained() const {
    Straggler out;
    out.rank = out_.rank;
    out.waited_for_ns = out_.waited_for_ns;
    out.late = out_.late;
    return out;
  }

  void take(const Side& side) {
    auto [most, modules] = largest(side);
    if (most.ns <= 0) return;
    // The numbers are those of all iterations, as in the tables.
    const double only_late_ns = most.ns;
    const JobIterations late = std::exchange(late_, iterations_);
    const double part = std::exchange(part_, 1);
    most = excesses(*modules, side)[most.module];
    late_ = late;
    part_ = part;
    out_.module = (*modules)[most.module].path;
    out_.on_gpu = &side == &kGpuSide;
    out_.excess_ns = most.ns;
    out_.own_ns = most.own_ns;
    out_.made_wait_ns = std::max(0.0, std::min({out_.waited_for_ns, most.ns, only_late_ns}));
    const auto cost = std::max_element(most.by_cost.begin(), most.by_cost.end());
    out_.cause = side.parts[static_cast<std::size_t>(cost - most.by_cost.begin())].cause;
    out_.function.reset();
    if (out_.cause != LateCause::host) return;
    const StackTimes stacks = modules_.host_stacks(*modules, most.module, out_.rank, iterations_);
    out_.function = main_function(ranks_[out_.rank].trace->stacks, stacks);
  }

  /// Over the median of the other ranks that have the module.
  std::vector<Excess> excesses(const std::vector<RankModule>& modules, const Side& side) const {
    std::vector<Excess> out(modules.size());
    std::vector<std::vector<bool>> has;
    for (std::size_t r = 0; r < ranks_.size(); ++r) has.push_back(modules_.present(modules, r));
    std::vector<double> around(modules.size());  // what is more in a module; the first: in all of them
    for (const Side::Part& part : side.parts) {
      std::vector<std::vector<double>> ns;
      for (std::size_t r = 0; r < ranks_.size(); ++r) ns.push_back(modules_.ns(modules, part.cost, r, late_));
      std::vector<double> below(modules.size());  // excesses of the parts of a module
      const std::vector<double> more_ns = part.cost == RankCost::kernels
                                              ? modules_.more_kernel_ns(modules, out_.rank, late_)
                                              : std::vector<double>();
      for (std::size_t m = modules.size(); m-- > 0;) {
        const double own = ns[out_.rank][m] * part_, others = others_ns(ns, has, m) * part_;
        double more = own - others;
        if (!more_ns.empty()) more = more_ns[m] * part_;
        if (part.may_block) more = std::max({0.0, more, below[m]});
        around[m] += part.may_block ? more : own - median_of_all(ns, m) * part_;
        if (m != 0 && modules[m].parent != 0) below[modules[m].parent] += std::max(0.0, more);
        out[m].module = m;
        out[m].ns += more;
        out[m].own_ns += own;
        out[m].by_cost.push_back(more);
      }
    }
    // What only some ranks have is more work only if the module around it takes longer too: stages of a
    // pipeline have names of their own.
    for (std::size_t m = 1; m < modules.size(); ++m) {
      if (modules[m].parent == 0) around[0] += around[m];
    }
    for (std::size_t m = 1; m < modules.size(); ++m) {
      if (!all_have(has, m)) out[m].ns = std::min(out[m].ns, around[modules[m].parent]);
    }
    return out;
  }
  /// Of the others, also those that lack the module.
  [[nodiscard]] double median_of_all(const std::vector<std::vector<double>>& ns, std::size_t module) const {
    std::vector<double> values;
    for (const std::vector<double>& rank : ns) values.push_back(rank[module]);
    return median_without(values, out_.rank);
  }
  [[nodiscard]] bool all_have(const std::vector<std::vector<bool>>& has, std::size_t module) const {
    return std::all_of(has.begin(), has.end(), [module](const auto& rank) { return rank[module]; });
  }
  [[nodiscard]] double others_ns(const std::vector<std::vector<double>>& ns,
                                 const std::vector<std::vector<bool>>& has, std::size_t module) const {
    std::vector<double> values;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (r != out_.rank && has[r][module]) values.push_back(ns[r][module]);
    }
    return median_without(values, values.size());
  }

  /// At the deepest module with most of the largest excess; of layers together, if no single layer has it.
  std::pair<Excess, const std::vector<RankModule>*> largest(const Side& side) const {
    const std::vector<RankModule>&all = modules_.all(), &folded = modules_.folded();
    const Excess of_folded = deepest(folded, excesses(folded, side));
    const Excess single = deepest(all, excesses(all, side));
    const bool is_single = single.ns >= kMinOfExcess * of_folded.ns &&
                           all[single.module].depth >= folded[of_folded.module].depth;
    return is_single ? std::pair{single, &all} : std::pair{of_folded, &folded};
  }

  static Excess deepest(const std::vector<RankModule>& modules, const std::vector<Excess>& all) {
    const Excess most = *std::max_element(all.begin(), all.end(),
                                          [](const Excess& a, const Excess& b) { return a.ns < b.ns; });
    Excess out = most;
    for (const Excess& one : all) {
      const std::uint32_t depth = modules[one.module].depth, best = modules[out.module].depth;
      if (one.ns < kMinOfExcess * most.ns) continue;
      if (depth > best || (depth == best && one.ns > out.ns)) out = one;
    }
    return out;
  }

  [[nodiscard]] double more_busy_ns() const {
    std::vector<double> busy;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      double sum = 0;
      for (const std::size_t iteration : late_)
        sum += ranks_[r].work->own_busy_ns(waits_.local(r, iteration));
      busy.push_back(sum / static_cast<double>(iterations_.size()));
    }
    return busy[out_.rank] - median_without(busy, out_.rank);
  }

  /// A lower clock is the cause where it explains most of the kernels' excess.
  void compare_clocks() {
    std::vector<double> mhz;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      double sum = 0;
      std::size_t known = 0;
      const std::vector<IterationTotals>& rows = ranks_[r].work->iterations().rows();
      for (const std::size_t iteration : late_) {
        const std::size_t local = waits_.local(r, iteration);
        if (local >= rows.size() || !rows[local].sm_mhz) continue;
        sum += *rows[local].sm_mhz;
        ++known;
      }
      if (known == 0) return;
      mhz.push_back(sum / static_cast<double>(known));
    }
    const double others = median_without(mhz, out_.rank);
    out_.mhz = mhz[out_.rank];
    out_.others_mhz = others;
    if (mhz[out_.rank] >= kLowClock * others) return;
    const double explained_ns = (others / mhz[out_.rank] - 1) * out_.others_ns();
    if (explained_ns >= out_.excess_ns / 2) out_.cause = LateCause::clocks;
  }

  const std::vector<JobRank>& ranks_;
  const RankWaits& waits_;
  const RankModules& modules_;
  const JobIterations& iterations_;
  Straggler& out_;
  JobIterations late_;
  double part_ = 1;
};

double min_share(const JobRank& rank, const Straggler& one) {
  if (one.on_gpu) return kMinLateGpu;
  return one.module == rank.work->iterations().iterations().path ? kMinLateEverywhere : kMinLateHost;
}

double iteration_ns(const JobRank& rank, std::size_t number, const RankWaits& waits,
                    const JobIterations& iterations) {
  const std::vector<IterationTotals>& rows = rank.work->iterations().rows();
  double sum = 0;
  std::size_t known = 0;
  for (const std::size_t iteration : iterations) {
    const std::size_t local = waits.local(number, iteration);
    if (local >= rows.size()) return static_cast<double>(rank.trace->last_ns);  // one iteration: the trace
    if (!rows[local].wall_ns) continue;
    sum += static_cast<double>(*rows[local].wall_ns);
    ++known;
  }
  return known == 0 ? 0 : sum / static_cast<double>(known);
}

/// That all ranks have, without those that warm up on any.
JobIterations common_iterations(const std::vector<JobRank>& ranks, const RankWaits& waits) {
  std::int64_t from = 0, to = std::numeric_limits<std::int64_t>::max();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const IterationLog& log = ranks[r].work->iterations();
    from = std::max(from, static_cast<std::int64_t>(log.warm_up()) - waits.first[r]);
    to = std::min(to, static_cast<std::int64_t>(ranks[r].work->size()) - waits.first[r]);
  }
  if (!waits.iterations.empty()) to = std::min(to, static_cast<std::int64_t>(waits.iterations.size()));
  JobIterations out;
  for (std::int64_t i = from; i < to; ++i) out.push_back(static_cast<std::size_t>(i));
  return out;
}

}  // namespace

std::string_view key_of(LateCause cause) {
  return kCauses[static_cast<std::size_t>(cause)];
}

JobComparison compare_ranks(const std::vector<JobRank>& ranks, const RankWaits& waits,
                            const RankModules& modules) {
  JobComparison out;
  if (ranks.empty()) return out;
  out.iterations = common_iterations(ranks, waits);
  if (out.iterations.empty() || waits.collectives == 0 || ranks.size() < 2) return out;
  const auto count = static_cast<double>(out.iterations.size());
  std::vector<double> lengths;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    lengths.push_back(iteration_ns(ranks[r], r, waits, out.iterations));
  out.iteration_ns = median_without(lengths, lengths.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Straggler one;
    one.rank = r;
    JobIterations late;
    for (const std::size_t i : out.iterations) {
      const IterationWait wait = waits.wait(r, i);
      const double waited_for_ns = waits.waited_for_ns(r, i);
      one.waited_for_ns += waited_for_ns / count;
      if (waited_for_ns >= kMinLateIteration * out.iteration_ns) late.push_back(i);
      out.waited_ns += static_cast<double>(wait.waited_ns) / count / static_cast<double>(ranks.size());
      out.transfer_ns += static_cast<double>(wait.transfer_ns) / count / static_cast<double>(ranks.size());
    }
    one.late = late.size();
    if (late.empty() || one.waited_for_ns < kMinLateGpu * out.iteration_ns) continue;
    CauseOf(ranks, waits, modules, out.iterations, one).find(late);
    const bool late_enough = out.share(one.made_wait_ns) >= min_share(ranks[r], one);
    (late_enough ? out.stragglers : out.behind).push_back(std::move(one));
  }
  std::stable_sort(out.stragglers.begin(), out.stragglers.end(),
                   [](const Straggler& a, const Straggler& b) { return b.made_wait_ns < a.made_wait_ns; });
  return out;
}

}  // namespace rangefinder
