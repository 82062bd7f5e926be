// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/unit_parser.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/read_ledger.h"

namespace rangefinder {
namespace {

const char* behind_last_newline(std::string_view text) {
  const std::size_t at = text.rfind('\n');
  return at == std::string_view::npos ? text.data() : text.data() + at + 1;
}

}  // namespace

std::uint32_t UnitParser::NumberOf::operator()(std::string_view text) {
  // Texts are pooled: the same address is the same text.
  CachedNumber& slot = cache[reinterpret_cast<std::uintptr_t>(text.data()) / 16 % cache.size()];
  if (slot.text != text.data() || text.empty()) slot = {text.data(), names.number_of(text)};
  return slot.number;
}

/// Puts records where they belong.
class UnitParser::Sink {
 public:
  Sink(UnitParser& parser, Chunk& chunk) : of_(parser), chunk_(chunk) {}

  std::uint32_t number = 0;  ///< of the line

  /// The frequent records are read into the rows that are added.
  template <typename Record>
  Record& place() {
    return slot<Record>() = Record();
  }
  template <typename Record>
  void operator()(const Record& record) {
    const LineTimes times = times_of(record);
    if (times.reversed()) return broken(times.refusal(kind_name(record)));
    constexpr bool kEvent = is_event(kKind<Record>.name);
    count(kEvent);
    chunk_.counts.sums.add(record);
    put(record);
  }
  void operator()(const UnknownLine&) { count(true); }  // it may be an event
  void broken(std::string error) {
    if (++chunk_.counts.broken != 1) return;
    chunk_.counts.first_broken = number;
    chunk_.counts.error = std::move(error);
  }

 private:
  void count(bool event) {
    if (chunk_.counts.records++ == 0) chunk_.counts.first_record = number;
    chunk_.counts.events += event ? 1 : 0;
  }
  template <typename Row>
  void add(Columns columns, const Row& row) {
    if (of_.columns_.any_of(columns)) chunk_.table<Row>().add(row, of_.number_of_);
  }
  void see_start(const GpuWork& work) {
    if (work.start_ns == kNoTime) return;
    chunk_.counts.first_work_ns = std::min(chunk_.counts.first_work_ns, work.start_ns);
  }
  void work(WorkKind kind, const GpuWork& work) {
    see_start(work);
    add(kAllWork, WorkRow{number, kind, {work, 0, 0}});
  }
  /// The record as that of its row.
  template <typename Row, typename Record>
  const Row& row_of(Row& row, Record& own, const Record& record) {
    if (&record != &own) own = record;
    return row;
  }

  void put(const KernelRecord& kernel) {
    ++chunk_.counts.kernels;
    see_start(kernel.work);
    kernel_.line = number;
    add(kAllWork, row_of(kernel_, kernel_.kernel, kernel));
  }
  void put(const MemcpyRecord& copy) {
    work(WorkKind::memcpy, copy.work);
    add(Column::copies, copy);
  }
  void put(const MemsetRecord& memset) {
    work(WorkKind::memset, memset.work);
    add(Column::copies, memset);
  }
  void put(const GraphRecord& graph) {
    ++chunk_.counts.graphs;
    work(WorkKind::graph, graph.work);
  }
  void put(const LaunchRecord& launch) {
    if (launch.result == 0) chunk_.counts.launches.add(launch.host.start_ns);
    add(kAllLaunch, row_of(launch_, launch_.launch, launch));
  }
  void put(const ExactRecord& exact) {
    ++chunk_.counts.exact;
    const LaunchForm form = exact.is_counter_range ? LaunchForm::counter_range : LaunchForm::exact;
    add(kAllLaunch, LaunchRow{form, exact.launch});
    if (!of_.columns_.has(Column::exact)) return;
    chunk_.values.insert(chunk_.values.end(), exact.values.begin(), exact.values.end());
    const auto values = static_cast<std::uint32_t>(exact.values.size());
    add(Column::exact, ExactRow{form, exact, values, of_.texts_.keep(exact.reason)});
  }
  void put(const RangeRecord& range) {
    const std::vector<std::uint8_t>& data = range.extras.payload_data;
    if (of_.columns_.has(Column::range_payload))
      chunk_.payload_data.insert(chunk_.payload_data.end(), data.begin(), data.end());
    range_.data = static_cast<std::uint32_t>(data.size());
    add(kAllRange, row_of(range_, range_.range, range));
  }
  void put(const SyncRecord& sync) { add(Column::syncs, sync); }
  void put(const AllocRecord& alloc) { add(Column::allocs, alloc); }
  void put(const EventRecord& event) {
    chunk_.counts.event_waits = chunk_.counts.event_waits || event.wait;
    add(Column::events, event);
  }
  void put(const CaptureRecord& step) { add(Column::captures, step); }
  void put(const OverheadRecord& overhead) { add(Column::overheads, overhead); }
  void put(const SamplesRecord& samples) {
    ++chunk_.counts.samples;
    if (of_.columns_.has(Column::samples)) chunk_.samples.emplace_back(number, samples);
  }
  void put(const GapRecord& gap) {
    chunk_.counts.launches = {};
    chunk_.others.push_back({gap, number});
  }
  void put(const MarkRecord& mark) {
    chunk_.counts.last_mark_ns = std::max(chunk_.counts.last_mark_ns, mark.at_ns);
    add(Column::marks, mark);
  }
  template <typename Record>
  void put(const Record& record) {
    chunk_.others.push_back({record, number});
  }

  template <typename Record>
  Record& slot() {
    if constexpr (std::is_same_v<Record, KernelRecord>)
      return kernel_.kernel;
    else if constexpr (std::is_same_v<Record, LaunchRecord>)
      return launch_.launch;
    else if constexpr (std::is_same_v<Record, RangeRecord>)
      return range_.range;
    else
      return std::get<Record>(others_);
  }

  UnitParser& of_;
  Chunk& chunk_;
  WorkRow kernel_;
  LaunchRow launch_;
  RangeRow range_;
  std::tuple<ExactRecord, MemcpyRecord, MemsetRecord, GraphRecord, SyncRecord, EventRecord, AllocRecord,
             OverheadRecord, SamplesRecord, HoldRecord, MarkRecord, MonitorRecord, PathRecord>
      others_;
};

void UnitParser::parse(const UnitText& unit, Chunk& chunk) {
  Sink sink(*this, chunk);
  const char* at = unit.memory.get();
  const char* const end = at + unit.size;
  std::uint64_t unreadable = 0;  // lines in a row
  const char* const last = unit.torn ? behind_last_newline(unit.text()) : end;
  while (at != end) {
    ++sink.number;
    if (at < last) {
      if (const char* const next = scan_line(at, texts_, sink)) {
        at = next;
        unreadable = 0;
        continue;
      }
    }
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    const bool whole = newline != nullptr;
    if (!whole) newline = end;
    if (reader_.read({at, static_cast<std::size_t>(newline - at)}, line_)) {
      std::visit(sink, line_);
      unreadable = 0;
    } else if (whole) {
      sink.broken(reader_.error());
      chunk.counts.stopped = ++unreadable == kMaxUnreadableRun;
      if (chunk.counts.stopped) break;
    }
    at = newline + (whole ? 1 : 0);
  }
  chunk.counts.lines = sink.number;
}

}  // namespace rangefinder
