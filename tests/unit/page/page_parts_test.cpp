// SPDX-License-Identifier: Apache-2.0
//
// The parts that bound the data of a page: bins, windows, longest intervals, points, busy time.
#include <zlib.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/page/detail_windows.h"
#include "tools/page/longest_items.h"
#include "tools/page/memory_points.h"
#include "tools/page/packed_text.h"
#include "tools/page/sample_points.h"
#include "tools/page/stream_busy.h"

namespace rangefinder {
namespace {

struct Span {
  TimeNs start_ns, end_ns;
};

Iteration iteration(TimeNs start, TimeNs end) {
  Iteration out;
  out.start_ns = start;
  out.end_ns = end;
  return out;
}

AllocRecord allocation(TimeNs at, std::uint64_t address, std::uint64_t bytes, bool is_free = false) {
  return {{.start_ns = at, .end_ns = at}, "", is_free, AllocKind::device, address, bytes};
}

}  // namespace

TEST_CASE("time bins keep every count when they become wider, and times before 0 are in the first") {
  TimeBins bins(8);
  for (TimeNs at = 0; at < 1'000'000'000; at += 1'000'000) bins.add(at);

  CHECK(bins.total() == 1000);
  CHECK(std::accumulate(bins.counts().begin(), bins.counts().end(), std::uint64_t{0}) == 1000);
  CHECK(bins.width_ns() * 8 >= 1'000'000'000);
  TimeBins early(8);
  early.add(-5);
  CHECK(early.counts()[0] == 1);
}

TEST_CASE("a trace with little work is kept completely") {
  TimeBins work(64);
  work.add(5, 100);

  const DetailWindows detail = choose_windows(work, {}, {}, 100);

  CHECK(detail.whole);
  REQUIRE(detail.windows.size() == 1);
  CHECK(detail.windows[0].start_ns == INT64_MIN);
}

TEST_CASE("a trace with much work keeps its slowest iteration, and windows do not overlap") {
  TimeBins work(1024);
  std::vector<Iteration> iterations;
  for (TimeNs i = 0; i < 100; ++i) {
    iterations.push_back(iteration(i * 10'000, i * 10'000 + (i == 42 ? 9'000 : 5'000)));
    work.add(i * 10'000, 50);
  }

  const DetailWindows detail = choose_windows(work, iterations, 1, 1000);

  CHECK_FALSE(detail.whole);
  bool slowest = false;
  for (std::size_t i = 0; i < detail.windows.size(); ++i) {
    slowest = slowest || detail.windows[i].start_ns == 420'000;
    if (i > 0) CHECK(detail.windows[i - 1].end_ns <= detail.windows[i].start_ns);
  }
  CHECK(slowest);
}

TEST_CASE("the longest of many intervals are kept, also if all are equally long") {
  LongestItems<Span> longest(10);
  for (TimeNs i = 0; i < 1000; ++i) longest.add({1000 - i, 1000 - i + (i * 7919) % 1000});

  const std::vector<Span> kept = longest.extract();

  REQUIRE(kept.size() == 10);
  CHECK(longest.seen() == 1000);
  for (const Span& span : kept) CHECK(span.end_ns - span.start_ns >= 990);
  for (std::size_t i = 1; i < kept.size(); ++i) CHECK(kept[i - 1].start_ns <= kept[i].start_ns);
  LongestItems<Span> equal(10);
  for (TimeNs i = 0; i < 1000; ++i) equal.add({i, i + 5});
  CHECK(equal.extract().size() == 10);
}

TEST_CASE("work over two bins counts in both, in proportion") {
  StreamBusy busy(1, 10, 0, 999);
  busy.add(0, true, 150, 220);

  const std::vector<std::int64_t> parts = busy.permille(0, true);

  CHECK(busy.width_ns() == 100);
  CHECK(parts[1] == 500);
  CHECK(parts[2] == 200);
  CHECK(parts[3] == 0);
  CHECK(busy.permille(0, false)[1] == 0);
}

TEST_CASE("merging samples loses no byte and bounds the number of points") {
  SamplePoints points(16);
  std::uint64_t units = 0;
  for (int line = 0; line < 50; ++line) {
    SamplesRecord record;
    record.runs = {{line * 1'000'000, line * 1'000'000 + 200'000, 10}};
    for (std::uint32_t i = 0; i < 10; ++i) record.columns[kSampleDramRead].push_back(i);
    units += 45;
    points.add(record);
  }

  std::uint64_t sum = 0, samples = 0;
  for (const SamplePoint& point : points.points()) {
    sum += point.sums[kSampleDramRead];
    samples += point.samples;
  }
  CHECK(sum == units);
  CHECK(samples == 500);
  CHECK(points.points().size() <= 32);
  CHECK(points.merged());
}

TEST_CASE("memory in use rises with an allocation and falls with its free, and peaks survive merging") {
  MemoryPoints memory(8);
  memory.add(allocation(1, 0x100, 1000));
  memory.add(allocation(2, 0x200, 5000));
  memory.add(allocation(3, 0x200, 0, true));
  for (TimeNs i = 0; i < 100; ++i) {
    memory.add(allocation(10 + 2 * i, 0x300, 10));
    memory.add(allocation(11 + 2 * i, 0x300, 0, true));
  }

  const std::vector<MemoryPoint> points = memory.extract();

  std::uint64_t most = 0;
  for (const MemoryPoint& point : points) most = std::max(most, point.device_bytes);
  CHECK(most == 6000);
  CHECK(points.back().device_bytes == 1000);
  CHECK(points.size() <= 17);
}

TEST_CASE("packed text cannot end a script, and unpacks to the same bytes") {
  std::string bytes = "</script><!--\"'\xff";
  for (int i = 0; i < 1000; ++i) bytes += std::to_string(i * i);

  const std::string packed = packed_text(bytes);

  CHECK(packed.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") ==
        std::string::npos);
  std::vector<unsigned char> raw;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : packed) {
    const std::size_t digit =
        std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string::npos) break;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits >= 8) raw.push_back(static_cast<unsigned char>(group >> (bits -= 8)));
  }
  std::string back(bytes.size() + 100, '\0');
  uLongf size = static_cast<uLongf>(back.size());
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(back.data()), &size, raw.data(),
                     static_cast<uLong>(raw.size())) == Z_OK);
  back.resize(size);
  CHECK(back == bytes);
}

}  // namespace rangefinder
