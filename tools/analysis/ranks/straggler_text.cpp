// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/ranks/job.h"

namespace rangefinder {
namespace {

/// Stragglers in sentences; more are in the table.
constexpr std::size_t kMaxSentences = 3;
/// Ranks with a line of blocks, and iterations from which on there are lines.
constexpr std::size_t kMaxLines = 10, kMinForLines = 4;
/// Of the iterations: a rank that was late in fewer has their number in its sentence.
constexpr double kOften = 0.5;
/// The quantile of all lateness that has a full block: a single long one would hide the others.
constexpr double kFullBlock = 0.95;
/// Of a wait over its cause, from which on the text says why it is longer.
constexpr double kMinLead = 1.3;

std::string ns_text(double ns) {
  return duration_text(whole_ns(ns));
}

std::string share_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), share < 0.0995 ? "%.1f %%" : "%.0f %%", 100 * share);
  return text.data();
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] == 'r') text[0] = 'R';  // "rank 3"; folders keep their names
  return text;
}

/// "in `step/data`"
std::string in_module(const Job& job, const Straggler& one) {
  if (!one.module.empty()) return "in `" + one.module + "`";
  const Iterations& iterations = job.ranks[one.rank].work->iterations().iterations();
  return iterations.by_range() && !iterations.path.empty() ? "outside of `" + iterations.path + "`"
                                                           : "outside of any range";
}

/// "; host code there: data.py:41 load (62 % of that time, of 212 samples)"; empty: unknown.
std::string function_text(const Straggler& one) {
  return one.function ? "; host code there: " + one.function->text() : "";
}

std::string cause_text(const Job& job, const Straggler& one) {
  const std::string more = ns_text(one.excess_ns), where = in_module(job, one);
  switch (one.cause) {
    case LateCause::unknown:
      return "cause unknown: no module of it takes as much longer, on its host or its GPU";
    case LateCause::host:
      return "its host spends " + more + " more " + where + function_text(one);
    case LateCause::loading:
      return "its host spends " + more + " more " + where + ", loading data" + function_text(one);
    case LateCause::launching:
      return "its host spends " + more + " more " + where + ", most of it launching work";
    case LateCause::memory:
      return "its host spends " + more + " more " + where + ", most of it allocating and freeing memory";
    case LateCause::waiting:
      return "its host waits " + more + " more for its own GPU " + where;
    case LateCause::copies:
      return "its copies take " + more + " more " + where;
    case LateCause::gpu:
      return "its GPU works " + more + " more " + where;
    case LateCause::clocks:
      return "its GPU runs at " + std::to_string(std::lround(one.mhz.value_or(0))) + " MHz, the others at " +
             std::to_string(std::lround(one.others_mhz.value_or(0))) + ", and works " + more + " more";
  }
  return {};
}

/// Where the rank ran, and the numbers behind the cause.
std::string details_text(const Job& job, const Straggler& one) {
  const TraceTotals& trace = *job.ranks[one.rank].trace;
  std::string out = "  It is process " + std::to_string(trace.header.pid) + " on " + trace.header.host;
  if (const std::optional<std::uint32_t> id = gpu_of(job.ranks[one.rank])) {
    out += ", GPU " + std::to_string(*id);
    if (const GpuRecord* const gpu = trace.gpu(*id)) out += " (" + gpu->name + ")";
  }
  out += ".";
  const bool two = job.ranks.size() == 2;
  if (one.cause != LateCause::unknown) {
    const std::string own = ns_text(one.own_ns), others = ns_text(one.others_ns());
    const std::string who = two ? "the other rank " : "the median of the others ";
    out += " It takes " + own + " there in an iteration, " +
           (one.others_ns() > 0 ? who + others
            : two               ? "the other rank nothing"
                                : "the others nothing") +
           ".";
  }
  if (one.function && !one.function->note().empty()) out += " " + one.function->note() + ".";
  if (one.waited_for_ns > kMinLead * one.made_wait_ns)
    out += std::string(two ? " The other waits " : " The others wait ") + ns_text(one.waited_for_ns) +
           ", but what exceeds that is a lead, which costs nothing.";
  const std::size_t all = job.compared.iterations.size();
  if (static_cast<double>(one.late) < kOften * static_cast<double>(all))
    out += " It was late in " + std::to_string(one.late) + " of " + std::to_string(all) + " iterations.";
  return out + "\n";
}

