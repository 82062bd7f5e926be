// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes.h"

#include <cmath>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/sampling/made_samples.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

// model(1) / heavy(2), model(1) / light(3), model(1) / other(4)
std::vector<Line> model_paths() {
  return {PathRecord{1, 0, 0, "model"}, PathRecord{2, 1, 0, "heavy"}, PathRecord{3, 1, 0, "light"},
          PathRecord{4, 1, 0, "other"}};
}

MadeTrace made(const std::vector<MadeKernel>& kernels, const MadeSettings& settings, int iterations) {
  MadeTrace trace = MadeRun(kernels, settings).run(iterations);
  const std::vector<Line> paths = model_paths();
  trace.lines.insert(trace.lines.begin(), paths.begin(), paths.end());
  return trace;
}

// A kernel of 3 us that moves almost nothing, between kernels of 15 us and 10 us at full speed.
MadeTrace light_beside_heavy(const MadeSettings& settings = {}, int iterations = 400) {
  return made({{2, 1, 15'000, {3'000, 1'000, 4'500}, 1'000, 0.2},
               {3, 2, 3'000, {130, 60, 300}, 500, 0},
               {4, 3, 10'000, {2'000, 1'500, 5'000}, 500, -0.2}},
              settings, iterations);
}

/// Loses one of `every` lines of samples, from the second on.
void lose_samples(MadeTrace& trace, int every) {
  int lines = 0;
  std::erase_if(trace.lines, [&](const Line& line) {
    return std::holds_alternative<SamplesRecord>(line) && lines++ % every == 1;
  });
}

double off_by(std::uint64_t bytes, double truth) {
  return std::abs(static_cast<double>(bytes) / truth - 1);
}

std::uint64_t exclusive_sum(const SampledTotals& totals, std::size_t column) {
  std::uint64_t sum = totals.samples.unattributed[column];
  for (const SampledPath& path : totals.paths) sum += path.exclusive[column].bytes;
  return sum;
}

double time_shared_read(const MadeTrace& trace, std::uint32_t path) {
  SampleSharing sharing;
  for (const Line& line : trace.lines) {
    if (const auto* kernel = std::get_if<KernelRecord>(&line)) sharing.add(*kernel);
    if (const auto* samples = std::get_if<SamplesRecord>(&line)) sharing.add(*samples);
  }
  sharing.finish();
  for (const SampledBytes& row : sharing.paths()) {
    if (row.id == path) return static_cast<double>(row.bytes[kSharedDramRead]);
  }
  return 0;
}

}  // namespace

TEST_CASE("a light kernel beside heavy ones: time sharing is 5 times too high, unmixing within 15 percent") {
  const MadeTrace trace = light_beside_heavy();
  const SampledTotals totals = sampled_totals(trace.lines);
  const SampledPath* light = totals.find(3);
  REQUIRE(light != nullptr);
  const double truth = trace.exclusive.at(3)[kSharedDramRead];

  CHECK(time_shared_read(trace, 3) > 5 * truth);
  CHECK(totals.sharing[kSharedDramRead].method == SharingMethod::unmixed);
  CHECK(*totals.sharing[kSharedDramRead].held_out_ratio < 0.5);
  CHECK(off_by(light->inclusive[kSharedDramRead].bytes, truth) < 0.15);
  CHECK(off_by(totals.find(2)->inclusive[kSharedDramRead].bytes, trace.exclusive.at(2)[kSharedDramRead]) <
        0.01);
}

TEST_CASE("no byte is lost or counted twice, by path and by kernel") {
  const MadeTrace trace = light_beside_heavy();
  const SampledTotals totals = sampled_totals(trace.lines);
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    CHECK(exclusive_sum(totals, c) == static_cast<std::uint64_t>(trace.sampled[c]));
    CHECK(totals.samples.bytes[c] == static_cast<std::uint64_t>(trace.sampled[c]));
    std::uint64_t kernels = totals.samples.unattributed[c];
    for (const SampledKernel& kernel : totals.kernels) kernels += kernel.bytes[c];
    CHECK(kernels == totals.samples.bytes[c]);
    std::uint64_t children = 0;
    for (const std::uint32_t path : {2U, 3U, 4U}) children += totals.find(path)->inclusive[c].bytes;
    CHECK(totals.find(1)->inclusive[c].bytes == children);
  }
}

