// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/job.h"

#include <charconv>

namespace rangefinder {
namespace {

std::vector<RankClock> clocks_of(const std::vector<JobRank>& ranks) {
  std::vector<const Header*> headers;
  for (const JobRank& rank : ranks) headers.push_back(&rank.trace->header);
  return align_clocks(headers);
}

RankWaits waits_of(const std::vector<JobRank>& ranks, const std::vector<RankClock>& clocks) {
  std::vector<ComparedRank> compared;
  for (const JobRank& rank : ranks) compared.push_back({&rank.work->communication(), &rank.work->own_busy()});
  return compare_collectives(compared, clocks);
}

}  // namespace

std::string rank_name(const TraceTotals& trace) {
  return trace.header.rank.empty() ? trace.files.folder.string() : "rank " + trace.header.rank;
}

std::optional<std::uint32_t> rank_number(const Header& header) {
  const std::string& text = header.rank;
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::optional<std::uint32_t> gpu_of(const JobRank& rank) {
  const auto& overlaps = rank.work->communication().overlaps();
  return overlaps.empty() ? std::nullopt : std::optional(overlaps.begin()->first);
}

Job::Job(std::vector<JobRank> all)
    : ranks(std::move(all)),
      clocks(clocks_of(ranks)),
      waits(waits_of(ranks, clocks)),
      modules(ranks, waits),
      compared(compare_ranks(ranks, waits, modules)) {}

}  // namespace rangefinder
