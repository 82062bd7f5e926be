// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_encoder.h"

#include <cmath>
#include <new>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr std::int64_t kStep = 20'000;

PmEncoder::Columns all_columns() {
  PmEncoder::Columns columns;
  columns.set();
  return columns;
}

struct Encoded {
  std::vector<SamplesRecord> records;
  PmEncoder encoder{3, all_columns(), [this](const SamplesRecord& record) { records.push_back(record); }};

  /// The n-th sample of a steady clock.
  void add(std::int64_t n, double dram_read, double engine) {
    PmSample sample;
    sample.start_ns = n * kStep;
    sample.end_ns = (n + 1) * kStep;
    sample.values[kSampleDramRead] = dram_read;
    sample.values[kSampleEngineActive] = engine;
    encoder.add(sample);
  }
};

std::uint64_t samples_in(const SamplesRecord& record) {
  std::uint64_t samples = 0;
  for (const SampleRun& run : record.runs) samples += run.count;
  return samples;
}

/// Units of a column in all records, idle ones included.
std::uint64_t units_of(const std::vector<SamplesRecord>& records, std::size_t column) {
  std::uint64_t sum = 0;
  for (const SamplesRecord& record : records) {
    for (const std::uint32_t units : record.columns[column]) sum += units;
    sum += record.idle_units[column];
  }
  return sum;
}

}  // namespace

TEST_CASE("samples without a gap are one run, and a record holds 500") {
  Encoded out;
  for (int n = 0; n < 1100; ++n) out.add(n, 3200, 100);
  out.encoder.flush();

  REQUIRE(out.records.size() == 3);
  CHECK(out.records[0].gpu == 3);
  REQUIRE(out.records[0].runs.size() == 1);
  CHECK(out.records[0].runs[0].start_ns == 0);
  CHECK(out.records[0].runs[0].end_ns == 500 * kStep);
  CHECK(out.records[0].runs[0].count == 500);
  CHECK(out.records[0].columns[kSampleDramRead] == std::vector<std::uint32_t>(500, 100));
  CHECK(out.records[0].columns[kSampleEngineActive] == std::vector<std::uint32_t>(500, 100));
  CHECK(out.records[0].columns[kSampleDramWrite].empty());  // 0 throughout
  CHECK(samples_in(out.records[2]) == 100);
}

TEST_CASE("a gap or another length begins a new run") {
  Encoded out;
  out.add(0, 3200, 100);
  out.add(1, 3200, 100);
  out.add(7, 3200, 100);
  PmSample longer;
  longer.start_ns = 8 * kStep;
  longer.end_ns = 10 * kStep;
  longer.values[kSampleEngineActive] = 50;
  out.encoder.add(longer);
  out.encoder.flush();

  REQUIRE(out.records.size() == 1);
  REQUIRE(out.records[0].runs.size() == 3);
  CHECK(out.records[0].runs[0].count == 2);
  CHECK(out.records[0].runs[1].start_ns == 7 * kStep);
  CHECK(out.records[0].runs[2].end_ns == 10 * kStep);
}

TEST_CASE("idle samples are omitted and summed, a short idle stretch stays in the run") {
  Encoded out;
  out.add(0, 3200, 100);
  out.add(1, 64, 0);
  out.add(2, 64, 0);
  out.add(3, 3200, 100);
  for (int n = 4; n < 14; ++n) out.add(n, 64, 0);
  out.add(14, 3200, 100);
  out.encoder.flush();

  REQUIRE(out.records.size() == 1);
  const SamplesRecord& record = out.records[0];
  REQUIRE(record.runs.size() == 2);
  CHECK(record.runs[0].count == 4);
  CHECK(record.columns[kSampleDramRead] == std::vector<std::uint32_t>{100, 2, 2, 100, 100});
  CHECK(record.idle_samples == 10);
  CHECK(record.idle_units[kSampleDramRead] == 20);
  CHECK(record.idle_units[kSampleEngineActive] == 0);
}

TEST_CASE("the samples' own PCIe traffic does not keep a GPU from being idle") {
  PmSample sample;
  sample.end_ns = kStep;
  sample.values[kSamplePcieWrite] = 5632;
  const PmEncoder encoder(0, all_columns(), [](const SamplesRecord&) {});

  CHECK(encoder.is_idle(sample));
  sample.values[kSamplePcieWrite] = 500'000;  // a copy to the host
  CHECK_FALSE(encoder.is_idle(sample));
}

TEST_CASE("a GPU with copy engine traffic is not idle, although no kernel runs") {
  Encoded out;
  out.add(0, 40e6, 0);
  out.encoder.flush();

  REQUIRE(out.records.size() == 1);
  CHECK(out.records[0].idle_samples == 0);
  CHECK(out.records[0].columns[kSampleDramRead] == std::vector<std::uint32_t>{1'250'000});
}

