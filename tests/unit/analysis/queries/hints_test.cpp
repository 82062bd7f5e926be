// SPDX-License-Identifier: Apache-2.0
//
// A hint says why a number is missing, and never recommends what the run already had.
#include "tools/analysis/queries/hints.h"

#include "tests/catch.h"
#include "tests/unit/analysis/sampling/made_samples.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

TEST_CASE("work without bytes: the hint fits the counters of the run") {
  CHECK(no_bytes_hint({"off", false}) == "not measured: record with --counters sampled");
  CHECK(no_bytes_hint({"refused", false}) == "not measured");
  CHECK(no_bytes_hint({"sampled", false}) == "not measured: no hardware sample was taken");
  CHECK(no_bytes_hint({"sampled", false, "GPU lost"}) ==
        "not measured: no hardware sample was taken: GPU lost");
  CHECK(no_bytes_hint({"sampled", true}) == "not measured: no hardware sample overlaps it");
  CHECK(no_bytes_hint({"exact", false}).find("--counters") == std::string::npos);
}

TEST_CASE("an option names only what the run did not have") {
  CHECK(bytes_option({"off", false}) == "--counters sampled or exact");
  CHECK(bytes_option({"sampled", false}) == "hardware samples, of which none was taken");
  CHECK(bytes_option({"sampled", true}) == "hardware samples that overlap its work");
  CHECK(bytes_option({"exact", false}) == "--metrics bytes");
  CHECK(metrics_option({"sampled", true}, "memory") == "--counters exact --metrics memory");
  CHECK(metrics_option({"exact", false}, "memory") == "--metrics memory");
  CHECK(no_layers_hint(true).find("--torch-modules") == std::string::npos);
}

/// `noise` is the part of `error` that falls with a longer run.
SampleNeed need(std::uint64_t samples, double bytes, double error, double noise, double min_run = 1) {
  SampleNeed out;
  out.samples = samples;
  out.bytes = bytes;
  out.error = error;
  out.noise = noise;
  out.min_run = min_run;
  return out;
}

TEST_CASE("a longer run is recommended if the error bound falls below the bytes") {
  CHECK(few_samples_hint(need(3, 100, 430, 400)) ==
        "too few samples overlap it: 3; run at least 33 times longer");
  CHECK(few_samples_hint(need(3, 100, 101, 90)) ==
        "too few samples overlap it: 3; run at least 2 times longer");
  CHECK(few_samples_hint(need(30, 100, 300, 0, 17.1)) ==
        "too few samples overlap it: 30; run at least 18 times longer");
}

TEST_CASE("no longer run is recommended if the bound does not fall") {
  CHECK(few_samples_hint(need(1'381, 100, 430, 300)) ==
        "the error bound is above 100 % of it, with 1,381 hardware samples");
  CHECK(few_samples_hint(need(3, 100, 100'000, 100'000 - 1)) ==
        "the error bound is above 100 % of it, with 3 hardware samples");
  CHECK(few_samples_hint(need(0, 0, 10, 0)) == "no hardware sample overlaps it");
}

TEST_CASE("the remark of a table has the samples of its rows, and the runs that may show them") {
  NoNumbers rows;
  CHECK(rows.remark().empty());
  rows.add(need(0, 0, 10, 0), "");
  CHECK(rows.remark() == "–: the error bound is above 100 % of the value.\n");
  rows.add(need(3, 100, 430, 400), kTooShort);
  CHECK(rows.remark() ==
        "–: the error bound is above 100 % of the value. too short: too few samples overlap that work (3). A "
        "run "
        "at least 33 times longer may show it.\n");
  rows.add(need(40, 100, 290, 200), kTooShort);
  rows.add(need(90, 100, 210, 200), kTooShort);
  rows.add(need(5, 100, 210, 200), kInseparable);
  CHECK(rows.remark() ==
        "–: the error bound is above 100 % of the value. too short: too few samples overlap that work (3 to "
        "90). A "
        "run at least 5 times longer may show the first of these rows, one 33 times longer 2 of 3. "
        "inseparable: it "
        "always runs beside the same other work.\n");
}

/// Of a path in a run of N iterations: a light kernel (path 2) between heavy ones.
SampleNeed need_of(std::uint32_t path, int iterations) {
  const std::vector<MadeKernel> kernels{{1, 1, 15'000, {3'000, 1'000, 4'500}, 1'000, 0.2},
                                        {2, 2, 3'000, {130, 60, 300}, 500, 0},
                                        {3, 3, 10'000, {2'000, 1'500, 5'000}, 500, -0.2}};
  const MadeSettings settings;
  MadeTrace made = MadeRun(kernels, settings).run(iterations);
  for (const std::uint32_t id : {3, 2, 1})
    made.lines.insert(made.lines.begin(), PathRecord{id, 0, 0, "path " + std::to_string(id)});
  const TraceTotals trace;
  const RowValues values(trace, sampled_totals(made.lines));
  PathTotals row;
  row.path = path;
  SampleNeed out;
  out.add(values, row);
  return out;
}

TEST_CASE("in a run four times as long the noise of a fitted path is half as large, relative to its bytes") {
  const SampleNeed once = need_of(2, 800), four = need_of(2, 3'200);

  CHECK(static_cast<double>(four.samples) / static_cast<double>(once.samples) == Approx(4).epsilon(0.05));
  CHECK(four.noise / four.bytes == Approx(0.5 * once.noise / once.bytes).epsilon(0.2));
}

TEST_CASE("a run is fitted if it is longer by the factor that the hint of a short run has") {
  const SampleNeed few = need_of(2, 20);

  REQUIRE(few.run());
  CHECK(*few.run() == Approx(10).margin(1));
  CHECK(need_of(2, static_cast<int>(1.1 * 20 * *few.run())).min_run == 1);
}

}  // namespace
