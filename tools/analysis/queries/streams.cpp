// SPDX-License-Identifier: Apache-2.0
//
// `--section streams`: work of each stream and its overlap with other streams of its GPU. A second table has
// the waits of one stream for another through events (stream_waits.h); `--depth` folds deeper paths into
// their parents.
#include <algorithm>
#include <map>
#include <tuple>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/gpu_timeline.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/queries/stream_waits.h"

namespace rangefinder {
namespace {

constexpr Columns kStreamsSectionColumns = Column::work_times | Column::work_place |
                                           Column::work_correlation | Column::events | Column::launch_times |
                                           Column::launch_call | Column::launch_correlation;

struct StreamTimes {
  std::uint64_t kernels = 0, copies = 0;
  DurationHistogram durations;
};

struct WaitTotals {
  DurationHistogram exposed;  // of the waits with exposed time
  std::uint64_t waits = 0, followed = 0;
};

class StreamsSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<GapRecord>([this](const GapRecord& gap) { timeline_.add(gap); });
    rows.lines<ContextRecord>([this](const ContextRecord& context) { waits_.add(context); });
    rows.each<EventRecord>(kStreamsSectionColumns,
                           [this](const EventRecord& event, bool) { waits_.add(event); });
    rows.launches(kStreamsSectionColumns, [this](const auto& call, bool) {
      if (const LaunchRecord* const launch = launch_of(call)) waits_.add(*launch);
    });
    rows.work(kStreamsSectionColumns, [this](const auto& record, bool begins) {
      begins ? add(record.work, is_kernel(record)) : timeline_.add(record.work, is_kernel(record));
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    timeline_.finish();
    return {stream_rows(input.trace), wait_rows(input)};
  }

 private:
  using Id = std::pair<std::uint32_t, std::uint32_t>;  // context, stream

  void add(const GpuWork& work, bool is_kernel) {
    StreamTimes& times = streams_[{work.gpu, work.context, work.stream}];
    ++(is_kernel ? times.kernels : times.copies);
    if (is_timed(work)) times.durations.add(duration_ns(work.start_ns, work.end_ns));
    timeline_.add(work, is_kernel);
    waits_.add(work);
  }

  static std::string title(const TraceNames& trace, Id id) {
    std::string out = std::to_string(id.second);
    if (trace.contexts.size() > 1) out += " of context " + std::to_string(id.first);
    const auto context = trace.contexts.find(id.first);
    if (context != trace.contexts.end() && context->second.null_stream == id.second) out += " (default)";
    return out;
  }

  std::vector<Cell> stream_row(const TraceNames& trace, const StreamKey& key,
                               const StreamTimes& times) const {
    const Id id{key.context, key.stream};
    const auto span = spans_ns_.find(key.gpu);
    const bool timed = times.durations.count() != 0;
    const StreamUse busy = timeline_.used(key);
    const std::uint64_t overlap_ns = busy.busy_ns - busy.alone_ns;
    std::vector<Cell> row{text_cell(title(trace, id)),
                          number_cell(std::uint64_t{key.gpu}),
                          number_cell(times.kernels),
                          number_cell(times.copies),
                          cell_if(timed, times.durations.total_ns()),
                          cell_if(timed, busy.busy_ns),
                          ratio_cell(busy.busy_ns, span == spans_ns_.end() ? 0 : span->second),
                          cell_if(timed, overlap_ns),
                          ratio_cell(overlap_ns, busy.busy_ns)};
    if (const auto at = trace.streams.find(id); at != trace.streams.end()) {
      row.push_back(Cell(CellValue(std::int64_t{at->second.priority})));
      row.push_back(Cell(CellValue(at->second.non_blocking)));
    }
    return row;
  }

  Table stream_rows(const TraceNames& trace) const {
    Table table;
    table.name = "streams";
    table.empty = "No GPU work in this trace.";
    table.columns = {{"stream", "stream"},
                     {"gpu", "GPU", Unit::count, 50},
                     {"kernels", "kernels", Unit::count},
                     {"copies", "copies", Unit::count},
                     {"work_ns", "work", Unit::ns, 60},
                     {"busy_ns", "busy", Unit::ns},
                     {"busy_share", "of GPU's span", Unit::share},
                     {"overlap_ns", "overlapped", Unit::ns, 70},
                     {"overlap_share", "overlapped", Unit::share},
                     {"priority", "priority", Unit::text, 20},
                     {"non_blocking", "non-blocking", Unit::text, 30}};
    for (const auto& [key, times] : streams_) table.add(stream_row(trace, key, times));
    drop_empty_columns(table);
    sort_rows(table, "busy_ns");
    if (timeline_.late_ns() != 0) {
      table.remarks = "Some records came too far out of order: part of their time is missing.\n";
    }
    return table;
  }

  Table wait_rows(const SectionInput& input) {
    using StreamPair = std::tuple<std::uint32_t, Id, std::uint32_t, Id>;
    std::map<StreamPair, WaitTotals> rows;
    for (const StreamWait& wait : waits_.waits()) {
      const auto shown = [&](std::uint32_t path) {
        return path_at_depth(input.trace, path, input.view.depth);
      };
      WaitTotals& totals =
          rows[{shown(wait.consumer_path), wait.consumer, shown(wait.producer_path), wait.producer}];
      ++totals.waits;
      if (wait.has_work) ++totals.followed;
      if (wait.has_work && wait.exposed_ns != 0) totals.exposed.add(wait.exposed_ns);
    }
    Table table;
    table.name = "stream_waits";
    table.title = "Waits of one stream for another";
    table.empty = "No stream waited for an event of another stream.";
    table.columns = {{"consumer_path", "waiting"},
                     {"consumer_stream", "stream"},
                     {"producer_path", "for", Unit::text, 80},
                     {"producer_stream", "stream"},
                     {"waits", "waits", Unit::count},
                     {"exposed", "idle waits", Unit::count},
                     {"exposed_ns", "idle", Unit::ns},
                     {"exposed_mean_ns", "mean", Unit::ns, 60},
                     {"exposed_max_ns", "longest", Unit::ns, 70}};
    for (const auto& [key, totals] : rows) {
      const auto& [consumer_path, consumer, producer_path, producer] = key;
      const bool followed = totals.followed != 0;
      const bool any = totals.exposed.count() != 0;
      table.add({text_cell(path_title(input.trace, consumer_path)), text_cell(title(input.trace, consumer)),
                 text_cell(path_title(input.trace, producer_path)), text_cell(title(input.trace, producer)),
                 number_cell(totals.waits), cell_if(followed, totals.exposed.count()),
                 cell_if(followed, totals.exposed.total_ns()),
                 any ? number_cell(totals.exposed.mean_ns()) : Cell(),
                 cell_if(any, totals.exposed.max_ns())});
    }
    sort_rows(table, "exposed_ns");
    table.remarks = wait_remarks();
    if (table.rows.empty() && !table.remarks.empty()) table.empty += "\n" + table.remarks;
    return table;
  }

  std::string wait_remarks() const {
    std::string out;
    if (waits_.same_stream() != 0) {
      out += std::to_string(waits_.same_stream()) + " more waited for an event of the same stream.\n";
    }
    if (waits_.unknown_event() != 0) {
      out += std::to_string(waits_.unknown_event()) +
             " more waited for an event that was not recorded in this trace.\n";
    }
    return out;
  }

  std::map<StreamKey, StreamTimes> streams_;
  std::map<std::uint32_t, std::uint64_t> spans_ns_;  // by GPU
  StreamWaits waits_;
  GpuTimeline timeline_{[this](const GpuSpan& span) { spans_ns_[span.gpu] += span.ns(); }};
};

}  // namespace

const SectionKind kStreamsSection{"streams", "work of each stream, and waits of one stream for another",
                                  make_section<StreamsSection>, kStreamsSectionColumns};

}  // namespace rangefinder