TEST_CASE("a partial record is sent after 0.1 s, idle sums after 1 s") {
  Encoded out;
  out.add(0, 3200, 100);
  out.encoder.advance(PmEncoder::kLineNs - 1);
  CHECK(out.records.empty());
  out.encoder.advance(PmEncoder::kLineNs);
  CHECK(out.records.size() == 1);

  Encoded idle;
  idle.add(0, 0, 0);
  idle.encoder.advance(PmEncoder::kLineNs);
  CHECK(idle.records.empty());
  idle.encoder.advance(10 * PmEncoder::kLineNs);
  REQUIRE(idle.records.size() == 1);
  CHECK(idle.records[0].idle_samples == 1);
  CHECK(idle.records[0].runs.empty());
}

TEST_CASE("link bytes are written at every fiftieth sample") {
  Encoded out;
  for (int n = 0; n < 120; ++n) {
    PmSample sample;
    sample.start_ns = n * kStep;
    sample.end_ns = (n + 1) * kStep;
    sample.values[kSampleEngineActive] = 100;
    sample.values[kSamplePcieWrite] = 32;
    out.encoder.add(sample);
  }
  out.encoder.flush();

  REQUIRE(out.records.size() == 1);
  const auto& column = out.records[0].columns[kSamplePcieWrite];
  REQUIRE(column.size() == 120);
  CHECK(column[49] == 50);
  CHECK(column[99] == 50);
  CHECK(column[119] == 20);
  CHECK(units_of(out.records, kSamplePcieWrite) == 120);
}

TEST_CASE("NaN and negative values count as 0") {
  Encoded out;
  out.add(0, std::nan(""), 100);
  out.add(1, -5, 100);
  out.encoder.flush();

  REQUIRE(out.records.size() == 1);
  CHECK(out.records[0].columns[kSampleDramRead].empty());
}

TEST_CASE("property: units are conserved, and every boundary is within the tolerance") {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 50; ++round) {
    Encoded out;
    std::array<double, kSampleColumns> bytes{};
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    std::int64_t at = 1'000'000'000'000;
    std::size_t added = 0;
    for (; added < 3000; ++added) {
      if (random() % 97 == 0) at += static_cast<std::int64_t>(random() % 100'000);
      const bool idle = (added / 40) % 3 == static_cast<std::size_t>(round % 3);
      PmSample sample;
      sample.start_ns = at;
      at += kStep - 40 + static_cast<std::int64_t>(random() % 80);
      sample.end_ns = at;
      for (std::size_t i = 0; i < kSampleSmActive; ++i) {
        sample.values[i] = static_cast<double>(random() % (idle ? 3000 : 50'000'000));
        bytes[i] += sample.values[i];
      }
      sample.values[kSampleEngineActive] = idle ? 0 : static_cast<double>(1 + random() % 100);
      if (!out.encoder.is_idle(sample)) spans.emplace_back(sample.start_ns, sample.end_ns);
      out.encoder.add(sample);
      out.encoder.advance(at);
    }
    out.encoder.flush();

    std::uint64_t kept = 0, dropped = 0;
    std::size_t next = 0;
    for (const SamplesRecord& record : out.records) {
      for (const auto& column : record.columns)
        CHECK((column.empty() || column.size() == samples_in(record)));
      kept += samples_in(record);
      dropped += record.idle_samples;
      for (const SampleRun& run : record.runs) {
        const double length = static_cast<double>(run.end_ns - run.start_ns) / run.count;
        for (std::uint32_t i = 0; i < run.count; ++i) {
          const double from = static_cast<double>(run.start_ns) + i * length;
          // Bridged idle samples are in runs too, and not in spans.
          if (next < spans.size() && std::abs(from - static_cast<double>(spans[next].first)) <= 100.5) {
            CHECK(std::abs(from + length - static_cast<double>(spans[next].second)) <= 100.5);
            ++next;
          }
        }
      }
    }
    CHECK(next == spans.size());  // every sample that was not idle was found
    CHECK(kept + dropped == added);
    for (std::size_t i = 0; i < kSampleSmActive; ++i) {
      const auto units = static_cast<double>(units_of(out.records, i));
      CHECK(bytes[i] - units * kSampleUnitBytes >= 0);
      CHECK(bytes[i] - units * kSampleUnitBytes < kSampleUnitBytes);
    }
  }
}

TEST_CASE("a record that could not be delivered is lost, and the next one is complete") {
  std::vector<SamplesRecord> records;
  bool fails = true;
  PmEncoder encoder(0, all_columns(), [&](const SamplesRecord& record) {
    if (fails) throw std::bad_alloc();
    records.push_back(record);
  });
  PmSample sample;
  sample.values[kSampleEngineActive] = 100;
  const auto add = [&](double dram_read) {
    sample.start_ns = sample.end_ns;
    sample.end_ns += kStep;
    sample.values[kSampleDramRead] = dram_read;
    encoder.add(sample);
  };
  for (int n = 0; n < 5; ++n) add(0);  // a column of zeros is omitted
  CHECK_THROWS_AS(encoder.flush(), std::bad_alloc);
  fails = false;
  for (int n = 0; n < 7; ++n) add(3200);
  encoder.flush();

  REQUIRE(records.size() == 1);
  CHECK(samples_in(records[0]) == 7);
  CHECK(records[0].columns[kSampleDramRead] == std::vector<std::uint32_t>(7, 100));
  CHECK(records[0].columns[kSampleEngineActive] == std::vector<std::uint32_t>(7, 100));
}
