// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/sample_queue.h"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "schema/write_line.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

/// A record of `samples` samples on `gpu`; some columns are empty.
SamplesRecord record_of(std::uint32_t gpu, std::size_t samples) {
  SamplesRecord record;
  record.gpu = gpu;
  record.runs.push_back(
      {5, 5 + 100 * static_cast<std::int64_t>(samples), static_cast<std::uint32_t>(samples)});
  for (std::size_t column = 0; column < kSampleColumns; column += 2) {
    for (std::size_t i = 0; i < samples; ++i)
      record.columns[column].push_back(static_cast<std::uint32_t>(1000 * column + i + gpu));
  }
  record.idle_samples = gpu + 7;
  record.idle_units[kSampleL2] = 11 * gpu;
  return record;
}

SamplingRecord change_of(std::uint32_t gpu) {
  SamplingRecord record;
  record.gpu = gpu;
  record.interval_ns = 20'000;
  record.columns = {"dram_read", "l2"};
  record.reason = "start";
  return record;
}

template <typename Record>
std::string line_of(const Record& record) {
  std::string line;
  write_line(line, record);
  return line;
}

std::vector<std::string> taken_from(SampleQueue& queue) {
  std::vector<std::string> lines;
  queue.take([&](const PmRecord& record) {
    std::visit([&](const auto& one) { lines.push_back(line_of(one)); }, record);
  });
  return lines;
}

}  // namespace

TEST_CASE("records come out unchanged and in order") {
  SampleQueue queue;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> expected;
    const auto push = [&](const auto& record) {
      CHECK(queue.push(record));
      expected.push_back(line_of(record));
    };
    push(change_of(1));
    push(record_of(1, 500));
    push(record_of(2, 3));
    push(change_of(2));
    push(record_of(0, 0));
    push(record_of(2, 77));

    CHECK(taken_from(queue) == expected);
    CHECK(taken_from(queue).empty());
  }
}

TEST_CASE("a full queue refuses records and keeps those it has") {
  SampleQueue queue;
  for (std::size_t i = 0; i < SampleQueue::kMaxRecords; ++i)
    REQUIRE(queue.push(record_of(static_cast<std::uint32_t>(i), i % 40)));
  CHECK_FALSE(queue.push(record_of(0, 1)));
  CHECK_FALSE(queue.push(change_of(0)));

  const std::vector<std::string> lines = taken_from(queue);
  REQUIRE(lines.size() == SampleQueue::kMaxRecords);
  for (std::size_t i = 0; i < lines.size(); ++i)
    REQUIRE(lines[i] == line_of(record_of(static_cast<std::uint32_t>(i), i % 40)));
  CHECK(queue.push(record_of(0, 1)));
  CHECK(taken_from(queue).size() == 1);
}

TEST_CASE("after a throwing sink no record is delivered twice") {
  SampleQueue queue;
  CHECK(queue.push(record_of(1, 5)));
  CHECK(queue.push(record_of(2, 5)));
  CHECK_THROWS_AS(queue.take([](const PmRecord&) { throw std::runtime_error("no"); }), std::runtime_error);
  CHECK(taken_from(queue).empty());
  CHECK(queue.push(record_of(3, 5)));
  CHECK(taken_from(queue) == std::vector{line_of(record_of(3, 5))});
}

TEST_CASE("several threads push while one takes, and each thread's records stay in order") {
  SampleQueue queue;
  constexpr std::uint32_t kThreads = 3, kRecords = 800;
  std::vector<std::thread> threads;
  for (std::uint32_t gpu = 0; gpu < kThreads; ++gpu) {
    threads.emplace_back([&queue, gpu] {
      for (std::uint32_t i = 0; i < kRecords; ++i) {
        SamplesRecord record = record_of(gpu, i % 20);
        record.idle_samples = i;
        while (!queue.push(record)) std::this_thread::yield();
      }
    });
  }
  std::vector<std::uint64_t> next(kThreads);
  std::size_t taken = 0, out_of_order = 0;
  while (taken < kThreads * kRecords) {
    queue.take([&](const PmRecord& record) {
      const auto& samples = std::get<SamplesRecord>(record);
      if (samples.idle_samples != next[samples.gpu]++) ++out_of_order;
      ++taken;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(out_of_order == 0);
}
