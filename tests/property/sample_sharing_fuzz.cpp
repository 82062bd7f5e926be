// SPDX-License-Identifier: Apache-2.0
//
// Random GPUs, work and samples, in any order: every byte of a sample is given to somebody once,
// and each path gets its due to a unit a sample.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "profiler/attribution/sample_sharing.h"
#include "tests/property/cases.h"

using namespace rangefinder;
using namespace rangefinder::property;

namespace {

constexpr TimeNs kLate = 300'000;  // how late a record may come

struct Arrival {
  TimeNs at_ns = 0;
  KernelRecord kernel;
  SamplesRecord samples;
  bool is_kernel = false;
};

struct Stream {
  std::vector<Arrival> arrivals;
  std::vector<KernelRecord> kernels;
  std::vector<SamplesRecord> samples;
};

void add_kernels(Stream& stream, Random& random, std::uint32_t gpus) {
  TimeNs at = 0;
  const std::size_t count = random.below(200);
  for (std::size_t i = 0; i < count; ++i) {
    Arrival arrival;
    arrival.is_kernel = true;
    GpuWork& work = arrival.kernel.work;
    at += static_cast<TimeNs>(random.below(8'000));
    work.start_ns = at;
    work.end_ns = at + static_cast<TimeNs>(random.below(random.one_in(20) ? 500'000 : 15'000));
    work.path = static_cast<std::uint32_t>(random.below(6));
    work.gpu = static_cast<std::uint32_t>(random.below(gpus));
    work.stream = static_cast<std::uint32_t>(i);  // they run side by side
    arrival.kernel.name = static_cast<std::uint32_t>(random.below(4));
    arrival.at_ns = work.end_ns + static_cast<TimeNs>(random.below(kLate));
    stream.kernels.push_back(arrival.kernel);
    stream.arrivals.push_back(arrival);
  }
}

void add_samples(Stream& stream, Random& random, std::uint32_t gpu) {
  TimeNs at = static_cast<TimeNs>(random.below(20'000));
  const std::size_t lines = random.below(12);
  for (std::size_t i = 0; i < lines; ++i) {
    Arrival arrival;
    SamplesRecord& record = arrival.samples;
    record.gpu = gpu;
    std::uint32_t all = 0;
    for (std::size_t run = random.below(3) + 1; run-- > 0;) {
      const auto count = static_cast<std::uint32_t>(random.below(40) + 1);
      const auto length =
          static_cast<TimeNs>(random.below(20'000) + 1) * count + static_cast<TimeNs>(random.below(count));
      record.runs.push_back({at, at + length, count});
      at += length + static_cast<TimeNs>(random.below(2) * random.below(100'000));
      all += count;
    }
    for (const SampleColumn column : kSharedSampleColumns) {
      if (random.one_in(8)) continue;  // all zero, left out
      for (std::uint32_t n = 0; n < all; ++n) {
        record.columns[column].push_back(
            static_cast<std::uint32_t>(random.one_in(50) ? random.any() : random.below(100'000)));
      }
    }
    record.idle_samples = random.below(5);
    record.idle_units[kSampleDramRead] = random.below(10);
    arrival.at_ns = record.runs.back().end_ns + static_cast<TimeNs>(random.below(kLate));
    stream.samples.push_back(record);
    stream.arrivals.push_back(arrival);
  }
}

SampleSharing share(const Stream& stream, Random& random) {
  SampleSharing sharing;
  for (const Arrival& arrival : stream.arrivals) {
    if (arrival.is_kernel) {
      sharing.add(arrival.kernel);
    } else {
      sharing.add(arrival.samples);
    }
    // A record of a kernel comes after its end, and settled samples are older than any start to come.
    if (random.one_in(10)) sharing.advance(arrival.at_ns - 2 * kLate - 500'000);
  }
  sharing.finish();
  return sharing;
}

using Expected = std::map<std::uint32_t, std::array<double, kSharedColumns>>;

// Straight from the definition, one sample at a time.
Expected expected_bytes(const Stream& stream) {
  Expected expected;
  for (const SamplesRecord& record : stream.samples) {
    std::size_t at = 0;
    for (const SampleRun& run : record.runs) {
      for (std::int64_t i = 0; i < run.count; ++i, ++at) {
        const TimeNs start = run.start_ns + (run.end_ns - run.start_ns) * i / run.count;
        const TimeNs end = run.start_ns + (run.end_ns - run.start_ns) * (i + 1) / run.count;
        std::map<std::uint32_t, double> ns;
        double all = 0;
        for (const KernelRecord& kernel : stream.kernels) {
          const TimeNs overlap = std::min(end, kernel.work.end_ns) - std::max(start, kernel.work.start_ns);
          if (kernel.work.gpu != record.gpu || overlap <= 0) continue;
          ns[kernel.work.path] += static_cast<double>(overlap);
          all += static_cast<double>(overlap);
        }
        for (const auto& [path, overlap] : ns) {
          for (std::size_t c = 0; c < kSharedColumns; ++c) {
            const std::vector<std::uint32_t>& column = record.columns[kSharedSampleColumns[c]];
            if (!column.empty()) expected[path][c] += 32.0 * column[at] * overlap / all;
          }
        }
      }
    }
  }
  return expected;
}

std::array<std::uint64_t, kSharedColumns> bytes_in(const Stream& stream) {
  std::array<std::uint64_t, kSharedColumns> bytes{};
  for (const SamplesRecord& record : stream.samples) {
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      bytes[c] += record.idle_units[kSharedSampleColumns[c]] * kSampleUnitBytes;
      for (const std::uint32_t units : record.columns[kSharedSampleColumns[c]]) {
        bytes[c] += std::uint64_t{units} * kSampleUnitBytes;
      }
    }
  }
  return bytes;
}

/// Empty: all is well.
const char* problem_of(const SampleSharing& sharing, const Stream& stream) {
  const auto in = bytes_in(stream);
  const Expected expected = expected_bytes(stream);
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    std::uint64_t by_path = sharing.totals().unattributed[c], by_name = by_path;
    for (const SampledBytes& row : sharing.paths()) {
      by_path += row.bytes[c];
      const auto due = expected.find(row.id);
      const double bytes = due == expected.end() ? 0 : due->second[c];
      // Half a unit either side for each piece of work in each sample.
      const double tolerance = 40.0 * kSampleUnitBytes * static_cast<double>(row.samples + 1) + 1e-6 * bytes;
      if (std::abs(static_cast<double>(row.bytes[c]) - bytes) > tolerance)
        return "a path's bytes are not its due";
    }
    for (const SampledBytes& row : sharing.kernels()) by_name += row.bytes[c];
    if (by_path != in[c]) return "bytes of paths and nobody do not add up";
    if (by_name != in[c]) return "bytes of kernels and nobody do not add up";
    if (sharing.totals().bytes[c] != in[c]) return "total is not what came in";
  }
  return sharing.totals().late_work == 0 ? nullptr : "work in time was late";
}

}  // namespace

int main(int argc, char** argv) {
  Cases cases(argc, argv);
  if (argc == 1) cases.count = 2'000;
  for (std::uint64_t n = 0; n < cases.count; ++n) {
    Random random(cases.seed, n);
    Stream stream;
    const auto gpus = static_cast<std::uint32_t>(random.below(3) + 1);
    add_kernels(stream, random, gpus);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) add_samples(stream, random, gpu);
    std::stable_sort(stream.arrivals.begin(), stream.arrivals.end(),
                     [](const Arrival& a, const Arrival& b) { return a.at_ns < b.at_ns; });
    const SampleSharing sharing = share(stream, random);
    if (const char* problem = problem_of(sharing, stream)) {
      std::printf("case %llu: %s\n", static_cast<unsigned long long>(n), problem);
      return 1;
    }
  }
  std::printf("%llu cases\n", static_cast<unsigned long long>(cases.count));
  return 0;
}
