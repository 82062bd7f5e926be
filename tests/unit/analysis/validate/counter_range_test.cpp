// SPDX-License-Identifier: Apache-2.0
//
// Counter ranges and metric sets in a trace: problems that `validate` finds, and the module table.
#include "tests/unit/analysis/queries/module_text.h"
#include "tests/unit/analysis/validate/validated.h"
#include "tests/unit/base/text_parts.h"

using namespace rangefinder;
using test::check;
using test::line_of;
using test::only_kind;
using test::TraceOnDisk;

namespace {

ExactRecord sharing(std::uint32_t correlation, WorkKind kind, std::uint64_t number) {
  ExactRecord out;
  out.launch = test::launch(correlation, 2, 2);
  out.kind = kind;
  out.name = kind == WorkKind::kernel ? 1 : 0;
  out.counter_range = number;
  return out;
}

ExactRecord counter_range(std::uint64_t number, std::uint32_t launches, std::uint32_t kernels) {
  ExactRecord out;
  out.launch.host = {200, 300, 4711, 2, 2};
  out.is_counter_range = true;
  out.counter_range = number;
  out.launches = launches;
  out.kernels = kernels;
  out.measured = true;
  out.gpu_ns = 1'000;
  out.dram_read_bytes = 1'800'000'000;
  out.dram_write_bytes = 600'000'000;
  out.l2_bytes = 4'800'000'000;
  return out;
}

// A kernel and a memset that share range 9, the kernel's record, and an end line that counts them.
struct RangeTrace : TraceOnDisk {
  std::vector<std::string> exact{line_of(sharing(3, WorkKind::kernel, 9)), line_of(counter_range(9, 2, 1)),
                                 line_of(sharing(4, WorkKind::memset, 9))};
  std::uint64_t kernels = 1;
  EndRecord end = test::end_record();
  std::vector<std::string> records{line_of(test::kernel(3, 2, 5'000, 5'500, 2))};

  const TraceOnDisk& done() {
    for (const std::string& line : records) lines[kRange2] = line + lines[kRange2];
    for (const std::string& line : exact) lines[kRange2] = line + lines[kRange2];
    end.records[0].second += records.size();
    end.records.emplace_back("exact", exact.size());
    end.balance[0] = {2 + kernels, 2, kernels, 0};
    end.balance[2] = {1, 0, 1, 0};
    lines[kFlush].clear();
    return ended();
  }
  const TraceOnDisk& ended() {
    lines[kEnd] = line_of(end);
    return *this;
  }
};

}  // namespace

TEST_CASE("launches that share a counter range and its line are valid, in any order") {
  RangeTrace trace;
  SECTION("range between its launches") {}
  SECTION("range first") {
    std::swap(trace.exact[0], trace.exact[1]);
  }

  const Validation result = check(trace.done(), true);

  INFO(test::shown(result));
  CHECK(result.valid());
}

TEST_CASE("a wrong count of a counter range is found, and no other problem") {
  // More launches than there are, fewer, another number of kernels, more of them than launches.
  for (const auto& [launches, kernels] :
       {std::pair(3u, 1u), std::pair(1u, 1u), std::pair(2u, 2u), std::pair(2u, 3u)}) {
    CAPTURE(launches, kernels);
    RangeTrace wrong;
    wrong.exact[1] = line_of(counter_range(9, launches, kernels));
    CHECK(only_kind(check(wrong.done())) == "exact");
  }
  RangeTrace trace;
  std::string expected = "exact";
  SECTION("a launch of a range that no line describes") {
    trace.exact.push_back(line_of(sharing(5, WorkKind::kernel, 77)));
    trace.records.push_back(line_of(test::kernel(5, 2, 6'000, 6'500, 2)));
    trace.kernels = 2;
  }
  SECTION("a range described twice") {
    trace.exact.push_back(line_of(counter_range(9, 2, 1)));
    expected = "duplicate-id";
  }
  SECTION("a range whose launches are not in the ledger") {
    trace.kernels = 0;
    expected = "ledger";
  }

  CHECK(only_kind(check(trace.done())) == expected);
}

TEST_CASE("an exact kernel without a kernel line is found, unless the ledger counts it") {
  RangeTrace trace;
  trace.records.clear();
  CHECK(only_kind(check(trace.done())) == "correlation");
  std::uint64_t& lost = trace.end.loss[static_cast<std::size_t>(Loss::launch_without_record)];
  lost = 1;
  CHECK(only_kind(check(trace.ended())).empty());
  lost = 3;  // only two launches count as exact
  CHECK(only_kind(check(trace.ended())) == "ledger");
}

TEST_CASE("an undefined metric set, or one with too few values, is found") {
  const auto found = [](const std::vector<double>& values, const std::string& before) {
    RangeTrace trace;
    ExactRecord exact = counter_range(9, 2, 1);
    exact.metric_set = 1;
    exact.values = values;
    trace.exact[1] = before + line_of(exact);
    return only_kind(check(trace.done()));
  };
  const std::string set = line_of(MetricSetRecord{1, "stalls", {"a.sum", "b.ratio"}});
  CHECK(found({1, 2}, set) == "");
  CHECK(found({1, 2}, "") == "unknown-id");
  CHECK(found({1}, set) == "exact");
}

TEST_CASE("the module table counts each kernel once and marks partly measured modules") {
  RangeTrace trace;
  const TraceTotals totals = test::written_totals(trace.done());

  CHECK(totals.kernels == 3);
  CHECK(totals.totals.paths().at(0).kernels == 3);
  // Two kernels of the trace were not measured; 60 MB of L2 are below 10 % of 2.4 GB: no mark.
  test::check_has(
      test::module_text(trace),
      {"1.80 GB+", " 60.0 MB", "+: lower bound; some launches of that module were not measured."});
  test::check_lacks(test::module_text(trace), {"†", "±"});
}

TEST_CASE("a fully measured module has no mark") {
  RangeTrace trace;
  for (const int line :
       {TraceOnDisk::kLaunch1, TraceOnDisk::kKernel1, TraceOnDisk::kLaunch2, TraceOnDisk::kKernel2})
    trace.lines[line].clear();
  const std::string text = test::module_text(trace.done());

  test::check_has(text, {"1.80 GB ", "500 ns"});
  test::check_lacks(text, {"+"});
}

TEST_CASE("a range that is not exclusive is marked") {
  RangeTrace trace;
  ExactRecord shared = counter_range(9, 2, 1);
  shared.exclusive = false;
  trace.exact[1] = line_of(shared);
  test::check_has(test::module_text(trace.done()), {"layer/0 * ", "*: includes bytes of other threads"});
}

TEST_CASE("truth that contradicts the copies of the trace is found") {
  RangeTrace trace;
  trace.end.truth = {1, 2 * kTruthMinBytes, 2 * kTruthMinBytes};

  CHECK(only_kind(check(trace.done())) == "truth");
}
