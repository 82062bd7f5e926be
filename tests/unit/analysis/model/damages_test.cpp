// SPDX-License-Identifier: Apache-2.0
//
// What the readers report for each trace of the corpus in damages.h.
#include "tests/unit/analysis/model/damages.h"

#include "tests/catch.h"
#include "tests/unit/analysis/model/read_once.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/validate/salvage.h"
#include "tools/analysis/validate/validation.h"

using namespace rangefinder;
using damages::Damage;
using damages::kDamages;
using test::TraceOnDisk;

namespace {

struct Counter {
  Judge judge = Judge::reader;
  std::uint64_t kernels = 0, faults = 0;
};

TraceFolder damaged_files(const TraceOnDisk& trace) {
  return open_trace_folder(trace.folder.path());
}

ReadSummary read(const TraceOnDisk& trace, Counter& counter) {
  LineReader reader;
  return read_lines(
      damaged_files(trace), reader,
      [&](const Line& line, const LinePlace&) {
        counter.kernels += std::holds_alternative<KernelRecord>(line) ? 1 : 0;
      },
      [&](const std::string&, const LinePlace&) { ++counter.faults; }, counter.judge);
}

/// The message of a report: damage that it notes, or the sentence with which it refuses the trace.
std::string reported(const TraceOnDisk& trace) {
  try {
    return test::load_totals(damaged_files(trace)).read.damage;
  } catch (const Missing& error) {
    return error.what();
  }
}

/// The kinds of problems that validate finds, in the form of Damage::problems.
std::string found_problems(const TraceOnDisk& trace) {
  std::string kinds;
  try {
    const Validation found = validate_trace(damaged_files(trace), false);
    for (const auto& [kind, count] : found.problems.by_kind()) kinds += (kinds.empty() ? "" : ", ") + kind;
  } catch (const Missing&) {
    return "unreadable";
  }
  return kinds;
}

const Damage& damage(std::string_view name) {
  return *std::find_if(kDamages.begin(), kDamages.end(),
                       [name](const Damage& one) { return one.name == name; });
}

}  // namespace

TEST_CASE("validate finds the damage of each trace, and no other problem") {
  for (const Damage& damage : kDamages) {
    CAPTURE(damage.name);
    TraceOnDisk trace;
    make_damaged(damage, trace);

    CHECK(found_problems(trace) == damage.problems);
  }
}

TEST_CASE("salvage makes each damaged trace valid, or refuses it and leaves no files") {
  for (const Damage& damage : kDamages) {
    CAPTURE(damage.name);
    TraceOnDisk trace;
    make_damaged(damage, trace);
    const test::TemporaryFolder beside;
    const std::filesystem::path place = beside.path() / "whole";

    bool done = false;
    try {
      done = salvage_trace(damaged_files(trace), place).done;
    } catch (const Missing&) {
    }

    if (done) CHECK(validate_trace(open_trace_folder(place), true).valid());
    CHECK(std::filesystem::is_empty(beside.path()) == !done);
  }
}

TEST_CASE("only a caller that judges receives a line that ends before it starts") {
  TraceOnDisk trace;
  make_damaged(damage("kernel ends before its start"), trace);
  Counter reports, judges{Judge::caller};

  CHECK(read(trace, reports).broken == 1);
  CHECK((reports.kernels == 1 && reports.faults == 1));
  CHECK(read(trace, judges).broken == 0);
  CHECK(judges.kernels == 2);
}

TEST_CASE("a caller that judges receives the segments of two processes") {
  TraceOnDisk trace;
  make_damaged(damage("two traces in one folder"), trace);
  Counter judges{Judge::caller};

  CHECK(read(trace, judges).broken == 0);
}

TEST_CASE("a cut segment before others is marked as torn inside") {
  TraceOnDisk trace;
  make_damaged(damage("cut segment before others"), trace);
  Counter counter;

  CHECK(read(trace, counter).torn_inside);
}

TEST_CASE("a segment that was dropped to save space is no damage") {
  TraceOnDisk trace;
  trace.change_end([](EndRecord& end) { end.loss[static_cast<std::size_t>(Loss::lines_over_max_size)] = 9; });
  trace.write();
  damages::write_segment(trace, 2);

  CHECK(reported(trace).empty());
}

TEST_CASE("a line without an end is not read into memory as a whole") {
  const TraceOnDisk trace;
  trace.write();
  std::filesystem::resize_file(trace.segment(), std::uintmax_t{1} << 40);  // sparse: takes no space

  CHECK(reported(trace).find(":15: the line is longer than 64 MiB") != std::string::npos);
}
