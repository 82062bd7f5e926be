// SPDX-License-Identifier: Apache-2.0
//
// A simulated program on a simulated GPU: repeated kernels, samples of their bytes, and the true bytes.
//
//   std::vector<MadeKernel> kernels{{path, name, duration, rates…}, …};   one iteration
//   MadeTrace trace = MadeRun(kernels, settings).run(300)                 lines, and bytes by path
//
// The simulation deliberately differs from the fitted model: kernels move more at one end than at the other,
// launches of one kernel differ, and the times of records and samples are inexact.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "schema/read_line.h"
#include "schema/record.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/sampling/sampled_bytes.h"

namespace rangefinder::test {

using Columns = std::array<double, kSharedColumns>;

/// One launch of an iteration. Rates in bytes per ns: 1 is 1 GB/s.
struct MadeKernel {
  std::uint32_t path = 0, name = 0;
  double duration_ns = 0;
  Columns rates{};
  double gap_ns = 0;  ///< after the end of the previous kernel
  double slope = 0;   ///< -1 to 1: by which part it moves less at its start, more at its end
};

struct MadeSettings {
  double interval_ns = 20'000;
  double duration_spread = 0.05;  ///< of a launch, as a part of its duration
  double bytes_spread = 0.03;     ///< as a part of a launch's rate
  double record_jitter_ns = 60;   ///< of each start and end in the records
  double sample_jitter_ns = 60;   ///< of each edge between samples
  double gap_spread = 0.5;        ///< as a part of each gap
  Columns lag_ns{};               ///< bytes of a column appear this much later
  Columns background{};           ///< bytes per ns that no kernel moves
  double idle_between_ns = 50'000;
  std::uint64_t seed = 1;
};

struct MadeTrace {
  std::vector<Line> lines;
  std::map<std::uint32_t, Columns> exclusive;  ///< true bytes by path
  Columns sampled{};                           ///< sum of all samples, in bytes
};

/// The lines in a file, to load samples from. Paths keep their ids.
class SamplesOnDisk {
 public:
  explicit SamplesOnDisk(const std::vector<Line>& lines) {
    disk_.lines = {line_of(header()), line_of(gpu())};
    for (const Line& line : lines) disk_.lines.push_back(line_of(line));
    disk_.write();
    TraceFolder files = open_trace_folder(disk_.folder.path());
    files.recorded_paths = true;
    rows_.emplace(files, TraceOptions{.columns = SampledTrace::kColumns});
  }
  /// Valid as long as this.
  [[nodiscard]] std::optional<SampledTrace> load(std::size_t max_kept = SampledTrace::kMaxKept) {
    return SampledTrace::load(*rows_, nullptr, max_kept);
  }

 private:
  TraceOnDisk disk_;
  std::optional<Trace> rows_;
};

inline SampledTotals sampled_totals(const std::vector<Line>& lines) {
  return SamplesOnDisk(lines).load()->totals();
}

class MadeRun {
 public:
  MadeRun(const std::vector<MadeKernel>& kernels, const MadeSettings& settings)
      : kernels_(kernels), settings_(settings), random_(settings.seed) {}

  MadeTrace run(int iterations) {
    double at = 100'000;
    for (int i = 0; i < iterations; ++i) {
      ++iteration_;
      for (const MadeKernel& kernel : kernels_) at = launch(kernel, at);
      at += settings_.idle_between_ns * (1 + 0.2 * normal());
    }
    add_samples(at + 50'000);
    return std::move(trace_);
  }

 private:
  double normal() { return normal_(random_); }
  double spread(double part) { return std::max(0.1, 1 + part * normal()); }

  struct Launch {
    double start_ns, end_ns, slope;
    Columns bytes;
  };

  double launch(const MadeKernel& kernel, double at) {
    Launch launch;
    launch.start_ns = at + kernel.gap_ns * spread(settings_.gap_spread);
    launch.end_ns = launch.start_ns + kernel.duration_ns * spread(settings_.duration_spread);
    launch.slope = kernel.slope;
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      launch.bytes[c] = kernel.rates[c] * (launch.end_ns - launch.start_ns) * spread(settings_.bytes_spread);
      trace_.exclusive[kernel.path][c] += launch.bytes[c];
    }
    launches_.push_back(launch);

    const TimeNs start = std::llround(launch.start_ns + settings_.record_jitter_ns * normal());
    const TimeNs end = std::llround(launch.end_ns + settings_.record_jitter_ns * normal());
    const GpuWork work{.start_ns = start,
                       .end_ns = std::max(start + 1, end),
                       .stream = kernel.path,  // different streams: jitter makes records overlap
                       .path = kernel.path,
                       .range = iteration_ * 1'000'000 + kernel.path};
    trace_.lines.emplace_back(KernelRecord{work, kernel.name, 1});
    return launch.end_ns;
  }

  /// The part of a launch's bytes moved before `at`.
  static double moved(const Launch& launch, double at) {
    const double u = std::clamp((at - launch.start_ns) / (launch.end_ns - launch.start_ns), 0.0, 1.0);
    return u + launch.slope * (u * u - u);
  }

  double bytes_between(std::size_t first, std::size_t column, double from, double to) const {
    from -= settings_.lag_ns[column];
    to -= settings_.lag_ns[column];
    double bytes = settings_.background[column] * (to - from);
    for (std::size_t i = first; i < launches_.size() && launches_[i].start_ns < to; ++i) {
      bytes += launches_[i].bytes[column] * (moved(launches_[i], to) - moved(launches_[i], from));
    }
    return bytes;
  }

  void add_samples(double until) {
    SamplesRecord record;
    for (std::vector<std::uint32_t>& column : record.columns) column.clear();
    double edge = 0;
    std::size_t first = 0;
    Columns carried{};
    std::int64_t run_start = 0;
    for (std::int64_t n = 1; static_cast<double>(n) * settings_.interval_ns < until; ++n) {
      const double next =
          static_cast<double>(n) * settings_.interval_ns + settings_.sample_jitter_ns * normal();
      // One launch runs at a time, and its bytes appear at most 10 us late.
      while (first < launches_.size() && launches_[first].end_ns < edge - 10'000) ++first;
      for (std::size_t c = 0; c < kSharedColumns; ++c) {
        carried[c] += bytes_between(first, c, edge, next) / kSampleUnitBytes;
        const double units = std::max(0.0, std::floor(carried[c]));
        carried[c] -= units;
        record.columns[c].push_back(static_cast<std::uint32_t>(units));
        trace_.sampled[c] += units * kSampleUnitBytes;
      }
      edge = next;
      if (n % 500 != 0) continue;
      end_record(record, run_start, n);
      run_start = n;
    }
    const auto samples = static_cast<std::int64_t>(record.columns[0].size());
    if (samples != 0) end_record(record, run_start, run_start + samples);
  }

  void end_record(SamplesRecord& record, std::int64_t from, std::int64_t to) {
    const auto interval = static_cast<std::int64_t>(settings_.interval_ns);
    record.runs = {{from * interval, to * interval, static_cast<std::uint32_t>(to - from)}};
    trace_.lines.emplace_back(record);
    record = {};
  }

  const std::vector<MadeKernel>& kernels_;
  const MadeSettings& settings_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<Launch> launches_;
  std::uint64_t iteration_ = 0;
  MadeTrace trace_;
};

}  // namespace rangefinder::test