std::string straggler_sentence(const Job& job, const Straggler& one) {
  return capital(job.ranks[one.rank].name) +
         (job.ranks.size() == 2 ? " makes the other wait " : " makes the others wait ") +
         ns_text(one.made_wait_ns) + " an iteration (" + share_text(job.compared.share(one.made_wait_ns)) +
         " of " + ns_text(job.compared.iteration_ns) + "): " + cause_text(job, one) + ".";
}

std::string none_late_text(const Job& job) {
  const JobComparison& compared = job.compared;
  std::string out = "No rank is late: communication itself takes " + ns_text(compared.transfer_ns) + " (" +
                    share_text(compared.share(compared.transfer_ns)) + ") of an iteration of " +
                    ns_text(compared.iteration_ns) + ".\n";
  const auto most = std::max_element(
      compared.behind.begin(), compared.behind.end(),
      [](const Straggler& a, const Straggler& b) { return a.waited_for_ns < b.waited_for_ns; });
  if (most == compared.behind.end()) {
    return out + "  The ranks wait " + ns_text(compared.waited_ns) + " for each other in an iteration (" +
           share_text(compared.share(compared.waited_ns)) + "), by turns.\n";
  }
  const bool two = job.ranks.size() == 2;
  return out + "  " + capital(job.ranks[most->rank].name) + " comes to collectives " +
         ns_text(most->waited_for_ns) + (two ? " after the other" : " after the others") +
         " in a mean iteration, but does " +
         (most->excess_ns > 0 ? "at most " + ns_text(most->excess_ns) + " more" : "no more") +
         (two ? " than it" : " than they") +
         ". Such a lead stays once a host has lost time, where hosts run ahead of their GPUs, and costs "
         "nothing.\n";
}

/// Those for which the others waited longest, at most kMaxLines.
std::vector<std::size_t> latest_ranks(const Job& job) {
  std::vector<double> waited_for_ns(job.ranks.size());
  std::vector<std::size_t> out;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    for (const std::size_t i : job.compared.iterations) waited_for_ns[r] += job.waits.waited_for_ns(r, i);
    out.push_back(r);
  }
  std::stable_sort(out.begin(), out.end(), [&waited_for_ns](std::size_t a, std::size_t b) {
    return waited_for_ns[b] < waited_for_ns[a];
  });
  out.resize(std::min(out.size(), kMaxLines));
  return out;
}

}  // namespace

std::string straggler_lines(const Job& job) {
  const JobComparison& compared = job.compared;
  if (compared.iterations.empty() || job.waits.collectives == 0) return {};
  if (compared.stragglers.empty()) return none_late_text(job);
  std::string out;
  for (std::size_t i = 0; i < std::min(kMaxSentences, compared.stragglers.size()); ++i)
    out += straggler_sentence(job, compared.stragglers[i]) + "\n" + details_text(job, compared.stragglers[i]);
  if (compared.stragglers.size() > kMaxSentences)
    out += counted_text(compared.stragglers.size() - kMaxSentences, "more rank is", "more ranks are") +
           " late.\n";
  return out;
}

std::string straggler_summary(const Job& job) {
  if (job.compared.iterations.empty() || job.waits.collectives == 0) return {};
  if (job.compared.stragglers.empty()) return "No rank is late.";
  std::string out;
  for (std::size_t i = 0; i < std::min(kMaxSentences, job.compared.stragglers.size()); ++i)
    out += (i == 0 ? "" : " ") + straggler_sentence(job, job.compared.stragglers[i]);
  return out;
}

