// SPDX-License-Identifier: Apache-2.0
//
// The rows of one unit: a few MiB of whole lines of one segment.
//
//   UnitParser fills tables ─▶ Chunk ─▶ work(wanted, see): see(KernelRecord&), see(MemcpyRecord&), …
//                                       launches(…), ranges(…), each<SyncRecord>(…), other lines
//
// Rows of a table are in the order of their lines. see() receives records with shown paths (shown_paths.h);
// their members are 0 where a column is not wanted. It may change the record. Views in it are valid as long
// as the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "schema/read_line.h"
#include "tools/analysis/model/after_last_work.h"
#include "tools/analysis/model/column_table.h"
#include "tools/analysis/model/line_parts.h"

namespace rangefinder {

/// What the loader needs of the lines of a unit besides their records.
struct UnitCounts {
  std::uint64_t lines = 0;    ///< of text, readable or not
  std::uint64_t records = 0;  ///< readable
  std::uint64_t events = 0, kernels = 0, graphs = 0, exact = 0, samples = 0;
  bool event_waits = false;
  std::uint64_t broken = 0;
  bool stopped = false;  ///< the unit was read up to the last of kMaxUnreadableRun lines in a row in it
  TimeNs first_work_ns = INT64_MAX;  ///< earliest start of GPU work
  TimeNs last_mark_ns = kNoTime;     ///< marks are not kept
  /// Numbers of lines in the unit, from 1; 0: there is none.
  std::uint32_t first_record = 0, first_broken = 0;
  TraceSums sums;
  std::string error;               ///< what is wrong with the first broken line
  AfterLastWork::Latest launches;  ///< that succeeded, since the last gap line
};

class Chunk {
 public:
  /// A line that is no row of a table: it defines a name, or is rare. With shown paths.
  struct OtherLine {
    Line line;
    std::uint32_t number = 0;  ///< in the unit, from 1
  };

  UnitCounts counts;
  /// With shown paths. A damaged trace has thousands of segments with names only, whose lines are put
  /// together.
  std::deque<OtherLine> others;
  std::vector<std::pair<std::uint32_t, SamplesRecord>> samples;  ///< by number of the line
  std::vector<double> values;                                    ///< of exact lines, one after the other
  std::vector<std::uint8_t> payload_data;                        ///< of ranges
  RowNames* names = nullptr;                                     ///< set before the rows are read
  /// No GPU work of later chunks starts before this. INT64_MIN: unknown, as the trace is not in memory.
  TimeNs later_work_ns = INT64_MIN;

  template <typename Row>
  [[nodiscard]] ColumnTable<Row>& table() noexcept {
    return std::get<ColumnTable<Row>>(tables_);
  }
  template <typename Row>
  [[nodiscard]] const ColumnTable<Row>& table() const noexcept {
    return std::get<ColumnTable<Row>>(tables_);
  }

  void load(Columns columns);
  /// Removes all rows and lines, keeps the memory.
  void clear();
  /// A compact copy of these columns; the lines, samples and values are moved to it.
  [[nodiscard]] Chunk packed(Columns columns, ColumnMemory& memory);
  [[nodiscard]] std::size_t memory_bytes() const;
  /// Its lines have no place among the rows of other chunks.
  [[nodiscard]] bool has_names_only() const noexcept { return counts.events == 0; }
  /// Takes the lines of a chunk that has names only. Returns the bytes that they take.
  std::size_t add_names(Chunk& other);

  /// The rows of a table as they are.
  template <typename Row, typename See>
  void each(Columns wanted, See&& see) const {
    const ColumnTable<Row>& all = table<Row>();
    typename ColumnTable<Row>::RowReader rows(all, wanted, *names);
    for (std::size_t i = 0; i < all.size(); ++i) see(rows.next());
  }

  /// GPU work: see(KernelRecord&), see(MemcpyRecord&), see(MemsetRecord&) or see(GraphRecord&).
  template <typename See>
  void work(Columns wanted, See&& see) const {
    work_lines(wanted, [&see](auto& record, std::uint32_t) { see(record); });
  }
  /// GPU work and samples, in the order of the file. Needs Column::order.
  template <typename See>
  void work_and_samples(Columns wanted, See&& see) const {
    auto next = samples.begin();
    work_lines(wanted | Column::order, [&](auto& record, std::uint32_t number) {
      for (; next != samples.end() && next->first < number; ++next) see(next->second);
      see(record);
    });
    for (; next != samples.end(); ++next) see(next->second);
  }

