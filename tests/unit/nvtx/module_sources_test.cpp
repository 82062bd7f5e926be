// SPDX-License-Identifier: Apache-2.0
//
// Every call goes through the real nvtx3 headers (static_injection.cpp).
#include "profiler/nvtx/module_sources.h"

#include <nvtx3/nvToolsExt.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "profiler/events/module_chain.h"
#include "tests/catch.h"
#include "tests/unit/nvtx/recorded_events.h"

using namespace rangefinder;

namespace {

/// Makes the mark in the ranges train > decoder > attn, and returns the events.
std::vector<Seen> events_of_mark(const std::string& text, const char* domain = "rangefinder.source") {
  const nvtxEventAttributes_t event = event_of(text.c_str());
  const nvtxDomainHandle_t handle = nvtxDomainCreateA(domain);
  for (const char* const name : {"train", "decoder", "attn"}) nvtxRangePushA(name);
  nvtxDomainMarkEx(handle, &event);
  std::vector<Seen> seen = take_events();
  for (int i = 0; i < 3; ++i) nvtxRangePop();
  take_events();
  return seen;
}

std::uint64_t chain(std::initializer_list<const char*> innermost_first) {
  std::uint64_t out = 0;
  for (const char* const name : innermost_first) out = module_chain(out, recorder().names.intern(name));
  return out;
}

}  // namespace

TEST_CASE("a mark of the hooks becomes the source lines of the innermost path") {
  const auto seen = events_of_mark("/app/model.py:214\n/app/train.py:30\ndecoder\nattn");

  REQUIRE(seen.size() == 1);
  const Event& event = seen[0].event;
  CHECK(event.kind == EventKind::module_source);
  CHECK(path_name(event.path) == "attn");
  CHECK(event.source.module == chain({"attn", "decoder"}));
  CHECK(name_text(event.source.class_file) == "/app/model.py");
  CHECK(event.source.class_line == 214);
  CHECK(name_text(event.source.call_file) == "/app/train.py");
  CHECK(event.source.call_line == 30);
}

TEST_CASE("one of the two lines is enough") {
  const auto no_class = events_of_mark("\n/app/a:b.py:30\nattn");
  REQUIRE(no_class.size() == 1);
  CHECK(no_class[0].event.source.class_file == 0);
  CHECK(name_text(no_class[0].event.source.call_file) == "/app/a:b.py");

  const auto no_call = events_of_mark("<stdin>:7\n\nattn");
  REQUIRE(no_call.size() == 1);
  CHECK(name_text(no_call[0].event.source.class_file) == "<stdin>");
  CHECK(no_call[0].event.source.call_file == 0);
}

TEST_CASE("source lines that are malformed, or of another range, are not recorded") {
  const char* const texts[] = {"",
                               "\n\nattn",
                               "a.py:1\nb.py:2",
                               "a.py:1\nb.py:2\n",
                               "a.py:1\nb.py:2\nother",
                               "a.py\nb.py:\nattn",
                               ":1\nb.py:0\nattn",
                               "a.py:-1\nb.py:2x\nattn",
                               "a.py:99999999999\n\nattn"};
  for (const char* const text : texts) {
    INFO(text);
    CHECK(events_of_mark(text).empty());
  }
}

TEST_CASE("a mark outside of any range, or of another domain, is no source line") {
  const nvtxEventAttributes_t event = event_of("a.py:1\nb.py:2\nattn");
  nvtxDomainMarkEx(nvtxDomainCreateA("rangefinder.source"), &event);
  CHECK(take_events().empty());

  const auto seen = events_of_mark("a.py:1\nb.py:2\nattn", "other");
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].event.kind == EventKind::mark);
}

TEST_CASE("names of source lines are folded like those of ranges") {
  recorder().fold_digits = true;
  nvtxRangePushA("layer 7");
  const nvtxEventAttributes_t event = event_of("a.py:1\n\nlayer 7");
  nvtxDomainMarkEx(nvtxDomainCreateA("rangefinder.source"), &event);
  recorder().fold_digits = false;
  const auto seen = take_events();
  nvtxRangePop();
  take_events();

  REQUIRE(seen.size() == 1);
  CHECK(seen[0].event.source.module == chain({"layer #"}));
}

TEST_CASE("a mark of a generated kernel becomes its origin in the innermost path") {
  const auto seen = events_of_mark("kernel\ntriton_poi_fused_mul_silu_7\nsilu, mul\n/app/model.py:220");
  REQUIRE(seen.size() == 1);
  const Event& event = seen[0].event;
  CHECK(event.kind == EventKind::kernel_origin);
  CHECK(path_name(event.path) == "attn");
  CHECK(name_text(event.origin.kernel) == "triton_poi_fused_mul_silu_7");
  CHECK(name_text(event.origin.operators) == "silu, mul");
  CHECK(name_text(event.origin.file) == "/app/model.py");
  CHECK(event.origin.line == 220);

  const auto no_line = events_of_mark("kernel\ntriton_poi_fused_add_0\nadd\n");
  REQUIRE(no_line.size() == 1);
  CHECK(no_line[0].event.origin.file == 0);
  for (const char* const text : {"kernel\n", "kernel\n\nadd\n/app/model.py:220"})
    CHECK(events_of_mark(text).empty());
}

TEST_CASE("each line of a kernel's origin holds for later windows") {
  recorder().record_until_ns.store(Recorder::kNever);
  for (const char* const text :
       {"kernel\nlater\nadd\na.py:1", "kernel\nlater\nmul\na.py:2", "kernel\nlater\nsub\na.py:2"})
    CHECK(events_of_mark(text).empty());
  recorder().record_until_ns.store(Recorder::kAlways);

  std::vector<std::string> operators;
  for (const NamingLog::Entry& entry : recorder().naming.entries()) {
    if (entry.event.kind == EventKind::kernel_origin && name_text(entry.event.origin.kernel) == "later")
      operators.push_back(name_text(entry.event.origin.operators));
  }
  CHECK(operators == std::vector<std::string>{"add", "sub"});
}

TEST_CASE("source lines hold for later windows, once a path") {
  recorder().record_until_ns.store(Recorder::kNever);
  CHECK(events_of_mark("z.py:1\n\ndecoder\nattn").empty());
  CHECK(events_of_mark("z.py:2\n\ndecoder\nattn").empty());
  recorder().record_until_ns.store(Recorder::kAlways);

  std::vector<std::uint32_t> class_lines;
  for (const NamingLog::Entry& entry : recorder().naming.entries()) {
    if (entry.event.kind == EventKind::module_source && path_name(entry.event.path) == "attn")
      class_lines.push_back(entry.event.source.class_line);
  }
  CHECK(class_lines == std::vector<std::uint32_t>{2});
}
