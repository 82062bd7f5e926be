// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/drain_progress.h"

#include <string>
#include <thread>

#include "tests/catch.h"

using namespace rangefinder;

TEST_CASE("only the first request for the end counts, and an exit no longer waits for records") {
  DrainProgress progress;
  CHECK_FALSE(progress.ending());

  progress.request_end({"closed", 4711, 5000});
  CHECK(progress.ending());
  CHECK_FALSE(progress.exiting());
  progress.request_end({"exit"});

  CHECK(progress.exiting());
  CHECK(std::string(progress.end().reason) == "closed");
  CHECK(progress.end().window_end_ns == 4711);
}

TEST_CASE("a requested write is open until it is fulfilled, with the summary that was written") {
  DrainProgress progress;
  CHECK(progress.open_request() == 0);
  (void)progress.request_write();
  const std::uint64_t last = progress.request_write();

  REQUIRE(progress.open_request() == last);
  progress.update([&](DrainProgress::Snapshot& now) {
    now.records = 12;
    now.written = last;
    now.summary = "summary";
  });

  CHECK(progress.open_request() == 0);
  CHECK(progress.snapshot(true).written == last);
  CHECK(progress.snapshot(true).summary == "summary");
  CHECK(progress.snapshot(false).summary.empty());
  CHECK(progress.snapshot(false).records == 12);
}

TEST_CASE("a refusal is taken once, also without a reason") {
  DrainProgress progress;
  CHECK_FALSE(progress.take_refusal());

  progress.report_refusal("");

  CHECK(progress.take_refusal() == "");
  CHECK_FALSE(progress.take_refusal());
}

TEST_CASE("a thread that waits for the end is woken by it") {
  DrainProgress progress;
  std::thread drain([&progress] { progress.note_ended(); });

  progress.wait_until_ended(60'000);

  CHECK(progress.ended());
  drain.join();
}
