// SPDX-License-Identifier: Apache-2.0
//
// Communication of one rank and of several: operations, bytes, exposed time, clocks, stragglers.
//
// Schemas and payloads are those of NCCL 2.26 and later. tests/injection (cases_communication.py) runs a
// whole program that makes these calls.
#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/ranks/rank_waits.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr std::uint32_t kDomain = 3, kBroadcastPath = 5;
constexpr std::uint64_t kEnum = 100, kReduceSchema = 101;
constexpr const char* kReduceEntries =
    R"({"kind":"schema","entries":[{"name":"NCCL communicator ID","type":"uint64"},)"
    R"({"name":"Message size [bytes]","type":"size","offset":8},)"
    R"({"name":"Reduction operation","type":100,"offset":16}],"size":24})";
constexpr const char* kReductions =
    R"({"kind":"enum","entries":[{"name":"Sum","value":0},{"name":"Max","value":2}],"size":4})";

NvtxExtras reduction(std::uint64_t communicator, std::uint64_t bytes, std::uint32_t op) {
  NvtxExtras extras;
  extras.payload_schema = kReduceSchema;
  extras.payload_data.resize(24);
  std::memcpy(extras.payload_data.data(), &communicator, 8);
  std::memcpy(extras.payload_data.data() + 8, &bytes, 8);
  std::memcpy(extras.payload_data.data() + 16, &op, 4);
  return extras;
}

