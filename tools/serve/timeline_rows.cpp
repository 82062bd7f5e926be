// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/timeline_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/base/duration.h"
#include "tools/export/time_span.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::uint64_t kSectorBytes = 32;

struct TimelineBin {
  std::uint64_t kernels = 0, graphs = 0, gpu_ns = 0, copies = 0, memcpy_ns = 0, memcpy_bytes = 0, samples = 0;
  std::array<std::uint64_t, kSampleColumns> units{};
};

/// The time from the first to the last time of any line; it includes 0.
void cover(const SelectedRows& rows, CoveredTime& out) {
  const auto add_row = [&out](const auto& record, bool) { out.add(record); };
  rows.work(kTimelineColumns, add_row);
  rows.launches(kTimelineColumns, add_row);
  rows.ranges(kTimelineColumns, add_row);
  rows.each<SyncRecord>(kTimelineColumns, add_row);
  rows.each<AllocRecord>(kTimelineColumns, add_row);
  rows.each<EventRecord>(kTimelineColumns, add_row);
  rows.each<CaptureRecord>(kTimelineColumns, add_row);
  rows.each<OverheadRecord>(kTimelineColumns, add_row);
  rows.each<MarkRecord>(kTimelineColumns, add_row);
  const auto add_line = [&out](const auto& record) { out.add(record); };
  rows.samples(add_line);
  rows.lines<HoldRecord>(add_line);
  rows.lines<GapRecord>(add_line);
  rows.lines<FlushRecord>(add_line);
  rows.lines<EndRecord>(add_line);
}

class TimelineBins {
 public:
  TimelineBins(const CoveredTime& span, std::size_t stretches)
      : first_(span.first_ns),
        count_(static_cast<TimeNs>(stretches)),
        width_(std::max<TimeNs>(1, (span.last_ns - span.first_ns) / count_ + 1)) {}

  void add(const SelectedRows& rows) {
    rows.work(kTimelineColumns, [this](const auto& record, bool) { add(record); });
    rows.samples([this](const SamplesRecord& line) { add(line); });
  }

  [[nodiscard]] OrderedJson rows(TimeNs base_unix_ns) const {
    OrderedJson out = OrderedJson::array();
    for (const auto& [place, sum] : bins_) {
      const auto& [at, gpu] = place;
      const TimeNs start = first_ + at * width_;
      OrderedJson row{{"time_unix_ms", (base_unix_ns + start) / kNsPerMs},
                      {"start_ns", start},
                      {"duration_ns", width_},
                      {"gpu", gpu},
                      {"kernels", sum.kernels},
                      {"graphs", sum.graphs},
                      {"gpu_ns", sum.gpu_ns},
                      {"copies", sum.copies},
                      {"memcpy_ns", sum.memcpy_ns},
                      {"memcpy_bytes", sum.memcpy_bytes}};
      for (std::size_t i = 0; i < kSampleColumns && sum.samples != 0; ++i) {
        if (is_byte_column(i))
          row[std::string(kSampleColumnNames[i]) + "_bytes"] = sum.units[i] * kSectorBytes;
      }
      out.push_back(std::move(row));
    }
    return out;
  }

 private:
  void add(const MemsetRecord&) {}
  void add(const KernelRecord& kernel) {
    if (TimelineBin* const at = begin(kernel.work)) ++at->kernels;
    spread(kernel.work, &TimelineBin::gpu_ns);
  }
  void add(const GraphRecord& graph) {
    if (TimelineBin* const at = begin(graph.work)) ++at->graphs;
    spread(graph.work, &TimelineBin::gpu_ns);
  }
  void add(const MemcpyRecord& copy) {
    TimelineBin* const at = begin(copy.work);
    if (at == nullptr) return;
    at->copies += copy.count;
    at->memcpy_bytes += copy.bytes;
    spread(copy.work, &TimelineBin::memcpy_ns);
  }
  void add(const SamplesRecord& line) {
    std::size_t sample = 0;
    for (const SampleRun& run : line.runs) {
      for (std::uint32_t i = 0; i < run.count; ++i, ++sample) {
        const auto middle =
            static_cast<TimeNs>(static_cast<double>(run.end_ns - run.start_ns) * (i + 0.5) / run.count);
        TimelineBin& at = bins_[{place(run.start_ns + middle), line.gpu}];
        ++at.samples;
        for (std::size_t c = 0; c < kSampleColumns; ++c) {
          if (sample < line.columns[c].size()) at.units[c] += line.columns[c][sample];
        }
      }
    }
  }

  [[nodiscard]] TimeNs place(TimeNs at) const {
    return std::clamp<TimeNs>((std::max(at, first_) - first_) / width_, 0, count_ - 1);
  }
  /// nullptr: `work` has no times.
  TimelineBin* begin(const GpuWork& work) {
    if (work.start_ns == kNoTime || work.end_ns == kNoTime) return nullptr;
    return &bins_[{place(work.start_ns), work.gpu}];
  }
  void spread(const GpuWork& work, std::uint64_t TimelineBin::*sum) {
    if (work.start_ns == kNoTime || work.end_ns == kNoTime) return;
    for (TimeNs from = work.start_ns; from < work.end_ns;) {
      const TimeNs at = place(from);
      const TimeNs to = at == count_ - 1 ? work.end_ns : std::min(work.end_ns, first_ + (at + 1) * width_);
      bins_[{at, work.gpu}].*sum += static_cast<std::uint64_t>(to - from);
      from = to;
    }
  }

  const TimeNs first_, count_, width_;
  std::map<std::pair<TimeNs, std::uint32_t>, TimelineBin> bins_;
};

}  // namespace

OrderedJson timeline_rows(WholeTrace& trace, std::size_t stretches) {
  CoveredTime span;
  trace.each([&span](const SelectedRows& rows) { cover(rows, span); });
  TimelineBins out(span, std::clamp<std::size_t>(stretches, 1, kMaxStretches));
  trace.each([&out](const SelectedRows& rows) { out.add(rows); });
  return out.rows(trace.totals().header.base_unix_ns);
}

}  // namespace rangefinder
