// SPDX-License-Identifier: Apache-2.0
//
// The late rank and its cause in recorded jobs: slow_rank.py of tests/gpu on two H200s, 2026-11-29.
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/ranks/read_job.h"

namespace rangefinder {
namespace {
using namespace test;

ReadJob recorded_job(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(RANGEFINDER_TEST_JOBS) / name;
  return ReadJob({folder / "rank=0", folder / "rank=1"});
}

/// What the program printed: the late rank, and what it did more, as it measured itself.
struct Truth {
  const char* job;
  std::size_t rank;
  LateCause cause;
  const char* module;
  double ms;
};

TEST_CASE("the late rank of a recorded job is named with its cause, module and milliseconds") {
  const std::vector<Truth> jobs{{"host", 1, LateCause::host, "step/data", 8.095},
                                {"backward_host", 0, LateCause::host, "step/backward", 8.100},
                                {"loader", 1, LateCause::host, "", 8.087},
                                {"copies", 0, LateCause::copies, "step/data", 4.595},
                                {"launches", 1, LateCause::launching, "step/forward/extra", 15.308}};
  for (const Truth& truth : jobs) {
    CAPTURE(truth.job);
    const ReadJob job = recorded_job(truth.job);

    REQUIRE(job->compared.stragglers.size() == 1);
    const Straggler& late = job->compared.stragglers.front();
    CHECK(late.rank == truth.rank);
    CHECK(key_of(late.cause) == key_of(truth.cause));
    CHECK(late.module == truth.module);
    CHECK(std::abs(late.excess_ns / 1e6 - truth.ms) < 0.15 * truth.ms);
    CHECK(late.made_wait_ns <= late.excess_ns);
    CHECK(straggler_lines(*job).starts_with("Rank " + std::to_string(truth.rank) + " makes the other wait "));
  }
}

TEST_CASE("where no rank does more than the other, none is late") {
  const ReadJob job = recorded_job("none");

  CHECK(job->compared.stragglers.empty());
  CHECK(straggler_lines(*job).starts_with("No rank is late: communication itself takes "));
  CHECK(lateness_lines(*job, 110).empty());
}

TEST_CASE("the table of modules has own times, and each module below its own parent") {
  const ReadJob job = recorded_job("host");
  const Table table = job_module_table(*job, 0, true);

  std::vector<std::string> paths;
  for (const auto& row : table.rows) paths.push_back(std::get<std::string>(row[0].value));
  CHECK(paths == std::vector<std::string>{"step", "step/data", "step/forward", "step/forward/layers",
                                          "step/forward/layers/*", "step/forward/layers/*/attention",
                                          "step/forward/layers/*/mlp", "step/backward", "step/optimizer",
                                          "(outside of any range)"});
  const auto& data = table.rows[1];
  CHECK(std::get<std::string>(data[8].value) == "rank 1");  // host code: it sleeps there
  CHECK(data[5].empty());                                   // its GPU times are alike
}

}  // namespace
}  // namespace rangefinder
