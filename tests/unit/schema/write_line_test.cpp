// SPDX-License-Identifier: Apache-2.0
#include "schema/write_line.h"
#include "schema/hot_line.h"

#include <limits>
#include <string>

#include "tests/unit/schema/round_trip.h"

using namespace rangefinder;
using example::text_of;
using round_trip::read_as;

namespace {

KernelRecord typical_kernel() {
  KernelRecord kernel;
  kernel.work = {123456789012, 123456799012, 0, 1, 7, 12345, 12345, 12345, 0, 0};
  kernel.name = 12345;
  kernel.config = 12345;
  return kernel;
}

}  // namespace

TEST_CASE("a typical kernel line stays under 160 bytes") {
  CHECK(text_of(typical_kernel()).size() < 160);
}

TEST_CASE("a graph node is written by its number, in at most 180 bytes, and read back as its id") {
  // RT-DETR's graph, replayed for a minute and a half.
  KernelRecord node{{90'123'456'789, 90'123'461'789, 0, 1, 13, 54'321, 321, 987}, 45, 67};
  node.work.graph = 12;
  node.work.graph_node = std::uint64_t{12} << 32 | 187;
  node.work.captured = true;

  const std::string line = text_of(node);

  CHECK(line.size() < 180);
  CHECK(line.find(R"("graph":12,"node":187,)") != std::string::npos);
  CHECK(read_as(node).work.graph_node == node.work.graph_node);
}

TEST_CASE("the first node of a graph and a node of another graph keep their ids") {
  for (const std::uint64_t id : {std::uint64_t{7} << 32, std::uint64_t{8} << 32 | 3}) {
    KernelRecord node = typical_kernel();
    node.work.graph = 7;
    node.work.graph_node = id;
    MemsetRecord memset;
    memset.work = node.work;

    CHECK(read_as(node).work.graph_node == id);
    CHECK(read_as(memset).work.graph_node == id);
  }
}

TEST_CASE("writing appends to the existing text") {
  std::string out = "before\n";

  write_line(out, ClockRecord{1, -2});

  CHECK(out == "before\n{\"t\":\"clock\",\"at\":1,\"monotonic\":-2}\n");
}

TEST_CASE("the longest possible kernel line fits into a hot line") {
  KernelRecord record;
  record.work = {INT64_MIN + 1, INT64_MIN + 1, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                 UINT32_MAX,    UINT64_MAX,    UINT32_MAX, UINT64_MAX, true};
  record.name = record.config = UINT32_MAX;
  std::string line;
  write_line(line, record);
  CHECK(line.size() < 300);
  CHECK(line.ends_with(",\"captured\":true,\"name\":4294967295,\"config\":4294967295}\n"));
  static_assert(HotLine::kRoom > 300);
}

TEST_CASE("a hot line does not allocate if its string has capacity") {
  std::string out;
  out.reserve(4096);
  const char* const storage = out.data();

  write_line(out, typical_kernel());

  CHECK(out.data() == storage);
  CHECK(out.capacity() >= 4096);
}

TEST_CASE("GPU work that lacks one time is written without both") {
  KernelRecord kernel = typical_kernel();
  kernel.work.end_ns = kNoTime;

  CHECK(text_of(kernel).find("start") == std::string::npos);
  CHECK(text_of(kernel).find("\"end\"") == std::string::npos);
}

TEST_CASE("integer payloads beyond 2^53 are strings") {
  MarkRecord mark;
  mark.extras.payload_type = PayloadType::u64;
  mark.extras.payload = 9007199254740992;
  CHECK(text_of(mark).find(R"("payload":9007199254740992,)") != std::string::npos);
  mark.extras.payload = 9007199254740993;
  CHECK(text_of(mark).find(R"("payload":"9007199254740993",)") != std::string::npos);
  mark.extras.payload_type = PayloadType::i64;
  mark.extras.payload = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min());
  CHECK(text_of(mark).find(R"("payload":"-9223372036854775808",)") != std::string::npos);
}

TEST_CASE("a counter range has its own keys, and is marked if it is not exclusive") {
  ExactRecord range;
  range.launch.host = {10, 20, 4, 3, 2};
  range.is_counter_range = true;
  range.counter_range = 7;
  range.launches = 3;
  range.measured = true;
  CHECK(text_of(range) ==
        R"({"t":"exact","start":10,"end":20,"thread":4,"path":3,"range":2,"kind":"range","gpu":0,)"
        R"("counter_range":7,"launches":3,"kernels":0,"gpu_ns":0,"dram_read_bytes":0,"dram_write_bytes":0,)"
        R"("l2_bytes":0})"
        "\n");
  range.exclusive = false;
  CHECK(text_of(range).find(R"("kernels":0,"exclusive":false,"gpu_ns":0)") != std::string::npos);
}

TEST_CASE("an enumerator outside its list is written as unknown, without reading past the table") {
  MemcpyRecord copy;
  copy.kind = static_cast<CopyKind>(200);
  copy.source = static_cast<MemoryKind>(99);

  CHECK(text_of(copy).find(R"("kind":"unknown","src":"unknown")") != std::string::npos);
}

TEST_CASE("a line break inside a payload schema does not end the line") {
  const std::string line = text_of(PayloadSchemaRecord{1, 0, "{\"a\":\r\n1}"});

  CHECK(line == "{\"t\":\"payload_schema\",\"id\":1,\"definition\":{\"a\":  1}}\n");
}

TEST_CASE("only losses that happened are in a loss object") {
  FlushRecord flush;
  CHECK(text_of(flush).find("loss") == std::string::npos);
  flush.loss[static_cast<std::size_t>(Loss::events_dropped)] = 3;
  CHECK(text_of(flush) == "{\"t\":\"flush\",\"at\":0,\"records\":0,\"loss\":{\"events_dropped\":3}}\n");
}

TEST_CASE("the writer writes the example trace byte for byte") {
  std::string expected;
  for (const Line& line : example::lines()) expected += text_of(line);

  CHECK(example::example_file("trace-00000.ndjson", expected) == expected);
}
