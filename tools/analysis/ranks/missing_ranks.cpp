// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/ranks/job.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMaxNamed = 8;
/// In iterations: a rank that ends by more before the last one is said to end early.
constexpr double kMaxEarly = 0.1;

/// "ranks 3, 5 and 2 more"
std::string names_text(const std::vector<std::uint32_t>& numbers) {
  std::string out = numbers.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(numbers.size(), kMaxNamed); ++i)
    out += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return numbers.size() > kMaxNamed ? out + " and " + std::to_string(numbers.size() - kMaxNamed) + " more"
                                    : out;
}

struct Absent {
  std::vector<std::uint32_t> numbers;
  std::uint32_t of = 0;  ///< 0: no launcher said how many there are
};

Absent absent_of(const std::vector<const Header*>& ranks) {
  Absent out;
  std::set<std::uint32_t> present;
  for (const Header* const header : ranks) {
    out.of = std::max(out.of, header->ranks);
    if (const auto number = rank_number(*header)) present.insert(*number);
  }
  if (present.empty()) return {};
  const std::uint32_t size = std::max(out.of, *present.rbegin() + 1);
  for (std::uint32_t number = 0; number < size && out.numbers.size() + present.size() < size; ++number) {
    if (!present.contains(number)) out.numbers.push_back(number);
  }
  return out;
}

std::string text_of(const Absent& absent) {
  if (absent.numbers.empty()) return {};
  return "no trace of " + names_text(absent.numbers) +
         (absent.of == 0 ? "" : ", of " + std::to_string(absent.of) + " in all");
}

void add_absent(const Job& job, std::vector<MissingRank>& out) {
  std::vector<const Header*> headers;
  for (const JobRank& rank : job.ranks) headers.push_back(&rank.trace->header);
  const Absent absent = absent_of(headers);
  if (!absent.numbers.empty()) out.push_back({names_text(absent.numbers), "absent", text_of(absent)});
}

/// Ended before the others, or its files are damaged.
void add_cut(const Job& job, std::vector<MissingRank>& out) {
  TimeNs last_ns = 0;
  const auto end_of = [&job](std::size_t r) { return job.ranks[r].trace->last_ns + job.clocks[r].offset_ns; };
  for (std::size_t r = 0; r < job.ranks.size(); ++r) last_ns = std::max(last_ns, end_of(r));
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const TraceTotals& trace = *job.ranks[r].trace;
    if (!trace.read.damage.empty()) {
      out.push_back({job.ranks[r].name, "damaged", job.ranks[r].name + ": " + trace.read.damage});
    } else if (!trace.end) {
      const TimeNs early_ns = last_ns - end_of(r);
      const bool early =
          early_ns > 0 && static_cast<double>(early_ns) > kMaxEarly * job.compared.iteration_ns;
      out.push_back({job.ranks[r].name, "no_end",
                     job.ranks[r].name + " has no end: it was killed, or still runs" +
                         (early ? ". Its trace ends " + duration_text(static_cast<std::uint64_t>(early_ns)) +
                                      " before the last one"
                                : "")});
    }
  }
}

/// Recorded other iterations than those that all have.
void add_windows(const Job& job, std::vector<MissingRank>& out) {
  std::size_t max = 0;
  for (const JobRank& rank : job.ranks) max = std::max(max, rank.work->iterations().rows().size());
  if (max < 2) return;
  const std::size_t common = job.compared.iterations.size();
  const std::string compared = common == 0
                                   ? ": none is common to all, and none is compared"
                                   : ": the " + std::to_string(common) + " that all have are compared";
  const std::int64_t earliest = *std::max_element(job.waits.first.begin(), job.waits.first.end());
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const std::string& name = job.ranks[r].name;
    const std::size_t has = job.ranks[r].work->iterations().rows().size();
    const auto later = static_cast<std::uint64_t>(earliest - job.waits.first[r]);
    if (later != 0) {
      out.push_back({name, "later_begin",
                     name + " begins " + counted_text(later, "iteration", "iterations") +
                         " after another rank" + compared});
    } else if (has != max) {
      out.push_back({name, "fewer_iterations",
                     name + " has " + counted_text(has, "iteration", "iterations") + ", another rank " +
                         std::to_string(max) + compared});
    }
  }
}

}  // namespace

std::string absent_text(const std::vector<const Header*>& ranks) {
  return text_of(absent_of(ranks));
}

std::vector<MissingRank> missing_ranks(const Job& job) {
  std::vector<MissingRank> out;
  add_absent(job, out);
  add_cut(job, out);
  add_windows(job, out);
  return out;
}

std::string missing_text(const std::vector<MissingRank>& missing) {
  std::string out;
  for (std::size_t i = 0; i < std::min(kMaxNamed, missing.size()); ++i)
    out += "Missing: " + missing[i].text + ".\n";
  if (missing.size() > kMaxNamed)
    out += "Missing: " + std::to_string(missing.size() - kMaxNamed) + " more, with --json.\n";
  return out;
}

Table missing_table(const std::vector<MissingRank>& missing) {
  Table table;
  table.name = "missing_ranks";
  table.columns = {{"rank", "rank"}, {"problem", "problem"}, {"text", "text"}};
  for (const MissingRank& one : missing)
    table.add({text_cell(one.rank), text_cell(one.problem), text_cell(one.text)});
  return table;
}

}  // namespace rangefinder
