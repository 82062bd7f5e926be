// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/stream_order.h"

#include "tests/catch.h"

using namespace rangefinder;

namespace {

GpuWork on_stream(std::uint32_t stream, TimeNs start_ns, TimeNs end_ns) {
  GpuWork work;
  work.stream = stream;
  work.start_ns = start_ns;
  work.end_ns = end_ns;
  return work;
}

}  // namespace

TEST_CASE("work begins when the stream's previous work has ended") {
  StreamOrder streams;
  CHECK(streams.begin_of(on_stream(7, 100, 200)) == 100);
  CHECK(streams.begin_of(on_stream(7, 150, 260)) == 200);
  CHECK(streams.begin_of(on_stream(7, 190, 300)) == 260);
  CHECK(streams.begin_of(on_stream(7, 400, 500)) == 400);
}

TEST_CASE("work of another stream, context or GPU is independent") {
  StreamOrder streams;
  CHECK(streams.begin_of(on_stream(7, 100, 200)) == 100);
  CHECK(streams.begin_of(on_stream(8, 150, 260)) == 150);
  GpuWork elsewhere = on_stream(7, 150, 260);
  elsewhere.context = 2;
  CHECK(streams.begin_of(elsewhere) == 150);
  elsewhere.gpu = 1;
  CHECK(streams.begin_of(elsewhere) == 150);
}

TEST_CASE("graph nodes may overlap on their stream") {
  StreamOrder streams;
  GpuWork node = on_stream(7, 100, 200);
  node.graph = 3;
  CHECK(streams.begin_of(node) == 100);
  node.start_ns = 150;
  CHECK(streams.begin_of(node) == 150);
}

TEST_CASE("records out of order are independent") {
  StreamOrder streams;
  CHECK(streams.begin_of(on_stream(7, 300, 400)) == 300);
  CHECK(streams.begin_of(on_stream(7, 100, 350)) == 100);
}

TEST_CASE("work that ends before its predecessor keeps its last nanosecond") {
  StreamOrder streams;
  CHECK(streams.begin_of(on_stream(7, 100, 200)) == 100);
  CHECK(streams.begin_of(on_stream(7, 120, 180)) == 179);
  CHECK(streams.begin_of(on_stream(7, 130, 190)) == 189);
}

TEST_CASE("work without times, or with reversed times, is unchanged") {
  StreamOrder streams;
  CHECK(streams.begin_of(on_stream(7, kNoTime, kNoTime)) == kNoTime);
  CHECK(streams.begin_of(on_stream(7, 500, 400)) == 500);
}
