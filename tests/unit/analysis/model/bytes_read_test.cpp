// SPDX-License-Identifier: Apache-2.0
//
// Sections and comparisons read the files of a trace once.
#include <functional>
#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/read/read_progress.h"

namespace rangefinder::bytes_read_test {
namespace {

using test::golden;

constexpr const char* kRecordings[]{"rtdetr_unfused", "multi_stream", "decoder_exact"};
constexpr const char* kSections[]{"modules",    "kernels", "kernel",   "metrics",  "roofline", "idle",
                                  "gpu",        "streams", "launches", "memcpy",   "memory",   "sync",
                                  "iterations", "layers",  "loss",     "overhead", "monitor"};

struct BytesRead {
  std::uint64_t bytes = 0;   ///< of segments; if there is more than one pass, of the last
  std::uint64_t passes = 0;  ///< over the segments
};

BytesRead bytes_read(const std::function<void()>& query) {
  read_progress.begin(0);
  const std::uint64_t before = read_progress.passes();
  query();
  return {read_progress.done(), read_progress.passes() - before};
}

/// One pass, of at most 1 % more than the files have.
void check_once(const std::filesystem::path& folder, const std::function<void()>& query) {
  const auto size = static_cast<double>(bytes_of(open_trace_folder(folder)));
  const BytesRead read = bytes_read(query);
  CHECK(read.passes == 1);
  CHECK(static_cast<double>(read.bytes) >= size);
  CHECK(static_cast<double>(read.bytes) <= 1.01 * size);
}

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
    for (const std::string section : kSections) {
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

}  // namespace rangefinder::bytes_read_test
