// SPDX-License-Identifier: Apache-2.0
//
// `--section sync`: where host threads waited for a GPU, by path and call.
//
// Counts calls that only wait (cuStreamSynchronize, …) and synchronous copies. The share is of the thread's
// time, from its first to its last line in the trace. A second table has the sums by thread. `--depth` folds
// deeper paths into their parents.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kSyncSectionColumns = kHostCallColumns | Column::launch_thread | Column::launch_path |
                                        Column::launch_call | Column::range_times | Column::range_thread;

/// Copies between host and device that block the caller until they are done. Copies within a device
/// (cuMemcpyDtoD) return immediately.
bool copy_waits(std::string_view api) {
  constexpr std::array<std::string_view, 8> kCopies{
      "cuMemcpy",     "cuMemcpyHtoD", "cuMemcpyDtoH",        "cuMemcpyHtoA",
      "cuMemcpyAtoH", "cuMemcpy2D",   "cuMemcpy2DUnaligned", "cuMemcpy3D"};
  return std::find(kCopies.begin(), kCopies.end(), api) != kCopies.end();
}

struct Span {
  TimeNs first_ns = kNoTime, last_ns = kNoTime;
  void add(TimeNs start, TimeNs end) {
    if (start == kNoTime || end == kNoTime) return;
    first_ns = first_ns == kNoTime ? start : std::min(first_ns, start);
    last_ns = last_ns == kNoTime ? end : std::max(last_ns, end);
  }
};

class SyncSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    const Holds& holds = rows.names().holds;
    const auto see = [this](const HostWork& host) { spans_[host.thread].add(host.start_ns, host.end_ns); };
    rows.ranges(kSyncSectionColumns, [this](const RangeRecord& range, bool begins) {
      if (begins) spans_[range.thread].add(range.start_ns, range.end_ns);
    });
    rows.launches(kSyncSectionColumns, [&](const auto& call, bool) {
      const LaunchRecord* const launch = launch_of(call);
      if (launch == nullptr) return;
      see(launch->host);
      if (copy_waits(launch->api)) add(launch->host, launch->api, true, holds);
    });
    rows.other_calls(kSyncSectionColumns, [&]<typename Call>(const Call& call, bool) {
      see(call.host);
      if constexpr (std::is_same_v<Call, SyncRecord>) add(call.host, call.api, false, holds);
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    return {by_path(input), by_thread(input.trace)};
  }

 private:
  struct WaitingCall {
    std::uint32_t thread = 0, path = 0;
    std::string api;
    bool is_copy = false;
    auto operator<=>(const WaitingCall&) const = default;
  };

  void add(const HostWork& host, std::string_view api, bool is_copy, const Holds& holds) {
    rows_[{host.thread, host.path, std::string(api), is_copy}].add(holds.net_ns(host));
  }

  std::uint64_t span_ns(std::uint32_t thread) const {
    const auto at = spans_.find(thread);
    return at == spans_.end() ? 0 : duration_ns(at->second.first_ns, at->second.last_ns);
  }

  static std::string thread_title(const TraceNames& trace, std::uint32_t thread) {
    const auto at = trace.threads.find(thread);
    return std::to_string(thread) + (at == trace.threads.end() ? "" : " " + at->second);
  }

  static void add_waits(std::vector<Cell>& row, const DurationHistogram& waits, std::uint64_t span_ns) {
    row.push_back(number_cell(waits.count()));
    row.push_back(number_cell(waits.total_ns()));
    row.push_back(ratio_cell(waits.total_ns(), span_ns));
    row.push_back(number_cell(waits.mean_ns()));
    row.push_back(quantile_cell(waits, 0.95));
    row.push_back(number_cell(waits.max_ns()));
  }

  static void add_wait_columns(Table& table) {
    table.columns.insert(table.columns.end(), {{"count", "count", Unit::count},
                                               {"total_ns", "waited", Unit::ns},
                                               {"thread_share", "of thread", Unit::share},
                                               {"mean_ns", "mean", Unit::ns},
                                               {"p95_ns", "95th percentile", Unit::ns, 40},
                                               {"max_ns", "longest", Unit::ns}});
  }

  Table by_path(const SectionInput& input) const {
    Table table;
    table.name = "sync";
    table.empty = "No host thread waited for a GPU in this trace.";
    table.columns = {{"path", "where"}, {"api", "call"}, {"waits_for", "waits for", Unit::text, 60}};
    add_wait_columns(table);
    table.columns.push_back({"thread", "thread", Unit::text, 50});
    std::map<WaitingCall, DurationHistogram> folded;
    for (const auto& [key, waits] : rows_) {
      WaitingCall shown = key;
      shown.path = path_at_depth(input.trace, key.path, input.view.depth);
      folded[shown].add(waits);
    }
    for (const auto& [key, waits] : folded) {
      std::vector<Cell> row{text_cell(path_title(input.trace, key.path)), text_cell(key.api),
                            key.is_copy ? "its copy" : "earlier work"};
      add_waits(row, waits, span_ns(key.thread));
      if (spans_.size() > 1) row.push_back(text_cell(thread_title(input.trace, key.thread)));
      table.add(std::move(row));
    }
    sort_rows(table, "total_ns");
    return without_empty_columns(std::move(table));
  }

  Table by_thread(const TraceNames& trace) const {
    Table table;
    table.name = "sync_threads";
    table.title = "By thread";
    table.columns = {{"thread", "thread"}, {"span_ns", "seen for", Unit::ns}};
    add_wait_columns(table);
    std::map<std::uint32_t, DurationHistogram> threads;
    for (const auto& [key, waits] : rows_) threads[key.thread].add(waits);
    for (const auto& [thread, waits] : threads) {
      std::vector<Cell> row{text_cell(thread_title(trace, thread)), number_cell(span_ns(thread))};
      add_waits(row, waits, span_ns(thread));
      table.add(std::move(row));
    }
    sort_rows(table, "total_ns");
    return table;
  }

  std::map<WaitingCall, DurationHistogram> rows_;
  std::map<std::uint32_t, Span> spans_;
};

}  // namespace

const SectionKind kSyncSection{"sync", "where host threads waited for a GPU", make_section<SyncSection>,
                               kSyncSectionColumns};

}  // namespace rangefinder
