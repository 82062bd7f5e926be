// SPDX-License-Identifier: Apache-2.0
//
// Lines of GPU time over bytes: `report --section modules --fit`.
#include "tools/analysis/queries/byte_fit.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"

using namespace rangefinder;
using test::line_of;
using test::recorded;
using test::SectionRun;

namespace {

SectionView fit_view() {
  SectionView view;
  view.fit = true;
  return view;
}

/// A network of `blocks` blocks. A block takes 5 us and 1 us per kB of DRAM, and moves one kB more than the
/// one before it; `slow` takes 500 us longer. L2 bytes are the same for all. Called twice.
void write_blocks(test::TraceOnDisk& trace, std::uint32_t blocks, std::uint32_t slow) {
  Header header = test::header();
  header.counters = "exact";
  trace.lines = {line_of(header),
                 line_of(test::gpu()),
                 line_of(ContextRecord{1, 0, 7, false}),
                 line_of(test::kernel_name(1, "gemm(float*)")),
                 line_of(test::config(1)),
                 line_of(test::path(1, 0, "net"))};
  std::uint32_t correlation = 0;
  TimeNs at = 1'000;
  for (std::uint32_t i = 0; i < blocks; ++i)
    trace.lines.push_back(line_of(test::path(i + 2, 1, "net.blocks." + std::to_string(i))));
  for (int call = 0; call < 2; ++call) {
    const TimeNs begin = at;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const std::uint64_t bytes = 1'000 * (i + 1);
      const TimeNs ns = 5'000 + static_cast<TimeNs>(bytes) + (i == slow ? 500'000 : 0);
      ExactRecord exact;
      exact.launch = test::launch(++correlation, i + 2);
      exact.name = 1;
      exact.measured = true;
      exact.gpu_ns = static_cast<std::uint64_t>(ns);
      exact.dram_read_bytes = bytes;
      exact.l2_bytes = 4'096;
      trace.lines.push_back(line_of(exact));
      trace.lines.push_back(line_of(test::kernel(correlation, i + 2, at, at + ns)));
      trace.lines.push_back(line_of(test::range(correlation + 100, i + 2, at - 10, at + ns)));
      at += ns + 100;
    }
    trace.lines.push_back(line_of(test::range(50 + static_cast<std::uint64_t>(call), 1, begin - 20, at)));
  }
  trace.write();
}

}  // namespace

TEST_CASE("fit: slope, correlation and outlier of modules whose time follows their DRAM bytes") {
  test::TraceOnDisk trace;
  write_blocks(trace, 24, 3);

  const SectionRun run("modules", trace.folder.path(), fit_view());

  REQUIRE(run.table("byte_fit").rows.size() == 1);  // net and net/blocks are one module each
  run.check("byte_fit", 0U, {{"depth", 3}, {"modules", 24}, {"dram_outliers", 1}, {"l2_r", ""}});
  REQUIRE(run.table("byte_fit_outliers").rows.size() == 1);
  run.check("byte_fit_outliers", 0U,
            {{"path", "net/blocks/3"}, {"gpu_busy_ns", 509'000}, {"dram_bytes", 4'000}});
}

TEST_CASE("fit: without an outlier the line is exact, and a call is the unit") {
  test::TraceOnDisk trace;
  write_blocks(trace, 4, 99);

  const SectionRun run("modules", trace.folder.path(), fit_view());

  run.check("byte_fit", 0U, {{"dram_r", Approx(1)}, {"dram_us_per_mb", Approx(1'000)}});
  run.check("byte_fit", 0U, {{"dram_intercept_ns", Approx(5'000)}, {"dram_outliers", 0}});
  CHECK(run.table("byte_fit_outliers").rows.empty());
}

TEST_CASE("fit: a recorded run of kernels that only move bytes has the bandwidth of its DRAM as slope") {
  const SectionRun run("modules", recorded("known_bytes_exact"), fit_view());

  const SectionRun::Where sizes{{"depth", "3"}};
  run.check("byte_fit", sizes, {{"dram_bytes_per_s", Approx(4.108e12).epsilon(0.001)}});
  CHECK(run.number("byte_fit", sizes, "dram_r") > 0.99);
  CHECK(run.number("byte_fit", sizes, "l2_r") > 0.9);
}

TEST_CASE("fit: JSON has the lines and the outliers, and only with --fit") {
  test::TraceOnDisk trace;
  write_blocks(trace, 24, 3);
  const auto json_of = [&trace](const SectionView& view) {
    const SectionRun run("modules", trace.folder.path(), view);
    return run.made->json(run.input());
  };

  const nlohmann::ordered_json with = json_of(fit_view());

  CHECK(with.at("byte_fit").at(0).at("modules") == 24);
  CHECK(with.at("byte_fit_outliers").at(0).at("path") == "net/blocks/3");
  CHECK_FALSE(json_of({}).contains("byte_fit"));
}

TEST_CASE("fit: a trace without bytes has none") {
  const SectionRun run("modules", recorded("hf_rtdetr_trace"), fit_view());
  CHECK(run.table("byte_fit").rows.empty());
  CHECK(run.shown().find("No fit: ") != std::string::npos);
}