TEST_CASE("a parent's error is smaller than the sum of its children's errors") {
  const SampledTotals totals = sampled_totals(light_beside_heavy().lines);
  std::uint64_t children = 0;
  for (const std::uint32_t path : {2U, 3U, 4U}) children += totals.find(path)->inclusive[0].error_bytes;
  CHECK(totals.find(1)->inclusive[0].error_bytes < children);
  CHECK(*totals.find(1)->inclusive[0].error_pct() < 3);
}

TEST_CASE("without repetition bytes are shared by time, and the error is larger") {
  std::vector<MadeKernel> kernels;
  std::mt19937_64 random(5);
  for (std::uint32_t i = 0; i < 6'000; ++i) {
    const double rate = std::exp(static_cast<double>(random() % 700) / 100);
    kernels.push_back({2 + i % 3, 10 + i, 8'000, {rate, rate, 2 * rate}, 500, 0});
  }
  const MadeTrace trace = made(kernels, {}, 1);
  const SampledTotals totals = sampled_totals(trace.lines);

  CHECK(totals.sharing[kSharedDramRead].method == SharingMethod::time_shared);
  CHECK(totals.sharing[kSharedDramRead].held_out_ratio);
  CHECK(exclusive_sum(totals, 0) == static_cast<std::uint64_t>(trace.sampled[0]));
  CHECK(static_cast<double>(totals.find(2)->exclusive[0].bytes) ==
        Approx(time_shared_read(trace, 2)).epsilon(1e-3));
  CHECK(*totals.find(2)->exclusive[0].error_pct() > 3);
}

TEST_CASE("background bytes are unattributed") {
  MadeSettings settings;
  settings.background = {50, 0, 0};
  settings.idle_between_ns = 300'000;
  const MadeTrace trace = light_beside_heavy(settings);
  const SampledTotals totals = sampled_totals(trace.lines);

  double truth = trace.sampled[0];
  for (const auto& [path, bytes] : trace.exclusive) truth -= bytes[0];
  CHECK(off_by(totals.samples.unattributed[0], truth) < 0.05);
  CHECK(off_by(totals.find(3)->exclusive[0].bytes, trace.exclusive.at(3)[0]) < 0.5);
}

TEST_CASE("adjacent windows add up to the whole") {
  const MadeTrace trace = light_beside_heavy();
  SamplesOnDisk disk(trace.lines);
  const SampledTrace sampled = *disk.load();
  const SampledTotals whole = sampled.totals();
  const std::vector<TimeNs> edges{INT64_MIN, 1'234'567, 5'000'000, 11'111'111, INT64_MAX};
  double read = 0, work_ns = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const SampledTotals part = sampled.totals({edges[i], edges[i + 1]});
    read += static_cast<double>(part.find(2)->exclusive[0].bytes);
    work_ns += static_cast<double>(part.find(2)->work_ns);
    CHECK(exclusive_sum(part, 0) == part.samples.bytes[0]);
  }
  CHECK(read == Approx(static_cast<double>(whole.find(2)->exclusive[0].bytes)).epsilon(1e-6));
  CHECK(work_ns == static_cast<double>(whole.find(2)->work_ns));
  CHECK(sampled.totals({-2'000, -1'000}).paths.empty());
}

TEST_CASE("a trace too long for memory gives nearly the same rates, and no sample is lost") {
  const MadeTrace trace = light_beside_heavy({}, 2'000);
  SamplesOnDisk disk(trace.lines);
  const SampledTrace whole = *disk.load(), thinned = *disk.load(2'000);
  CHECK(whole.totals().samples.bytes == thinned.totals().samples.bytes);
  for (const SampleWindow& window : {SampleWindow(), SampleWindow{2'000'000, 9'000'000}}) {
    const SampledTotals a = whole.totals(window), b = thinned.totals(window);
    CHECK(a.samples.samples == b.samples.samples);
    for (const SampledPath& path : a.paths) CHECK(path.work_ns == b.find(path.path)->work_ns);
  }
  const std::size_t groups = whole.rates().mean_durations.size();
  CHECK(groups == thinned.rates().mean_durations.size());
  const std::vector<double>&all = whole.rates().columns[0].rates, &some = thinned.rates().columns[0].rates;
  CHECK(all != some);
  for (std::uint32_t g = 1; g < groups; ++g) {
    CHECK(some[head_of(g)] + some[tail_of(g)] ==
          Approx(all[head_of(g)] + all[tail_of(g)]).epsilon(0.1).margin(4));
  }
}

TEST_CASE("bytes of work while samples were lost are estimated, and the error is larger") {
  MadeTrace trace = light_beside_heavy({}, 2'000);
  const SampledTotals before = sampled_totals(trace.lines);
  lose_samples(trace, 2);
  const SampledTotals after = sampled_totals(trace.lines);

  CHECK(before.find(2)->overlap_ns == before.find(2)->work_ns);
  CHECK(before.find(2)->estimated_ns == 0);
  CHECK(before.find(2)->exclusive[0].estimated_bytes == 0);
  CHECK(after.find(2)->overlap_ns < after.find(2)->work_ns * 7 / 10);
  std::uint64_t measured = after.samples.unattributed[0];
  for (const std::uint32_t path : {2U, 3U, 4U}) {
    const SampledPath& row = *after.find(path);
    const double truth = trace.exclusive.at(path)[0];
    const BoundedBytes& read = row.exclusive[0];
    INFO("path " << path);
    CHECK(row.overlap_ns + row.estimated_ns >= row.work_ns * 98 / 100);
    CHECK(off_by(read.bytes, truth) < (path == 3 ? 0.15 : 0.02));  // the light kernel is less certain
    CHECK(read.estimated_bytes > read.bytes / 3);
    CHECK(std::abs(static_cast<double>(read.bytes) - truth) <= static_cast<double>(read.error_bytes));
    CHECK(*read.error_pct() > *before.find(path)->exclusive[0].error_pct());
    measured += read.bytes - read.estimated_bytes;
  }
  CHECK(measured == after.samples.bytes[0]);
  CHECK(after.find(1)->inclusive[0].estimated_bytes == after.find(2)->exclusive[0].estimated_bytes +
                                                           after.find(3)->exclusive[0].estimated_bytes +
                                                           after.find(4)->exclusive[0].estimated_bytes);
  CHECK(after.find(1)->inclusive_estimated_ns >= after.find(2)->estimated_ns);
  for (const SampledKernel& kernel : after.kernels) {
    if (kernel.name != 0) CHECK(kernel.estimated_bytes[0] > kernel.bytes[0] / 3);
  }
}

TEST_CASE("work outside all samples gets no bytes, and windows divide the estimate") {
  MadeTrace trace = light_beside_heavy({}, 200);
  lose_samples(trace, 3);
  KernelRecord unseen = kernel(4, 4, 1'000'000'000, 1'000'500'000);
  unseen.work.stream = 99;
  trace.lines.emplace_back(PathRecord{5, 0, 0, "unseen"});
  unseen.work.path = 5;
  trace.lines.emplace_back(unseen);
  SamplesOnDisk disk(trace.lines);
  const SampledTrace sampled = *disk.load();
  const SampledTotals whole = sampled.totals();
  CHECK(whole.find(5)->exclusive[0].bytes == 0);
  CHECK(whole.find(5)->estimated_ns == 0);
  CHECK(whole.find(5)->exclusive[0].error_bytes > 0);
  const std::uint64_t estimated = sampled.totals({INT64_MIN, 5'000'000}).find(2)->estimated_ns +
                                  sampled.totals({5'000'000, INT64_MAX}).find(2)->estimated_ns;
  CHECK(std::abs(static_cast<double>(estimated) - static_cast<double>(whole.find(2)->estimated_ns)) < 10);
}

TEST_CASE("a trace without samples has no totals; idle samples or a single sample are enough") {
  MadeTrace none;
  none.lines = model_paths();
  CHECK_FALSE(SamplesOnDisk(none.lines).load());

  SamplesRecord idle;
  idle.idle_samples = 500;
  idle.idle_units[kSampleDramRead] = 7;
  none.lines.emplace_back(idle);
  const SampledTotals totals = sampled_totals(none.lines);
  CHECK(totals.paths.empty());
  CHECK(totals.samples.idle_samples == 500);
  CHECK(totals.samples.unattributed[0] == 7 * kSampleUnitBytes);

  SamplesRecord single;
  single.runs = {{1'000, 21'000, 1}};
  single.columns[kSampleDramRead] = {1'000};
  none.lines.emplace_back(kernel(1, 2, 5'000, 9'000));
  none.lines.emplace_back(single);
  const SampledTotals one = sampled_totals(none.lines);
  CHECK(one.find(1)->inclusive[0].bytes == 1'000 * kSampleUnitBytes);
  CHECK(one.find(2)->samples == 1);
  CHECK_FALSE(one.find(2)->inclusive[kSharedL2].error_pct());
}
