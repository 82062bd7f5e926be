// SPDX-License-Identifier: Apache-2.0
//
// How much of the GPU time ranges describe, and what is said of the rest.
#include "tools/analysis/findings/coverage.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tools/analysis/report/run_summary.h"

namespace rangefinder {
namespace {
using namespace test;

Coverage coverage_of(const std::filesystem::path& folder) {
  WholeTrace trace(open_trace_folder(folder), FindingFacts::kColumns);
  FindingFacts facts(trace.iterations());
  trace.each([&facts](const SelectedRows& rows) { facts.add(rows); });
  facts.finish();
  return facts.coverage.result(trace.totals(), trace.iterations(), facts.kernels);
}

Coverage coverage_of(const MadeTrace& made) {
  made.write();
  return coverage_of(made.folder.path());
}

Coverage recorded_coverage(const std::string& name) {
  return coverage_of(std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / name);
}

TEST_CASE("recorded programs whose modules are hidden say so, and why") {
  const std::map<std::string, std::pair<Uncovered, const char*>> expected{
      {"compiled_graphs", {Uncovered::compiled, "compiled_code"}},
      {"compiled_default", {Uncovered::compiled, "compiled_code"}},
      {"compiled_late", {Uncovered::early_graph, "early_graphs"}},
      {"hazards_exact", {Uncovered::no_ranges, "no_ranges"}}};
  for (const auto& [name, why] : expected) {
    INFO(name);
    const Coverage coverage = recorded_coverage(name);
    CHECK(coverage.low());
    CHECK(coverage.why == why.first);
    CHECK(coverage_json(coverage)["why"] == why.second);
    CHECK_FALSE(coverage_text(coverage).empty());
  }
  CHECK(recorded_coverage("compiled_graphs").share < 0.02);
}

TEST_CASE("the coverage of a first screen is of the iterations, as its rows are") {
  for (const char* const name : {"compiled_default", "compiled_late"}) {
    INFO(name);
    WholeTrace trace(open_trace_folder(std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / name),
                     RunSummaryReader::kColumns);
    const Coverage coverage = run_summary_of(trace).coverage;
    CHECK(coverage.share == 0);
    CHECK(coverage_text(coverage).starts_with("0.0 % of the GPU time of the iterations is in a range. "));
    CHECK(coverage.why == recorded_coverage(name).why);
  }
  CHECK(recorded_coverage("compiled_default").share == Approx(0.034).margin(0.001));  // of the whole run
}

TEST_CASE("recorded programs with modules say nothing") {
  for (const char* const name : {"hf_rtdetr_trace", "decoder_sampled", "rtdetr_graph", "case_bert_fp32",
                                 "case_gemm_1024_fp32", "case_starved_one", "copy_storm"}) {
    INFO(name);
    CHECK(coverage_text(recorded_coverage(name)).empty());
  }
}

/// Three iterations of two kernels, each for 10 us, in these paths.
void run(MadeTrace& trace, std::uint32_t first, std::uint32_t second) {
  const std::uint32_t gemm = trace.add_name("gemm"), norm = trace.add_name("norm");
  const std::uint32_t config = trace.add_config(grid_of(64, 256));
  trace.repeat(3, [&](TimeNs at) {
    trace.add(first, gemm, config, at + 10'000, 10'000);
    return trace.add(second, norm, config, at + 30'000, 10'000) + 10'000;
  });
}

TEST_CASE("a range around all work is no description of its parts") {
  MadeTrace trace;
  const std::uint32_t step = trace.add_path("step"), model = trace.add_path("model", step);
  run(trace, model, model);
  const Coverage around = coverage_of(trace);
  CHECK(around.why == Uncovered::around);
  CHECK(around.around == "step/model");
  CHECK(around.share == 0);

  MadeTrace parts;
  const std::uint32_t outer = parts.add_path("step");
  run(parts, parts.add_path("a", outer), parts.add_path("b", outer));
  CHECK_FALSE(coverage_of(parts).low());
}

TEST_CASE("compiled code without module names is not covered, and its range says why") {
  MadeTrace trace;
  const std::uint32_t step = trace.add_path("step");
  const std::uint32_t code = trace.add_path("(compiled Model: cpp_wrapper)", step);
  run(trace, code, code);
  const Coverage hidden = coverage_of(trace);
  CHECK(hidden.why == Uncovered::unnamed);
  CHECK(hidden.share == 0);
  CHECK(coverage_text(hidden) ==
        "100.0 % of the GPU time is in compiled code whose modules have no names, as `step/(compiled Model: "
        "cpp_wrapper)`, which says why");
  CHECK(coverage_json(hidden)["why"] == "unnamed_code");

  MadeTrace of_jax;
  const std::uint32_t unscoped = of_jax.add_path("(compiled: no scope)", of_jax.add_path("jit_step"));
  run(of_jax, unscoped, unscoped);
  CHECK(coverage_text(coverage_of(of_jax)) ==
        "100.0 % of the GPU time is in operations for which XLA names no scope, as `jit_step/(compiled: no "
        "scope)`: fusions with several results, broadcasts, what XLA adds itself");

  // A small part of a program with modules is said too.
  MadeTrace mixed;
  const std::uint32_t outer = mixed.add_path("step"), model = mixed.add_path("model", outer);
  const std::uint32_t small = mixed.add_path("(compiled: AOTInductor)", outer);
  for (int i = 0; i < 6; ++i)
    run(mixed, mixed.add_path(std::to_string(i), model), mixed.add_path("norm", model));
  run(mixed, mixed.add_path("head", model), small);
  const Coverage part = coverage_of(mixed);
  CHECK_FALSE(part.low());
  CHECK(part.unnamed_share == Approx(1.0 / 14).margin(1e-9));
  CHECK(coverage_json(part)["unnamed"] == "step/(compiled: AOTInductor)");
}

TEST_CASE("work of a thread without ranges has a cause of its own") {
  MadeTrace trace;
  const std::uint32_t step = trace.add_path("step"), part = trace.add_path("part", step);
  run(trace, part, 0);
  CHECK(coverage_of(trace).why == Uncovered::outside);

  MadeTrace threads;
  const std::uint32_t outer = threads.add_path("step");
  run(threads, threads.add_path("part", outer), 0);
  for (std::string& line : threads.lines) {  // launches outside of any range: of another thread
    const std::string own = "\"thread\":" + std::to_string(MadeTrace::kThread);
    const bool launch =
        line.find("\"t\":\"launch\"") != std::string::npos && line.find("\"path\":") == std::string::npos;
    if (launch) line.replace(line.find(own), own.size(), "\"thread\":99");
  }
  CHECK(coverage_of(threads).why == Uncovered::threads);
}

}  // namespace
}  // namespace rangefinder
