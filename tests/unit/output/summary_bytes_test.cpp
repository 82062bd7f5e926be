// SPDX-License-Identifier: Apache-2.0
//
// Bytes in a summary: exact, estimated and sampled, with their error and rate.
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/output/summary_tables.h"

using namespace rangefinder;
using namespace rangefinder::summary_tables;
using Json = nlohmann::ordered_json;

TEST_CASE("a row holds its bytes, their carry-over, their rate and the number of unmeasured launches") {
  Tables tables;
  tables.path({1, 0, 0, "model"});
  RangeRecord range;
  range.path = 1;
  tables.totals.add(range);
  ExactRecord measured = exact(1, true);
  measured.gpu_ns = 1'000'000;
  measured.dram_read_bytes = 1'000'000'000;
  measured.dram_write_bytes = 258'291'200;  // the sum is 20 times the L2 size
  tables.totals.add(measured);
  tables.totals.add(exact(1, false));

  const Json row = tables.json()["modules"][0];

  CHECK(row["carry_over_bytes"] == 62'914'560);
  CHECK_FALSE(row.contains("bytes_error_pct"));
  CHECK_FALSE(row.contains("dram_write_error_pct"));
  CHECK(row["measured_launches"] == 1);
  CHECK(row["launches"] == 2);
  CHECK(row["unmeasured_launches"] == 1);
  CHECK(row["dram_bytes_per_s"] == 1'258'291'200'000);
  CHECK(row["dram_peak_share"] == 0.2559);
  CHECK_FALSE(row.contains("limiter"));
  CHECK_FALSE(row.contains("bytes_estimated"));
}

TEST_CASE("metric sets that take turns give estimates, metrics and the names of missing sets") {
  Tables tables;
  tables.path({1, 0, 0, "model"});
  tables.path({2, 0, 0, "once"});
  const MetricSetRecord set{3, "stalls", {"smsp__waits.sum"}};
  tables.totals.add(set);
  tables.totals.add(exact(1, true));
  ExactRecord other = exact(1, true);
  other.metric_set = 3;
  other.has_bytes = false;
  other.values = {12};
  tables.totals.add(other);
  other.launch.host.path = 2;
  tables.totals.add(other);

  const Json summary = tables.json();
  const Json model = summary["modules"][0], once = summary["modules"][1];

  CHECK(model["l2_bytes"] == 128);
  CHECK(model["bytes_estimated"] == true);
  CHECK(model.contains("l2_error_pct"));
  CHECK_FALSE(model.contains("bytes_error_pct"));
  CHECK(model["launches"] == 2);
  CHECK(model["metrics"].dump() == R"({"smsp__waits.sum":{"value":24.0,"n":1,"mean":12.0,"stddev":0.0}})");
  CHECK_FALSE(model.contains("missing_sets"));
  CHECK_FALSE(once.contains("l2_bytes"));
  CHECK(once["missing_sets"].dump() == R"(["bytes"])");
  CHECK(summary["metric_sets"].dump() == R"([{"id":3,"name":"stalls","metrics":["smsp__waits.sum"]}])");
}

TEST_CASE("live sampled bytes are marked, have an error, and unattributed bytes are reported") {
  Tables tables;
  tables.path({1, 0, 0, "model"});
  const KernelRecord record = kernel(1, 1000, 2000);
  tables.totals.add(record);
  SampleSharing samples;
  samples.add(record);
  SamplesRecord line;
  line.runs = {{0, 2000, 2}};
  for (const auto column : {kSampleDramRead, kSampleDramWrite, kSampleL2}) line.columns[column] = {1, 5};
  samples.add(line);
  samples.finish();
  SummaryInput input = tables.input();
  input.samples = &samples;

  const Json summary = Json::parse(summary_json(input));

  CHECK(summary["modules"][0]["dram_read_bytes"] == 160);
  CHECK(summary["modules"][0]["bytes_source"] == "sampled");
  CHECK_FALSE(summary["modules"][0].contains("carry_over_bytes"));
  CHECK(summary["live"] == true);
  CHECK(summary["modules"][0]["bytes_error_pct"] > 0);
  CHECK_FALSE(summary["modules"][0].contains("measured_launches"));
  CHECK(summary["samples"]["method"]["l2_bytes"] == "live");
  CHECK(summary["samples"]["all"]["l2_bytes"] == 192);
  CHECK(summary["samples"]["unattributed"]["l2_bytes"] == 32);
  CHECK_FALSE(summary["outside"].contains("bytes_source"));
}