Table straggler_table(const Job& job) {
  Table table;
  table.name = "stragglers";
  table.columns = {{"rank", "rank"},
                   {"host", "host"},
                   {"made_wait_ns", "made others wait", Unit::ns},
                   {"waited_for_ns", "others waited", Unit::ns},
                   {"share", "of the iteration", Unit::share},
                   {"late_iterations", "late", Unit::count},
                   {"iterations", "of", Unit::count},
                   {"cause", "cause"},
                   {"module", "module"},
                   {"excess_ns", "more than the others", Unit::ns},
                   {"own_ns", "takes", Unit::ns},
                   {"others_ns", "median of the others", Unit::ns},
                   {"sm_mhz", "SM MHz", Unit::number},
                   {"others_sm_mhz", "SM MHz of the others", Unit::number}};
  const auto& stragglers = job.compared.stragglers;
  if (std::any_of(stragglers.begin(), stragglers.end(),
                  [](const auto& one) { return one.function.has_value(); }))
    table.columns.push_back({"function", "host code is in"});
  const auto ns_cell = [](double ns) { return number_cell(whole_ns(ns)); };
  for (const Straggler& one : stragglers) {
    const bool known = one.cause != LateCause::unknown;
    table.add({text_cell(job.ranks[one.rank].name), text_cell(job.ranks[one.rank].trace->header.host),
               ns_cell(one.made_wait_ns), ns_cell(one.waited_for_ns),
               number_cell(job.compared.share(one.made_wait_ns)), number_cell(std::uint64_t{one.late}),
               number_cell(std::uint64_t{job.compared.iterations.size()}),
               text_cell(std::string(key_of(one.cause))), known ? text_cell(one.module) : Cell(),
               known ? ns_cell(one.excess_ns) : Cell(), known ? ns_cell(one.own_ns) : Cell(),
               known ? ns_cell(one.others_ns()) : Cell(), optional_cell(one.mhz),
               optional_cell(one.others_mhz), one.function ? text_cell(one.function->text()) : Cell()});
  }
  return table;
}

std::string lateness_lines(const Job& job, std::size_t width) {
  static constexpr std::array<const char*, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const JobIterations& iterations = job.compared.iterations;
  if (job.compared.stragglers.empty() || iterations.size() < kMinForLines) return {};
  const std::vector<std::size_t> shown = latest_ranks(job);
  std::size_t name_width = 0;
  for (const std::size_t r : shown) name_width = std::max(name_width, job.ranks[r].name.size());
  const std::size_t room =
      width == 0 ? 100 : std::max<std::size_t>(20, width - std::min(width, name_width + 12));
  const std::size_t in_block = 1 + (iterations.size() - 1) / room;
  std::vector<std::vector<double>> late;  // means of blocks, by shown rank
  std::vector<double> all;
  for (const std::size_t r : shown) {
    late.emplace_back();
    for (std::size_t first = 0; first < iterations.size(); first += in_block) {
      const std::size_t end = std::min(iterations.size(), first + in_block);
      double sum = 0;
      for (std::size_t i = first; i < end; ++i) sum += job.waits.waited_for_ns(r, iterations[i]);
      late.back().push_back(sum / static_cast<double>(end - first));
    }
    all.insert(all.end(), late.back().begin(), late.back().end());
  }
  std::sort(all.begin(), all.end());
  const double full = all[static_cast<std::size_t>(kFullBlock * static_cast<double>(all.size() - 1))];
  std::string out = "Lateness, iterations " + std::to_string(iterations.front()) + " to " +
                    std::to_string(iterations.back()) + " (a full block: the others wait " + ns_text(full) +
                    " or more)\n";
  for (std::size_t s = 0; s < shown.size(); ++s) {
    const std::string& name = job.ranks[shown[s]].name;
    out += name + std::string(name_width - name.size() + 2, ' ');
    for (const double ns : late[s]) {
      const double level = full <= 0 ? 0 : std::ceil(8 * ns / full - 0.25);
      out += kBlocks[static_cast<std::size_t>(std::clamp(level, 0.0, 8.0))];
    }
    while (out.ends_with(' ')) out.pop_back();
    out += "\n";
  }
  return out;
}

}  // namespace rangefinder
