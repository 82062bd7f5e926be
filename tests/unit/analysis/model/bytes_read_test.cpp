// SPDX-License-Identifier: Apache-2.0
//
// Sections and comparisons read the files of a trace once.
#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/model/bytes_read.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/analysis/model/trace_rows.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/diff/kernel_comparison.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/read_progress.h"
#include "tools/analysis/report/run_summary.h"
#include "tools/analysis/report/section_kinds.h"
#include "tools/analysis/validate/summary_rewrite.h"
#include "tools/analysis/validate/validation.h"
#include "tools/export/export_format.h"

namespace rangefinder::bytes_read_test {
namespace {

using test::check_once;
using test::golden;

constexpr const char* kRecordings[]{"rtdetr_unfused", "multi_stream", "decoder_exact"};
void read_section(const std::string& section, const std::filesystem::path& folder,
                  const SectionView& view = {}, const SelectionOptions& selected = {}) {
  const test::SectionRun run(section, folder, view, selected);
  CHECK_FALSE(run.tables.empty());
}

/// A part of the names of the kernels of each recording.
SelectionOptions any_kernel() {
  SelectionOptions out;
  out.kernel = "e";
  return out;
}

}  // namespace

TEST_CASE("each section reads a trace once") {
  for (const char* const recording : kRecordings) {
    for (const SectionKind& kind : section_kinds()) {
      const std::string section(kind.name);
      CAPTURE(recording, section);
      const bool one_kernel = section == "kernel";
      SectionView view;
      view.name = one_kernel ? "e" : "";
      view.kernels_only = one_kernel;
      const SelectionOptions selected = one_kernel ? any_kernel() : SelectionOptions();

      check_once(golden(recording), [&] { read_section(section, golden(recording), view, selected); });
    }
  }
}

TEST_CASE("the sum of --total reads a trace once") {
  for (const char* const recording : kRecordings) {
    CAPTURE(recording);
    SectionView view;
    view.total = true;

    check_once(golden(recording), [&] { read_section("modules", golden(recording), view); });
  }
}

TEST_CASE("sections of a selection read a trace once") {
  SelectionOptions window, iterations;
  window.window.first = 1'000'000;
  iterations.iterations.first = 1;
  for (const char* const section : {"modules", "kernels", "gpu", "idle", "launches", "sync", "memory"}) {
    CAPTURE(section);
    const auto folder = golden("rtdetr_unfused");

    check_once(folder, [&] { read_section(section, folder, {}, window); });
    check_once(folder, [&] { read_section(section, folder, {}, iterations); });
  }
}

TEST_CASE("the check for captures reads a trace once") {
  SectionView view;
  view.check = true;
  check_once(golden("decoder_exact"), [&] { read_section("graphs", golden("decoder_exact"), view); });
}

TEST_CASE("the summary, the findings and what `run` shows of a trace take one reading") {
  for (const char* const recording : kRecordings) {
    CAPTURE(recording);
    const test::TemporaryFolder copy;
    std::filesystem::copy(golden(recording), copy.path(), std::filesystem::copy_options::recursive);
    test::write_file(copy.path() / "summary.json", "{}");
    std::string text;

    check_once(copy.path(), [&] {
      static_cast<void>(complete_summary(copy.path(), kMaxBytesToRead, [&](auto& trace, const auto& of) {
        text = run_summary_text(trace.totals(), of, {});
      }));
    });
    CHECK_FALSE(text.empty());
  }
}

TEST_CASE("sections of a sampled trace read it once, as its header announces the samples", "[.large]") {
  const auto folder = golden("decoder_sampled");

  check_once(folder, [&] { read_section("modules", folder); });
}

TEST_CASE("a comparison reads each side once") {
  for (const char* const recording : kRecordings) {
    CAPTURE(recording);
    const auto load = [&] {
      const IterationSeries series = IterationSeries::load(open_trace_folder(golden(recording)), "", {});
      CHECK_FALSE(series.kernels.empty());
    };

    check_once(golden(recording), load);
  }
}

TEST_CASE("validate reads a trace once") {
  for (const char* const recording : kRecordings) {
    CAPTURE(recording);

    check_once(golden(recording),
               [&] { CHECK(validate_trace(open_trace_folder(golden(recording)), true).valid()); });
  }
}

TEST_CASE("two kernels of one trace are compared in one reading") {
  check_once(golden("rtdetr_unfused"), [] {
    CHECK_THROWS_AS(compare_kernels(open_trace_folder(golden("rtdetr_unfused")), "none", "none"), Missing);
  });
}

TEST_CASE("exports of sums read a trace once, others twice") {
  const test::TemporaryFolder out;
  for (const ExportFormat& format : export_formats()) {
    CAPTURE(format.name);
    const bool sums = format.name == "prometheus" || format.name == "speedscope";
    ExportRequest request;
    request.traces = {open_trace_folder(golden("decoder_exact"))};
    request.out = out.path() / format.name;

    CHECK(test::bytes_read([&] { static_cast<void>(format.write(request)); }).passes == (sums ? 1 : 2));
  }
}

}  // namespace rangefinder::bytes_read_test
