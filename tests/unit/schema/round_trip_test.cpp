// SPDX-License-Identifier: Apache-2.0
//
// write ─▶ read ─▶ write gives the same bytes, for every kind and the limits of its values.
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include <simdjson.h>

#include "schema/key_names.h"
#include "tests/catch.h"
#include "tests/unit/schema/round_trip.h"

using namespace rangefinder;
using namespace rangefinder::round_trip;

namespace {

constexpr std::uint32_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

template <typename... Records>
void check_defaults(const std::tuple<Records...>& records) {
  (check_round_trip(std::get<Records>(records)), ...);
}

/// Each value of `kind`, which has these names.
template <typename Record, typename Kind, typename Names>
void check_enumerators(Kind Record::*kind, const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    INFO(names[i]);
    Record record;
    record.*kind = static_cast<Kind>(i);
    CHECK(read_as(record).*kind == record.*kind);
  }
}

std::string all_bytes() {
  std::string text;
  for (int c = 0; c < 256; ++c) text += static_cast<char>(c);
  return text;
}

}  // namespace

TEST_CASE("every line of the example reads back to the same bytes") {
  std::set<std::string_view> kinds;
  const std::vector<Line> lines = example::lines();
  for (const Line& line : lines) {
    kinds.insert(line_kind(line));
    check_round_trip(line);
  }
  CHECK(kinds.size() == 43);  // every kind there is
}

TEST_CASE("default records read back to the same bytes") {
  check_defaults(
      std::tuple<Header, GpuRecord, ContextRecord, StreamRecord, CategoryRecord, LaunchConfigRecord,
                 KernelRecord, MemcpyRecord, MemsetRecord, GraphRecord, LaunchRecord, ExactRecord, SyncRecord,
                 AllocRecord, EventRecord, CaptureRecord, MonitorRecord, ConditionRecord, OverheadRecord,
                 HoldRecord, HostFunctionRecord, GapRecord, RangeRecord, MarkRecord, ModuleSourceRecord,
                 KernelOriginRecord, FrameRecord, StackRecord, StackSampleRecord, PayloadSchemaRecord,
                 MetricSetRecord, SamplesRecord, SamplingRecord, ClockRecord, FlushRecord, EndRecord>());
}

TEST_CASE("the limits of every integer type survive") {
  const GpuWork work{kFirst, kLast, kMax32, kMax32, kMax32, kMax32, kMax32, kMax64, kMax32, kMax64};
  check_round_trip(KernelRecord{work, kMax32, kMax32});
  const KernelRecord kernel = read_as(KernelRecord{work, kMax32, 1});
  CHECK(kernel.work.start_ns == kFirst);
  CHECK(kernel.work.end_ns == kLast);
  CHECK(kernel.work.range == kMax64);
  CHECK(kernel.work.graph_node == kMax64);
  CHECK(kernel.name == kMax32);

  check_round_trip(MemcpyRecord{work, CopyKind::PtoP, MemoryKind::device, MemoryKind::array, kMax64, true,
                                kMax64, kMax32, kMax32});
  check_round_trip(LaunchRecord{{kFirst, kLast, kMax32, kMax32, kMax64},
                                "cuLaunchKernelEx",
                                kMax32,
                                kMax32,
                                std::numeric_limits<std::int32_t>::min()});
  CHECK(read_as(AllocRecord{{}, "a", false, AllocKind::pool, kMax64, kMax64, 1, 1, kMax64}).pool == kMax64);
  CHECK(read_as(StreamRecord{1, 1, std::numeric_limits<std::int32_t>::min(), true}).priority ==
        std::numeric_limits<std::int32_t>::min());
  Header header;
  header.base_unix_ns = kNoTime;
  header.base_monotonic_ns = kLast;
  CHECK(read_as(header).base_unix_ns == kNoTime);
  CHECK(read_as(header).base_monotonic_ns == kLast);
}

TEST_CASE("every enumerator survives") {
  check_enumerators(&MemcpyRecord::kind, kCopyKindNames);
  check_enumerators(&MemcpyRecord::source, kMemoryKindNames);
  check_enumerators(&ExactRecord::kind, kWorkKindNames);
  check_enumerators(&AllocRecord::kind, kAllocKindNames);
  check_enumerators(&CaptureRecord::step, kCaptureStepNames);
  check_enumerators(&HoldRecord::cause, kHoldCauseNames);
  AllocRecord free;
  free.is_free = true;
  CHECK(read_as(free).is_free);
  CHECK_FALSE(read_as(AllocRecord()).is_free);
}

TEST_CASE("names with any bytes come back as valid text, also 100 kB of them") {
  std::string name = "\xff\"" + all_bytes();
  while (name.size() < 100'000) name += name;
  const PathRecord path{1, 0, 0, name};

  check_round_trip(path);
  const std::string back = read_as(path).name;

  CHECK(simdjson::validate_utf8(back));
  CHECK(back.substr(0, 4) == "\xEF\xBF\xBD\"");
  CHECK(back.size() >= 100'000);
}

TEST_CASE("keys made of any bytes are escaped too") {
  EndRecord end;
  end.records = {{"a\"\x80\n", 1}};
  GpuRecord gpu;
  gpu.peak_flops = {{"fp\\8", 1.5e15}, {"fp4", 0.1}};

  check_round_trip(end);
  check_round_trip(gpu);
  CHECK(read_as(gpu).peak_flops == gpu.peak_flops);
}

TEST_CASE("payloads of every type read back to the same bits") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    MarkRecord mark;
    mark.extras.payload = round == 0 ? 0 : round == 1 ? kMax64 : random() >> (random() % 64);
    for (const auto type : {PayloadType::u64, PayloadType::i64, PayloadType::f64}) {
      mark.extras.payload_type = type;
      const auto real = std::bit_cast<double>(mark.extras.payload);
      if (type == PayloadType::f64 && real != real) continue;
      REQUIRE(read_as(mark).extras.payload == mark.extras.payload);
    }
    mark.extras.payload &= kMax32;
    for (const auto type : {PayloadType::u32, PayloadType::i32, PayloadType::f32}) {
      mark.extras.payload_type = type;
      const auto real = std::bit_cast<float>(static_cast<std::uint32_t>(mark.extras.payload));
      if (type == PayloadType::f32 && real != real) continue;
      REQUIRE(read_as(mark).extras.payload == mark.extras.payload);
    }
  }
}

TEST_CASE("NaN and infinite payloads survive") {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), -0.0}) {
    MarkRecord mark;
    mark.extras.payload_type = PayloadType::f64;
    mark.extras.payload = std::bit_cast<std::uint64_t>(value);
    check_round_trip(mark);
  }
}

TEST_CASE("a payload schema keeps the original text of its definition") {
  const std::string definition = R"({"a": 1.0, "b" :[1e3,{"c":"\u0041"}], "d":{} })";

  CHECK(read_as(PayloadSchemaRecord{1, 0, definition}).definition == definition);
}

TEST_CASE("a start/end range keeps both threads, a push/pop range has one") {
  CHECK(read_as(RangeRecord{1, 2, 3, 4, 5, 6, 7, 8, {}}).end_thread == 5);
  CHECK(read_as(RangeRecord{1, 2, 3, 4, 5, 6, 7, 0, {}}).end_thread == 0);
  CHECK(read_as(RangeRecord{1, 2, kNoTime, 4, 0, 6, 7, 0, {}}).end_ns == kNoTime);
}
