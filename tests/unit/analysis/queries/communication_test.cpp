// SPDX-License-Identifier: Apache-2.0
//
// Communication of one rank: operations, bytes, exposed time. tests/injection (cases_communication.py) runs a
// whole program that makes these calls.
#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tests/unit/analysis/queries/written_communication.h"

namespace rangefinder {
namespace {
using namespace test;

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

TEST_CASE("a captured call moves its bytes at each replay") {
  Rank rank;
  rank.call(5, 100, 4096);
  for (std::uint32_t launch = 1; launch <= 3; ++launch) {
    KernelRecord line{{launch * 1'000, launch * 1'000 + 100, 0, 1, 7, launch, 1, 5}, 1, 1};
    line.work.graph = 9;
    line.work.captured = true;
    rank.show(line);
  }

  const OperationTotals& found = totals(rank.finished(), "AllReduce", "Sum");

  CHECK(found.calls == 1);
  CHECK(found.kernels == 3);
  CHECK(found.bytes == 3 * 4096);
}

TEST_CASE("copies to another GPU communicate, others do not") {
  Rank rank;
  MemcpyRecord copy;
  copy.work = {0, 1'000, 0, 1, 7};
  copy.bytes = 64;
  copy.kind = CopyKind::DtoD;
  rank.show(copy);
  copy.kind = CopyKind::PtoP;
  rank.show(copy);
  const CommunicationLog& log = rank.finished();

  const OperationTotals& found = log.operations().at({"CUDA", "copy to another GPU", ""});
  CHECK(found.copies == 1);
  CHECK(found.bytes == 64);
  CHECK(log.overlaps().at(0).exposed_ns == 1'000);
}

TEST_CASE("kernels that the user names communicate in every trace") {
  TraceNames names;
  names.files.communication = "ring_";
  names.add(Line(KernelNameRecord{4, "", "void own::ring_reduce_scatter<float>(int)", "own", ""}));
  names.add(Line(KernelNameRecord{5, "", "gemm", "own", ""}));
  names.add(Line(KernelNameRecord{6, "", "swap", "communication", "--communication"}));  // by the collector

  CHECK(names.communication.at(4).operation == "ReduceScatter");
  CHECK_FALSE(names.communicates(5));
  CHECK(names.communication.at(6).operation == "swap");
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

TEST_CASE("the section reports a program without communication") {
  const SectionRun run("communication", recorded("multi_stream"));

  CHECK(run.table("communication").rows.empty());
  CHECK(run.shown().find("No kernel of this trace communicates") != std::string::npos);
}

}  // namespace
}  // namespace rangefinder
