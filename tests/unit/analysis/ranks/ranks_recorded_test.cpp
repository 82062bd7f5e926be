// SPDX-License-Identifier: Apache-2.0
//
// NCCL operations, clocks and waits of two recorded PyTorch ranks on two H200s.
#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/queries/whole_trace.h"
#include "tools/analysis/ranks/rank_waits.h"

namespace rangefinder {
namespace {
using namespace test;

/// collectives.py of tests/gpu under torchrun on two H200s, NCCL 2.28.9, 2026-11-21.
std::filesystem::path recorded_rank(int rank) {
  return std::filesystem::path(RANGEFINDER_TEST_RANKS) / ("rank=" + std::to_string(rank));
}

struct RecordedRanks {
  struct One {
    explicit One(int rank) : whole(open_trace_folder(recorded_rank(rank)), CommunicationLog::kColumns) {
      whole.each([this](const SelectedRows& rows) { log.add(rows); });
      log.finish();
    }
    WholeTrace whole;
    CommunicationLog log;
    const TraceTotals& trace = whole.totals();
  };
  One first{0}, second{1};
};

TEST_CASE("operations of a recorded rank have the bytes that PyTorch passed to NCCL") {
  const SectionRun run("communication", recorded_rank(0));

  constexpr double kBytes = 5 * 4.0 * (1 << 22);  // five steps of 16 MiB
  for (const char* const operation : {"AllGather", "ReduceScatter", "Broadcast", "Send", "Recv"}) {
    run.check("communication", {{"operation", operation}}, {{"bytes", kBytes}, {"calls", 5}});
  }
  // And the barrier.
  run.check("communication", {{"operation", "AllReduce"}}, {{"bytes", kBytes + 4}});
  run.check("communication", {{"operation", "Recv+Send"}}, {{"kernels", 5}});
  const double both = run.number("overlap", 0, "overlapped_ns"),
               alone = run.number("overlap", 0, "exposed_ns");
  run.check("overlap", 0U, {{"communication_ns", both + alone}});
  CHECK(both > 0);
}

TEST_CASE("recorded ranks are put on one time line, without a clock error") {
  const RecordedRanks ranks;
  const auto clocks = align_clocks({&ranks.first.trace.header, &ranks.second.trace.header});

  const RankWaits waits = compare_collectives({{&ranks.first.log}, {&ranks.second.log}}, clocks);

  CHECK(clocks[1].agree_within_ns == 28u);
  CHECK(waits.collectives == 16);
  // Sends and receives, and broadcasts, are not compared.
  CHECK(ranks.first.log.collectives().size() == 16 + 5 + 5);
  CHECK(ranks.second.log.collectives().size() == 16 + 5 + 5);
  CHECK(waits.clocks_off_ns == 0);
  CHECK(waits.ranks[0].last_in + waits.ranks[1].last_in == 16);
  CHECK(waits.ranks[1].waited_ns == waits.ranks[0].made_wait_ns);
}

}  // namespace
}  // namespace rangefinder
