// SPDX-License-Identifier: Apache-2.0
//
// One pattern language: report --range, attach --range, --capture nvtx:… and --exact-range select the same
// work.
#include <memory>
#include <string>
#include <vector>

#include "profiler/control/range_windows.h"
#include "profiler/counters/exact/exact_filter.h"
#include "profiler/options/capture_request.h"
#include "tests/catch.h"
#include "tools/analysis/model/selection.h"

using namespace rangefinder;

namespace {

class OneWindow final : public ControlTarget {
 public:
  std::string begin_window(const WindowRequest&) noexcept override {
    begun = true;
    return {};
  }
  std::string close_window(const char*) noexcept override { return {}; }
  bool finish_window() override { return false; }
  std::string give_up_cupti(const std::string&) override { return {}; }
  std::string reclaim_cupti() override { return {}; }
  SessionStatus status() override { return {}; }
  void set_counters(CounterMode) override {}
  std::string set_metrics(const std::string&) override { return {}; }
  std::uint64_t request_write() override { return 0; }
  std::string summary() override { return {}; }
  bool begun = false;
};

using Names = std::vector<std::string>;  ///< of a path, outermost first

bool report_range(const std::string& pattern, const Names& path) {
  SelectionOptions options;
  options.range = pattern;
  Selection selection(options, Iterations());
  std::uint32_t id = 0;
  for (const std::string& name : path) {
    selection.learn(PathRecord{id + 1, id, 0, name});
    ++id;
  }
  return selection.in_range(id);
}

/// Whether work in the innermost range is recorded: a window opened at it or around it.
bool attach_range(const std::string& pattern, const Names& path) {
  const auto recorder = std::make_unique<Recorder>();
  OneWindow target;
  RangeWindows windows(
      *recorder, target, [](void*) noexcept {}, nullptr);
  REQUIRE(windows.arm({.glob = pattern}, {{}}, 1));
  for (const std::string& name : path) recorder->threads.current()->push(0, name.c_str(), {});
  windows.disarm();
  return target.begun;
}

bool capture(const std::string& pattern, const Names& path) {
  CaptureRequest request;
  REQUIRE(read_capture("nvtx:" + pattern, "", request));
  return attach_range(request.glob, path);
}

bool exact_range(const std::string& pattern, const Names& path) {
  const auto recorder = std::make_unique<Recorder>();
  std::uint32_t id = 0;
  for (const std::string& name : path)
    id = recorder->paths.child({id, recorder->names.intern(name.c_str()), 0});
  Options options;
  options.exact_range = pattern;
  ExactFilter filter(options, *recorder);
  return filter.choose(recorder->names.intern("_Z5scalePfi"), id) == ExactChoice::measure;
}

}  // namespace

TEST_CASE("all options that take a pattern over paths select the same work") {
  const Names nested{"model", "decoder", "layers", "0"};
  struct Case {
    const char* pattern;
    Names path;
    bool matches;
  };
  const std::vector<Case> cases{
      // Without a slash: any level, and all below it.
      {"model", nested, true},
      {"decoder", nested, true},
      {"dec*", nested, true},
      {"?", nested, true},
      {"layer?", nested, true},
      {"*", nested, true},
      {"**", nested, true},
      {"decoder", {"decoder"}, true},
      {"decoder", {"decoder_head"}, false},
      {"decoder", {"pre_decoder"}, false},
      {"coder", nested, false},
      // With a slash: from the outermost level.
      {"model/decoder", nested, true},
      {"model/*/layers", nested, true},
      {"model/**/0", nested, true},
      {"**/layers/?", nested, true},
      {"decoder/layers", nested, false},
      {"model/layers", nested, false},
      {"/model", nested, true},
      {"/decoder", nested, false},
      {"/decoder", {"decoder"}, true},
      {"model/decoder/**", {"model", "decoder"}, false},
      // A slash inside a name is written as \/.
      {"model/a\\/b", {"model", "a/b"}, true},
      {"model/a/b", {"model", "a/b"}, false},
  };
  for (const Case& one : cases) {
    std::string path;
    for (const std::string& name : one.path) path += (path.empty() ? "" : ", ") + name;
    CAPTURE(one.pattern, path);
    CHECK(report_range(one.pattern, one.path) == one.matches);
    CHECK(attach_range(one.pattern, one.path) == one.matches);
    CHECK(capture(one.pattern, one.path) == one.matches);
    CHECK(exact_range(one.pattern, one.path) == one.matches);
  }
}
