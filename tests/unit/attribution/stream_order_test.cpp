// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/stream_order.h"

#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

GpuWork on_stream(std::uint32_t stream, TimeNs start_ns, TimeNs end_ns) {
  return {.start_ns = start_ns, .end_ns = end_ns, .stream = stream};
}

}  // namespace

TEST_CASE("work begins when the stream's previous work has ended") {
  struct Case {
    const char* what;
    std::vector<GpuWork> works;
    std::vector<TimeNs> begins;
  };
  GpuWork of_context = on_stream(7, 150, 260), of_gpu = of_context;
  of_context.context = 2;
  of_gpu.gpu = 1;
  GpuWork node = on_stream(7, 100, 200), later_node = on_stream(7, 150, 200);
  node.graph = later_node.graph = 3;
  const std::vector<Case> cases{
      {"one stream",
       {on_stream(7, 100, 200), on_stream(7, 150, 260), on_stream(7, 190, 300), on_stream(7, 400, 500)},
       {100, 200, 260, 400}},
      {"another stream, context or GPU is independent",
       {on_stream(7, 100, 200), on_stream(8, 150, 260), of_context, of_gpu},
       {100, 150, 150, 150}},
      {"graph nodes may overlap on their stream", {node, later_node}, {100, 150}},
      {"records out of order are independent", {on_stream(7, 300, 400), on_stream(7, 100, 350)}, {300, 100}},
      {"work that ends before its predecessor keeps its last nanosecond",
       {on_stream(7, 100, 200), on_stream(7, 120, 180), on_stream(7, 130, 190)},
       {100, 179, 189}},
      {"work without times, or with reversed times, is unchanged",
       {on_stream(7, kNoTime, kNoTime), on_stream(7, 500, 400)},
       {kNoTime, 500}}};
  for (const Case& one : cases) {
    INFO(one.what);
    StreamOrder streams;
    std::vector<TimeNs> begins;
    for (const GpuWork& work : one.works) begins.push_back(streams.begin_of(work));
    CHECK(begins == one.begins);
  }
}