  /// see(LaunchRecord&) or see(ExactRecord&), the latter for each form of exact lines.
  template <typename See>
  void launches(Columns wanted, See&& see) const {
    typename ColumnTable<ExactRow>::RowReader exact_rows(table<ExactRow>(), wanted, *names);
    const double* next_value = values.data();
    const bool has_exact = wanted.has(Column::exact);
    ExactRecord bare;  // its counters are not wanted
    each<LaunchRow>(wanted, [&](LaunchRow& launch) {
      if (launch.form == LaunchForm::plain) return see(launch.launch);
      if (!has_exact) {
        bare.launch = launch.launch;
        bare.is_counter_range = launch.form == LaunchForm::counter_range;
        return see(bare);
      }
      see(exact_of(exact_rows.next(), launch.form, next_value));
    });
  }
  /// see(ExactRecord&), of each form of exact lines.
  template <typename See>
  void exact(See&& see) const {
    const ColumnTable<ExactRow>& all = table<ExactRow>();
    if (all.size() == 0) return;
    typename ColumnTable<ExactRow>::RowReader rows(all, Column::exact, *names);
    const double* next_value = values.data();
    for (std::size_t i = 0; i < all.size(); ++i) {
      ExactRow& row = rows.next();
      see(exact_of(row, row.form, next_value));
    }
  }

  /// see(RangeRecord&)
  template <typename See>
  void ranges(Columns wanted, See&& see) const {
    const std::uint8_t* next_data = payload_data.data();
    each<RangeRow>(wanted, [&](RangeRow& row) {
      row.range.extras.payload_data.assign(next_data, next_data + row.data);
      next_data += row.data;
      see(row.range);
    });
  }

 private:
  static ExactRecord& exact_of(ExactRow& row, LaunchForm form, const double*& next_value) {
    row.exact.is_counter_range = form == LaunchForm::counter_range;
    row.exact.values.assign(next_value, next_value + row.values);
    row.exact.reason = row.reason;
    next_value += row.values;
    return row.exact;
  }

  template <typename See>
  void work_lines(Columns wanted, See&& see) const {
    typename ColumnTable<MemcpyRecord>::RowReader copies(table<MemcpyRecord>(), wanted, *names);
    typename ColumnTable<MemsetRecord>::RowReader memsets(table<MemsetRecord>(), wanted, *names);
    const bool has_copies = wanted.has(Column::copies);
    MemcpyRecord bare_copy;  // its kind and bytes are not wanted
    MemsetRecord bare_memset;
    GraphRecord graph;
    each<WorkRow>(wanted, [&](WorkRow& row) {
      if (row.kind == WorkKind::kernel) {
        see(row.kernel, row.line);
      } else if (row.kind == WorkKind::memcpy) {
        MemcpyRecord& copy = has_copies ? copies.next() : bare_copy;
        copy.work = row.kernel.work;
        see(copy, row.line);
      } else if (row.kind == WorkKind::memset) {
        MemsetRecord& memset = has_copies ? memsets.next() : bare_memset;
        memset.work = row.kernel.work;
        see(memset, row.line);
      } else {
        graph.work = row.kernel.work;
        see(graph, row.line);
      }
    });
  }

  std::vector<ColumnMemory::Block> blocks_;  // of packed columns
  std::tuple<ColumnTable<WorkRow>, ColumnTable<MemcpyRecord>, ColumnTable<MemsetRecord>,
             ColumnTable<LaunchRow>, ColumnTable<ExactRow>, ColumnTable<RangeRow>, ColumnTable<SyncRecord>,
             ColumnTable<AllocRecord>, ColumnTable<EventRecord>, ColumnTable<CaptureRecord>,
             ColumnTable<OverheadRecord>, ColumnTable<MarkRecord>>
      tables_;
};

}  // namespace rangefinder