/// Lines of one rank; each goes to a log immediately.
class Rank {
 public:
  explicit Rank(bool schemas_first = true) {
    show(DomainRecord{kDomain, "NCCL"});
    if (schemas_first) show_schemas();
    show(PathRecord{1, 0, kDomain, "ncclAllReduce"});
    show(PathRecord{2, 0, kDomain, "ncclGroupStart"});
    show(PathRecord{3, 0, kDomain, "ncclGroupEnd"});
    show(PathRecord{4, 0, kDomain, "ncclAllGather"});
    show(PathRecord{kBroadcastPath, 0, kDomain, "ncclBroadcast"});
    show(KernelNameRecord{1, "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "NCCL", ""});
    show(KernelNameRecord{2, "", "gemm", "own", ""});
  }
  void show_schemas() {
    show(PayloadSchemaRecord{kEnum, kDomain, kReductions});
    show(PayloadSchemaRecord{kReduceSchema, kDomain, kReduceEntries});
  }
  template <typename Record>
  void show(const Record& record) {
    if constexpr (std::is_same_v<Record, RangeRecord>) {
      log->add_range(record);
    } else if constexpr (std::is_same_v<Record, KernelRecord>) {
      log->add_kernel(record);
    } else {
      names.add(Line(record));
      log->add_names(Line(record), names);
    }
  }
  void call(std::uint64_t id, TimeNs start, std::uint64_t bytes, std::uint32_t op = 0,
            std::uint32_t path = 1) {
    RangeRecord line = range(id, path, start, start + 10);
    line.domain = kDomain;
    line.extras = reduction(77, bytes, op);
    show(line);
  }
  void group(std::uint64_t id, std::uint32_t path, TimeNs start) {
    RangeRecord line = range(id, path, start, start + 5);
    line.domain = kDomain;
    show(line);
  }
  void run(std::uint32_t name, TimeNs start, TimeNs end, std::uint64_t in_range = 0,
           std::uint32_t stream = 7) {
    show(KernelRecord{{start, end, 0, 1, stream, 1, 0, in_range}, name, 1});
  }
  const CommunicationLog& finished() {
    log->finish();
    return *log;
  }
  TraceNames names;
  std::unique_ptr<CommunicationLog> log = std::make_unique<CommunicationLog>();
};

const OperationTotals& totals(const CommunicationLog& log, const char* operation, const char* with) {
  return log.operations().at({"NCCL", operation, with});
}

TEST_CASE("a call's bytes and reduction are read from its payload, and its kernel's time joins them") {
  Rank rank;
  rank.call(5, 100, 4096);
  rank.run(1, 1'000, 1'500, 5);

  const OperationTotals& found = totals(rank.finished(), "AllReduce", "Sum");

  CHECK(found.calls == 1);
  CHECK(found.bytes == 4096);
  CHECK(found.kernels == 1);
  CHECK(found.gpu_ns == 500);
}

TEST_CASE("calls of different reductions are distinguished") {
  Rank rank;
  rank.call(5, 100, 4096, 0);
  rank.call(6, 200, 1, 2);

  const CommunicationLog& log = rank.finished();

  CHECK(totals(log, "AllReduce", "Sum").bytes == 4096);
  CHECK(totals(log, "AllReduce", "Max").bytes == 1);
}

TEST_CASE("a schema that another thread registered may come after the calls that use it") {
  Rank rank(false);
  rank.call(5, 100, 4096);
  rank.show_schemas();

  CHECK(totals(rank.finished(), "AllReduce", "Sum").bytes == 4096);
}

TEST_CASE("a kernel that a group launches belongs to all calls of the group, and to none before it") {
  Rank rank;
  rank.call(5, 100, 1);  // launches by itself
  rank.group(6, 2, 200);
  rank.call(7, 210, 4096);
  rank.call(8, 230, 512, 0, 4);
  rank.group(9, 3, 250);
  rank.run(1, 1'000, 1'300, 9);

  const CommunicationLog& log = rank.finished();

  CHECK(totals(log, "AllGather+AllReduce", "Sum").gpu_ns == 300);
  CHECK(totals(log, "AllReduce", "Sum").calls == 2);
  CHECK(totals(log, "AllReduce", "Sum").gpu_ns == 0);
}

TEST_CASE("without NVTX the kernel's name gives the operation, and bytes are unknown") {
  Rank rank;
  rank.run(1, 1'000, 1'500);

  const OperationTotals& found =
      totals(rank.finished(), "AllReduce", "");  // NCCL's name is not the reduction

  CHECK(found.kernels == 1);
  CHECK(found.calls_with_bytes == 0);
}

TEST_CASE("communication is exposed where no other kernel runs, and overlapped elsewhere") {
  Rank rank;
  rank.run(2, 0, 1'000, 0, 7);
  rank.run(1, 800, 2'000, 0, 8);
  rank.run(2, 1'900, 3'000, 0, 7);

  const CommunicationOverlap overlap = rank.finished().overlaps().at(0);

  CHECK(overlap.span_ns == 3'000);
  CHECK(overlap.communication_ns == 1'200);
  CHECK(overlap.exposed_ns == 900);
  CHECK(overlap.compute_ns == 2'100);
}

Header on(const char* host, std::int64_t unix_ns, std::int64_t monotonic_ns) {
  Header out = header();
  out.host = host;
  out.base_unix_ns += unix_ns;
  out.base_monotonic_ns += monotonic_ns;
  return out;
}

TEST_CASE("ranks of one host are placed by their shared clock, with its uncertainty") {
  const Header first = on("a", 0, 0), second = on("a", 5'000'300, 5'000'000);

  const auto clocks = align_clocks({&first, &second});

  CHECK(clocks[1].offset_ns == 5'000'000);
  CHECK(clocks[1].same_host);
  CHECK(clocks[1].agree_within_ns == 300u);
}

TEST_CASE("ranks of another host are placed by CLOCK_REALTIME, and among themselves by their own clock") {
  const Header first = on("a", 0, 0), second = on("b", 2'000, 77'000'000'000),
               third = on("b", 9'100, 77'000'007'000);

  const auto clocks = align_clocks({&first, &second, &third});

  CHECK(clocks[1].offset_ns == 2'000);
  CHECK(clocks[2].offset_ns == 9'000);
  CHECK_FALSE(clocks[2].same_host);
  CHECK_FALSE(clocks[1].agree_within_ns);
}

TEST_CASE("hosts of the same name whose uptimes differ do not share a clock") {
  const Header first = on("localhost", 0, 0), second = on("localhost", 1'000, 90'000'000'000);

  CHECK_FALSE(align_clocks({&first, &second})[1].same_host);
}

/// Two ranks and three all-reduces. The second rank comes 400 ns later to each; its clock is off by kOffset.
struct TwoRanks {
  TwoRanks() {
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto at = static_cast<TimeNs>(10'000 * (i + 1));
      early.call(i + 1, at, 64);
      early.run(1, at, at + 900, i + 1);
      late.call(i + 1, at, 64);
      late.run(1, at + 400 - kOffset, at + 900 - kOffset, i + 1);
    }
    early.finished();
    late.finished();
  }
  /// With a clock of the second rank that is wrong by this.
  RankWaits waits(std::int64_t wrong_by_ns = 0) const {
    return compare_collectives({{early.log.get()}, {late.log.get()}},
                               {RankClock{}, RankClock{kOffset + wrong_by_ns, true, {}}});
  }
  static constexpr std::int64_t kOffset = 7'000;
  Rank early, late;
};

TEST_CASE("the rank that comes last to collectives is the straggler, on one time line") {
  const RankWaits waits = TwoRanks().waits();
  CHECK(waits.collectives == 3);
  CHECK(waits.omitted == 0);
  CHECK(waits.ranks[0].waited_ns == 1'200);
  CHECK(waits.ranks[1].last_in == 3);
  CHECK(waits.ranks[1].made_wait_ns == 1'200);
  CHECK(waits.clocks_off_ns == 0);
}

TEST_CASE("a wrong clock changes no wait") {
  const TwoRanks two;
  for (const std::int64_t wrong_by_ns : {-20'000'000, -800, 800, 20'000'000}) {
    CAPTURE(wrong_by_ns);
    const RankWaits waits = two.waits(wrong_by_ns);
    CHECK(waits.ranks[0].waited_ns == 1'200);
    CHECK(waits.ranks[0].transfer_ns == 1'500);
    CHECK(waits.ranks[1].waited_ns == 0);
    CHECK(waits.ranks[1].last_in == 3);
    CHECK(waits.ranks[1].made_wait_ns == 1'200);
  }
}

TEST_CASE("of 64 ranks the late one is named, whatever their clocks say") {
  constexpr std::size_t kRanks = 64, kLate = 37;
  constexpr std::uint64_t kCollectives = 200;
  std::mt19937 random(7);  // NOLINT: the same in each run
  std::vector<Rank> ranks(kRanks);
  std::vector<ComparedRank> logs;
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (std::uint64_t i = 0; i < kCollectives; ++i) {
      const auto begin = static_cast<TimeNs>(i * 10'000'000), end = begin + 5'000'000;
      const auto early = static_cast<TimeNs>(random() % 300'000);
      ranks[r].call(i + 1, begin, 64);
      ranks[r].run(1, begin + (r == kLate ? 800'000 : early), end + static_cast<TimeNs>(random() % 2'000),
                   i + 1);
    }
    logs.push_back({&ranks[r].finished()});
  }
  const std::vector<RankClock> right(kRanks);
  const RankWaits known = compare_collectives(logs, right);
  CHECK(known.collectives == kCollectives);
  CHECK(known.ranks[kLate].last_in == kCollectives);
  for (const std::int64_t most_ns : {20'000, 1'000'000, 20'000'000}) {
    CAPTURE(most_ns);
    std::vector<RankClock> wrong(kRanks);
    for (RankClock& clock : wrong) clock.offset_ns = static_cast<std::int64_t>(random()) % most_ns;
    const RankWaits waits = compare_collectives(logs, wrong);
    for (std::size_t r = 0; r < kRanks; ++r) {
      CHECK(waits.ranks[r].last_in == known.ranks[r].last_in);
      CHECK(waits.ranks[r].waited_ns == known.ranks[r].waited_ns);
      CHECK(waits.ranks[r].made_wait_ns == known.ranks[r].made_wait_ns);
    }
  }
}

TEST_CASE("collectives with a root are not compared: there it may end before the others come") {
  Rank first, second;
  for (Rank* const rank : {&first, &second}) {
    rank->call(1, 0, 64, 0, kBroadcastPath);
    rank->run(1, 0, 10, 1);
    rank->finished();
  }
  const RankWaits waits =
      compare_collectives({{first.log.get()}, {second.log.get()}}, {RankClock{}, RankClock{}});

  CHECK(waits.collectives == 0);
  CHECK(waits.omitted == 2);
}

TEST_CASE("collectives that end before they begin on another rank show a clock error") {
  CHECK(TwoRanks().waits(800).clocks_off_ns == 300);  // begins at 1,200, the other ended at 900
}

TEST_CASE("of ranks whose recordings end at other times the collectives that all have are compared") {
  const TwoRanks two;
  Rank short_one;
  short_one.call(1, 10'000, 64);
  short_one.run(1, 10'400, 10'900, 1);
  short_one.finished();

  const RankWaits waits =
      compare_collectives({{two.early.log.get()}, {short_one.log.get()}}, {RankClock{}, RankClock{}});

  CHECK(waits.collectives == 1);
  CHECK(waits.omitted == 2);
  CHECK(waits.ranks[0].waited_ns == 400);
}

/// Collectives at irregular times, of which this rank recorded those from `from` on; 1 us more of each, if
/// late.
void run_from(Rank& rank, std::uint64_t from, std::int64_t clock_off_ns, bool late) {
  std::mt19937 random(5);  // NOLINT: the same times on each rank
  TimeNs at = clock_off_ns;
  for (std::uint64_t i = 0; i < 40; ++i) {
    at += 1'000'000 + static_cast<TimeNs>(random() % 500'000);
    if (i < from) continue;
    rank.call(i + 1, at - 50, 64);
    rank.run(1, at + (late ? 3'000 : 0), at + 10'000, i + 1);
  }
  rank.finished();
}

TEST_CASE("collectives of ranks that began to record at other times are matched by when they end") {
  for (const std::int64_t clock_off_ns : {0, 20'000'000}) {
    CAPTURE(clock_off_ns);
    Rank first, second;
    run_from(first, 0, 0, false);
    run_from(second, 7, clock_off_ns, true);

    const RankWaits waits =
        compare_collectives({{first.log.get()}, {second.log.get()}}, {RankClock{}, RankClock{}});

    CHECK(waits.collectives == 33);
    CHECK(waits.omitted == 7);
    CHECK(waits.ranks[1].last_in == 33);
    CHECK(waits.ranks[0].waited_ns == 33 * 3'000);
  }
}

TEST_CASE("the section reports a program without communication") {
  const SectionRun run("communication", recorded("multi_stream"));

  CHECK(run.table("communication").rows.empty());
  CHECK(run.shown().find("No kernel of this trace communicates") != std::string::npos);
}

}  // namespace
}  // namespace rangefinder
