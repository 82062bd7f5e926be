// SPDX-License-Identifier: Apache-2.0
//
// Source lines of modules in findings: title, modules and JSON.
#include "tools/analysis/model/module_sources.h"

#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tools/analysis/model/trace_names.h"

namespace rangefinder {
namespace {
using namespace test;

SourceLines lines(const char* of_class, std::uint32_t class_line, const char* of_call = "",
                  std::uint32_t call_line = 0) {
  return SourceLines(ModuleSourceRecord{1, of_class, class_line, of_call, call_line});
}

constexpr std::uint32_t kLayer0 = 3, kLayer1 = 4;

/// step/layers/0 and step/layers/1 leave the GPU idle.
struct TwoLayers : MadeTrace {
  TwoLayers(const ModuleSourceRecord& first, const ModuleSourceRecord& second) {
    add_path("step");
    const std::uint32_t layers = add_path("layers", 1);
    add_path("0", layers);
    add_path("1", layers);
    put(first);
    put(second);
    add_name("work(float*)");
    add_config(grid_of(4096, 256));
    repeat(10, [this](TimeNs at) {
      for (const std::uint32_t layer : {kLayer0, kLayer1}) {
        add_range(layer, at, at + 1'000'000);
        at = add(layer, 1, 1, at + 900'000, 100'000);
      }
      return at;
    });
  }
};

}  // namespace

TEST_CASE("people see the name of the file and the line: of the class, else of the call") {
  CHECK(lines("/app/model.py", 214, "/app/train.py", 30).text() == "model.py:214");
  CHECK(lines("", 0, "/app/train.py", 30).text() == "train.py:30");
  CHECK(lines("<stdin>", 2).text() == "<stdin>:2");
  CHECK(lines("/app/model.py", 214).in_brackets() == " (model.py:214)");
  CHECK(SourceLines().text().empty());
  CHECK(SourceLines().in_brackets().empty());
}

TEST_CASE("a folded module has what all its paths have in common") {
  TraceNames trace;
  trace.add(PathRecord{1, 0, 0, "0"});
  trace.add(PathRecord{2, 0, 0, "1"});
  trace.add(PathRecord{3, 0, 0, "head"});
  trace.add(ModuleSourceRecord{1, "/app/model.py", 214, "/app/model.py", 88});
  trace.add(ModuleSourceRecord{2, "/app/model.py", 214, "/app/model.py", 90});
  const ModuleSources sources(trace);

  CHECK(sources.of("*").of_class == "/app/model.py:214");
  CHECK(sources.of("*").of_call.empty());
  CHECK_FALSE(sources.of("head").known());
}

TEST_CASE("a finding names the source lines of its module") {
  const auto found = TwoLayers({kLayer0, "/app/model.py", 214, "/app/model.py", 88},
                               {kLayer1, "/app/model.py", 214, "/app/model.py", 88})
                         .found();
  REQUIRE_FALSE(found.empty());
  const Finding* of_layers = nullptr;
  for (const Finding& finding : found) {
    if (finding.where == "step/layers/*") of_layers = &finding;
  }
  REQUIRE(of_layers != nullptr);
  CHECK(of_layers->title.find("`step/layers/*` (model.py:214) ") == 0);

  const auto json = findings_json({*of_layers})[0];
  CHECK(json["class_source"] == "/app/model.py:214");
  CHECK(json["call_source"] == "/app/model.py:88");
}

TEST_CASE("a finding whose paths have different source lines names none") {
  const auto found = TwoLayers({kLayer0, "/app/a.py", 1, "", 0}, {kLayer1, "/app/b.py", 1, "", 0}).found();
  REQUIRE_FALSE(found.empty());
  for (const Finding& finding : found) CHECK(finding.title.find(".py") == std::string::npos);
}

TEST_CASE("the modules of a finding have their own source lines in text and JSON") {
  Finding finding;
  finding.id = "unfused_chain";
  finding.where = "step";
  finding.evidence = {{"chains", "chains", std::uint64_t{1}, Unit::count}};
  finding.modules = {{"step/a", 3, lines("/app/model.py", 214)}, {"step/b", 1, {}}};

  CHECK(findings_text({finding}, TextStyle{}).find("`step/a` (model.py:214) 75.0 %, `step/b` 25.0 %") !=
        std::string::npos);
  const auto json = findings_json({finding})[0];
  CHECK(json["modules"][0]["class_source"] == "/app/model.py:214");
  CHECK_FALSE(json["modules"][1].contains("class_source"));
}

}  // namespace rangefinder
