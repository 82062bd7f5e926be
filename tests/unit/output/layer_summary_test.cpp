// SPDX-License-Identifier: Apache-2.0
//
// The layer report of the injected library, from its totals, is the one that the tools make of summary.json.
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/output/summary_tables.h"
#include "tools/rangefinder/layer_summary_reader.h"

using namespace rangefinder;
using namespace rangefinder::summary_tables;

namespace {

/// The report, after a check that both sides print the same bytes.
std::string report_of(const SummaryInput& input) {
  const std::string text = layer_report(layer_summary(input), {.folder = "trace"});
  const auto summary = nlohmann::json::parse(summary_json(input));
  CHECK(text == layer_report(read_layer_summary(summary), {.folder = "trace"}));
  return text;
}

}  // namespace

TEST_CASE("exact bytes, their error and their gaps are the same in the library's report and the tools'") {
  Tables tables;
  tables.path({1, 0, 0, "a\xff\n"});
  tables.path({2, 1, 0, "below"});
  tables.path({3, 0, 0, "unmeasured"});
  ExactRecord measured = exact(2, true);
  measured.gpu_ns = 1'000'000;
  measured.dram_read_bytes = 1'000'000'000;
  measured.dram_write_bytes = 258'291'200;
  tables.totals.add(measured);
  tables.totals.add(exact(1, false));
  tables.totals.add(exact(3, false));
  tables.totals.add(kernel(2, 0, 1'000'000, 1, 2));
  tables.totals.add(kernel(0, 0, 10, 1, 9));

  const std::string report = report_of(tables.input());

  CHECK(report.find("1.00 GB") != std::string::npos);
  CHECK(report.find("+: a lower bound") != std::string::npos);
  CHECK(report.find("(outside of any range)") != std::string::npos);
}

TEST_CASE("sampled bytes, losses and refused counters are the same in the library's report and the tools'") {
  Tables tables;
  tables.path({1, 0, 0, "model"});
  const KernelRecord record = kernel(1, 1000, 2500);
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
  input.header.counters_reason = "no\tpermission\xff";
  input.loss[static_cast<std::size_t>(Loss::records_corrupt)] = 4;
  input.loss[static_cast<std::size_t>(Loss::events_dropped)] = 5;

  const std::string report = report_of(input);

  CHECK(report.find("(unattributed)") != std::string::npos);
  CHECK(report.find("events_dropped") < report.find("records_corrupt"));
  CHECK(report.find("not measured: no?permission") != std::string::npos);
  CHECK(report.find("did not exit normally") != std::string::npos);
}
