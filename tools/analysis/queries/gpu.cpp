// SPDX-License-Identifier: Apache-2.0
//
// `--section gpu`: how much of the time from its first to its last work each GPU computed, copied, did both
// or was idle. Overlapping kernels count once, and so do overlapping copies. A memset counts as a copy.
#include <map>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/gpu_timeline.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kGpuSectionColumns = Column::work_times | Column::work_place;

struct Times {
  std::uint64_t span_ns = 0;
  std::uint64_t kernels_ns = 0, copies_ns = 0;  // at least one of them runs
  std::uint64_t both_ns = 0, neither_ns = 0;
  std::uint64_t concurrent_ns = 0;  // at least two kernels run
  std::uint64_t works = 0, untimed = 0;
};

class GpuSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<GapRecord>([this](const GapRecord& gap) { timeline_.add(gap); });
    rows.work(kGpuSectionColumns, [this](const auto& record, bool begins) {
      if (!begins) return timeline_.add(record.work, is_kernel(record));
      if (!is_graph(record)) add(record.work, is_kernel(record));
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    timeline_.finish();
    Table table;
    table.name = "gpu";
    table.empty = "No GPU work with a time in this trace.";
    table.columns = {{"gpu", "GPU"},
                     {"span_ns", "first to last", Unit::ns},
                     {"busy_ns", "with work", Unit::ns, 90},
                     {"busy_share", "with work", Unit::share},
                     {"kernel_share", "kernels", Unit::share},
                     {"copy_share", "copies", Unit::share},
                     {"both_share", "both", Unit::share},
                     {"neither_share", "neither", Unit::share},
                     {"copy_hidden_share", "copies hidden", Unit::share, 60},
                     {"concurrent_kernels_share", "2+ kernels", Unit::share, 50},
                     {"works", "works", Unit::count, 20},
                     {"untimed", "untimed", Unit::count, 70}};
    for (const auto& [id, times] : gpus_) table.add(row(input.trace, id, times));
    drop_empty_columns(table);
    table.remarks =
        "with work: kernels or copies ran. copies hidden: share of the copy time in which kernels ran. "
        "Memsets count as copies.\n";
    if (timeline_.late_ns() != 0) {
      table.remarks += "Some records came too far out of order: part of their time is missing.\n";
    }
    return {table};
  }

 private:
  static std::vector<Cell> row(const TraceTotals& trace, std::uint32_t id, const Times& times) {
    std::string name = std::to_string(id);
    for (const GpuRecord& gpu : trace.gpus) {
      if (gpu.id == id) name += " " + gpu.name;
    }
    const std::uint64_t busy = times.span_ns - times.neither_ns;
    const bool has_span = times.span_ns != 0;
    return {text_cell(name),
            cell_if(has_span, times.span_ns),
            cell_if(has_span, busy),
            ratio_cell(busy, times.span_ns),
            ratio_cell(times.kernels_ns, times.span_ns),
            ratio_cell(times.copies_ns, times.span_ns),
            ratio_cell(times.both_ns, times.span_ns),
            ratio_cell(times.neither_ns, times.span_ns),
            ratio_cell(times.both_ns, times.copies_ns),
            ratio_cell(times.concurrent_ns, times.span_ns),
            number_cell(times.works),
            cell_if(times.untimed != 0, times.untimed)};
  }

  void add(const GpuWork& work, bool is_kernel) {
    Times& times = gpus_[work.gpu];
    ++times.works;
    if (!is_timed(work)) ++times.untimed;
    timeline_.add(work, is_kernel);
  }

  void add(const GpuSpan& span) {
    Times& times = gpus_[span.gpu];
    times.span_ns += span.ns();
    if (span.kernels != 0) times.kernels_ns += span.ns();
    if (span.copies != 0) times.copies_ns += span.ns();
    if (span.kernels != 0 && span.copies != 0) times.both_ns += span.ns();
    if (span.kernels > 1) times.concurrent_ns += span.ns();
    if (span.idle()) times.neither_ns += span.ns();
  }

  std::map<std::uint32_t, Times> gpus_;
  GpuTimeline timeline_{[this](const GpuSpan& span) { add(span); }};
};

}  // namespace

const SectionKind kGpuSection{"gpu", "share of the time that each GPU computed, copied, did both or was idle",
                              make_section<GpuSection>, kGpuSectionColumns};

}  // namespace rangefinder
