// SPDX-License-Identifier: Apache-2.0
//
// Counter ranges and metric sets in a trace: problems that `validate` finds, and the module table.
#include <functional>

#include "tests/catch.h"
#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tests/unit/analysis/validate/validated.h"
#include "tools/analysis/tables/module_table.h"

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

MetricSetRecord metric_set() {
  return {1, "stalls", {"a.sum", "b.ratio"}};
}

// A kernel and a memset that share range 9, the kernel's record, and an end line that counts them.
struct RangeTrace : TraceOnDisk {
  std::vector<std::string> exact{line_of(sharing(3, WorkKind::kernel, 9)), line_of(counter_range(9, 2, 1)),
                                 line_of(sharing(4, WorkKind::memset, 9))};
  std::uint64_t kernels = 1;
  std::vector<std::string> records{line_of(test::kernel(3, 2, 5'000, 5'500, 2))};

  const TraceOnDisk& done() {
    for (const std::string& line : records) lines[kRange2] = line + lines[kRange2];
    for (const std::string& line : exact) lines[kRange2] = line + lines[kRange2];
    EndRecord end = test::end_record();
    end.records[0].second += records.size();
    end.records.emplace_back("exact", exact.size());
    end.balance[0] = {2 + kernels, 2, kernels, 0};
    end.balance[2] = {1, 0, 1, 0};
    lines[kEnd] = line_of(end);
    lines[kFlush].clear();
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
  RangeTrace trace;
  std::string expected = "exact";
  SECTION("more launches than there are") {
    trace.exact[1] = line_of(counter_range(9, 3, 1));
  }
  SECTION("fewer launches than there are") {
    trace.exact[1] = line_of(counter_range(9, 1, 1));
  }
  SECTION("another number of kernels") {
    trace.exact[1] = line_of(counter_range(9, 2, 2));
  }
  SECTION("more kernels than launches") {
    trace.exact[1] = line_of(counter_range(9, 2, 3));
  }
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
  trace.done();
  CHECK(only_kind(check(trace)) == "correlation");
  EndRecord end = test::end_record();
  end.records.emplace_back("exact", 3);
  end.balance[0] = {3, 2, 1, 0};
  end.balance[2] = {1, 0, 1, 0};
  end.loss[static_cast<std::size_t>(Loss::launch_without_record)] = 1;
  trace.lines[TraceOnDisk::kEnd] = line_of(end);
  CHECK(only_kind(check(trace)).empty());
  end.loss[static_cast<std::size_t>(Loss::launch_without_record)] = 3;  // only two launches count as exact
  trace.lines[TraceOnDisk::kEnd] = line_of(end);
  CHECK(only_kind(check(trace)) == "ledger");
}

TEST_CASE("an undefined metric set, or one with too few values, is found") {
  RangeTrace trace;
  ExactRecord exact = counter_range(9, 2, 1);
  exact.metric_set = 1;
  exact.values = {1, 2};
  trace.exact[1] = line_of(metric_set()) + line_of(exact);
  std::string expected;
  SECTION("defined, with its values") {}
  SECTION("not defined") {
    trace.exact[1] = line_of(exact);
    expected = "unknown-id";
  }
  SECTION("too few values") {
    exact.values.pop_back();
    trace.exact[1] = line_of(metric_set()) + line_of(exact);
    expected = "exact";
  }

  CHECK(only_kind(check(trace.done())) == expected);
}

TEST_CASE("the module table counts each kernel once and marks partly measured modules") {
  RangeTrace trace;
  trace.done().write();
  const TraceTotals totals = load_trace(open_trace_folder(trace.folder.path()));

  const std::string text = module_table(totals, load_row_values(totals), {}, {0, false});

  INFO(text);
  CHECK(totals.kernels == 3);
  CHECK(totals.totals.paths().at(0).kernels == 3);
  CHECK(text.find("1.80 GB+") != std::string::npos);  // two kernels of the trace were not measured
  CHECK(text.find("2.5 %") != std::string::npos);     // 60 MB of L2, of 2.4 GB
  CHECK(text.find("+: lower bound; some launches of that module were not measured.") != std::string::npos);
}

TEST_CASE("a fully measured module has no mark") {
  RangeTrace trace;
  for (const int line :
       {TraceOnDisk::kLaunch1, TraceOnDisk::kKernel1, TraceOnDisk::kLaunch2, TraceOnDisk::kKernel2})
    trace.lines[line].clear();
  trace.done().write();
  const TraceTotals totals = load_trace(open_trace_folder(trace.folder.path()));

  const std::string text = module_table(totals, load_row_values(totals), {}, {0, false});

  INFO(text);
  CHECK(text.find("1.80 GB ") != std::string::npos);
  CHECK(text.find('+') == std::string::npos);
  CHECK(text.find("500 ns") != std::string::npos);
}

TEST_CASE("a range that is not exclusive is marked") {
  RangeTrace trace;
  ExactRecord shared = counter_range(9, 2, 1);
  shared.exclusive = false;
  trace.exact[1] = line_of(shared);
  trace.done().write();
  const TraceTotals totals = load_trace(open_trace_folder(trace.folder.path()));

  const std::string text = module_table(totals, load_row_values(totals), {}, {0, false});

  CHECK(text.find("layer/0 * ") != std::string::npos);
  CHECK(text.find("*: includes bytes of other threads") != std::string::npos);
}

TEST_CASE("truth that contradicts the copies of the trace is found") {
  RangeTrace trace;
  trace.done();
  EndRecord end = test::end_record();
  end.records[0].second += 1;
  end.records.emplace_back("exact", 3);
  end.balance[0] = {3, 2, 1, 0};
  end.balance[2] = {1, 0, 1, 0};
  end.truth = {1, 2 * kTruthMinBytes, 2 * kTruthMinBytes};
  trace.lines[TraceOnDisk::kEnd] = line_of(end);

  CHECK(only_kind(check(trace)) == "truth");
}
