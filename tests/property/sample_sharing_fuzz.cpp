// SPDX-License-Identifier: Apache-2.0
//
// Property: random GPUs, work and samples, in any order of arrival: every byte of a sample is attributed
// once. A path gets its share by time, to a unit a sample, as long as no rate is learned; later at least the
// samples that it has alone, and at most those that it overlaps.
#include <algorithm>
#include <cmath>
#include <map>
#include <variant>
#include <vector>

#include "profiler/attribution/sample_sharing.h"
#include "tests/property/fuzz.h"

namespace rangefinder::fuzz {
namespace {

constexpr TimeNs kLate = 300'000;  // of a record, at most

struct Arrival {
  TimeNs at_ns = 0;
  std::variant<KernelRecord, SamplesRecord> record;
};

struct Arrivals {
  std::vector<Arrival> all;
  std::vector<KernelRecord> kernels;
  std::vector<SamplesRecord> samples;
};

void add_work(Arrivals& stream, Random& random, std::uint32_t gpus) {
  TimeNs at = 0;
  const std::size_t count = random.below(200);
  for (std::size_t i = 0; i < count; ++i) {
    KernelRecord kernel;
    GpuWork& work = kernel.work;
    at += static_cast<TimeNs>(random.below(8'000));
    work.start_ns = at;
    work.end_ns = at + static_cast<TimeNs>(random.below(random.one_in(20) ? 500'000 : 15'000));
    work.path = static_cast<std::uint32_t>(random.below(6));
    work.gpu = static_cast<std::uint32_t>(random.below(gpus));
    work.stream = static_cast<std::uint32_t>(i);  // they run side by side
    kernel.name = static_cast<std::uint32_t>(random.below(4));
    stream.kernels.push_back(kernel);
    stream.all.push_back({work.end_ns + static_cast<TimeNs>(random.below(kLate)), kernel});
  }
}

void add_samples(Arrivals& stream, Random& random, std::uint32_t gpu) {
  TimeNs at = static_cast<TimeNs>(random.below(20'000));
  const std::size_t lines = random.below(12);
  for (std::size_t i = 0; i < lines; ++i) {
    SamplesRecord record;
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
    stream.samples.push_back(record);
    stream.all.push_back({record.runs.back().end_ns + static_cast<TimeNs>(random.below(kLate)), record});
  }
}

SampleSharing share(const Arrivals& stream, Random& random) {
  SampleSharing sharing;
  for (const Arrival& arrival : stream.all) {
    std::visit([&sharing](const auto& record) { sharing.add(record); }, arrival.record);
    // A record of a kernel comes after its end, and settled samples are older than any start to come.
    if (random.one_in(10)) sharing.advance(arrival.at_ns - 2 * kLate - 500'000);
  }
  sharing.finish();
  return sharing;
}

struct Due {
  std::size_t pieces = 0;  // of work in samples: a rate is learned from kLearnedSamples of them on
  std::array<double, kSharedColumns> by_time{}, alone{}, overlapped{};
};
using Expected = std::map<std::uint32_t, Due>;

// Straight from the definition, one sample at a time.
Expected expected_bytes(const Arrivals& stream) {
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
          ++expected[kernel.work.path].pieces;
          all += static_cast<double>(overlap);
        }
        for (const auto& [path, overlap] : ns) {
          for (std::size_t c = 0; c < kSharedColumns; ++c) {
            const std::vector<std::uint32_t>& column = record.columns[kSharedSampleColumns[c]];
            if (column.empty()) continue;
            const double bytes = 32.0 * column[at];
            expected[path].by_time[c] += bytes * overlap / all;
            expected[path].overlapped[c] += bytes;
            if (ns.size() == 1) expected[path].alone[c] += bytes;
          }
        }
      }
    }
  }
  return expected;
}

std::array<std::uint64_t, kSharedColumns> bytes_in(const Arrivals& stream) {
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

/// What is wrong; "" for nothing.
const char* problem_of(const SampleSharing& sharing, const Arrivals& stream) {
  const auto in = bytes_in(stream);
  const Expected expected = expected_bytes(stream);
  const std::vector<SampledBytes> paths = sharing.paths();
  const bool by_time = std::all_of(expected.begin(), expected.end(), [](const auto& due) {
    return due.second.pieces < SampleSharing::kLearnedSamples;
  });
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    std::uint64_t by_path = sharing.totals().unattributed[c], by_name = by_path;
    for (const SampledBytes& row : paths) {
      by_path += row.bytes[c];
      const auto found = expected.find(row.id);
      const Due due = found == expected.end() ? Due{} : found->second;
      // Half a unit either side for each piece of work in each sample.
      const double tolerance =
          40.0 * kSampleUnitBytes * static_cast<double>(row.samples + 1) + 1e-6 * due.overlapped[c];
      const double least = by_time ? due.by_time[c] : due.alone[c];
      const double most = by_time ? due.by_time[c] : due.overlapped[c];
      const auto bytes = static_cast<double>(row.bytes[c]);
      if (bytes < least - tolerance || bytes > most + tolerance) return "a path's bytes are not its share";
    }
    for (const SampledBytes& row : sharing.kernels()) by_name += row.bytes[c];
    if (by_path != in[c]) return "bytes of paths and unattributed ones do not add up";
    if (by_name != in[c]) return "bytes of kernels and unattributed ones do not add up";
    if (sharing.totals().bytes[c] != in[c]) return "total is not what came in";
  }
  return sharing.totals().late_work == 0 ? "" : "work in time was late";
}

class SampleSharingFuzzer final : public Fuzzer {
 public:
  std::string check(Random& random) override {
    Arrivals stream;
    const auto gpus = static_cast<std::uint32_t>(random.below(3) + 1);
    add_work(stream, random, gpus);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) add_samples(stream, random, gpu);
    std::stable_sort(stream.all.begin(), stream.all.end(),
                     [](const Arrival& a, const Arrival& b) { return a.at_ns < b.at_ns; });
    return problem_of(share(stream, random), stream);
  }
};

}  // namespace

MakeFuzzer* const make_sample_sharing = &made<SampleSharingFuzzer>;

}  // namespace rangefinder::fuzz
