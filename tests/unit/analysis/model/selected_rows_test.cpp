// SPDX-License-Identifier: Apache-2.0
//
// Selected rows against Selection::select over the records of read_lines.
#include "tools/analysis/model/selected_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"

namespace rangefinder::selected_rows_test {
namespace {

using test::difference;
using test::golden;
using test::TraceRows;

constexpr const char* kRecordings[]{"rtdetr_unfused", "multi_stream_ranges", "decoder_exact"};

/// The time of the middle third of the GPU work.
HalfOpen<TimeNs> middle(const TraceFolder& files) {
  Trace trace(files, {.columns = kAllWork});
  std::vector<TimeNs> starts;
  trace.each_chunk([&](const Chunk& chunk) {
    chunk.work(Column::work_times, [&](const auto& record) { starts.push_back(record.work.start_ns); });
  });
  std::sort(starts.begin(), starts.end());
  return {starts.at(starts.size() / 3) + 1, starts.at(2 * starts.size() / 3) + 1};
}

/// Each option, and combinations of them.
std::map<std::string, SelectionOptions> all_options(const TraceFolder& files) {
  std::map<std::string, SelectionOptions> out;
  SelectionOptions range, kernel, iterations, window;
  range.range = "**/*e*";
  kernel.kernel = "e.*<|gemm|axpy";
  iterations.iterations = {1, 3};
  window.window = middle(files);
  out = {{"everything", {}},
         {"range", range},
         {"kernel", kernel},
         {"iterations", iterations},
         {"window", window}};
  SelectionOptions both = range;
  both.kernel = kernel.kernel;
  out["range, kernel"] = both;
  both.window = window.window;
  out["range, kernel, window"] = both;
  both.iterations = {0, 2};
  out["range, kernel, window, iterations"] = both;
  both = iterations;
  both.window = window.window;
  out["iterations, window"] = both;
  both = iterations;
  both.range = range.range;
  out["iterations, range"] = both;
  both = window;
  both.window.first.reset();
  out["window with an open start"] = both;
  both = window;
  both.range = "*";
  out["window, outermost ranges"] = both;
  return out;
}

std::string mark(bool begins) {
  return begins ? "" : "rest ";
}

bool is_row(TraceRows::Table table) {
  return table < TraceRows::kSamples;
}

TraceRows taken_lines(const TraceFolder& files, const SelectionOptions& options, bool all_ranges) {
  Trace iterations(files, {.columns = {}, .while_reading = kIterationColumns, .keep = Keep::no});
  Selection selection(options, iterations);
  TraceRows out;
  LineReader reader;
  static_cast<void>(rangefinder::read_lines(files, reader, [&](const Line& line, const LinePlace&) {
    selection.learn(line);
    Line taken = line;
    const Part part = std::visit([&](auto& record) { return selection.select(record); }, taken);
    if (!part.selected || !(part.in_range || all_ranges)) return;
    if (is_row(TraceRows::table_of(line))) out.add(taken, mark(part.begins));
  }));
  return out;
}

/// Passes the selected rows of all chunks to `see`.
template <typename See>
void each_selected(Trace& trace, const SelectionOptions& options, bool all_ranges, const See& see) {
  Selection selection(options, trace);
  trace.each_chunk([&](const Chunk& chunk) {
    for (const Chunk::OtherLine& other : chunk.others) selection.learn(other.line);
    see(SelectedRows(chunk, trace.names(), selection, all_ranges));
  });
}

TraceRows taken_rows(Trace& trace, const SelectionOptions& options, bool all_ranges) {
  TraceRows out;
  const auto put = [&out](const auto& record, bool begins) { out.add(Line(record), mark(begins)); };
  each_selected(trace, options, all_ranges, [&](const SelectedRows& rows) {
    rows.work(kAllWork, put);
    rows.launches(kAllLaunch | Column::exact, put);
    rows.ranges(kAllRange, put);
    rows.each<SyncRecord>(Column::syncs, put);
    rows.each<AllocRecord>(Column::allocs, put);
    rows.each<EventRecord>(Column::events, put);
    rows.each<CaptureRecord>(Column::captures, put);
    rows.each<OverheadRecord>(Column::overheads, put);
  });
  return out;
}

std::size_t row_count(const TraceRows& rows) {
  std::size_t out = 0;
  for (const auto& table : rows.of) out += table.size();
  return out;
}

/// Kinds of the selected records, as the narrowest query sees them: it reads no column itself.
std::string selected_kinds(Trace& trace, const SelectionOptions& options, Columns wanted) {
  std::string out;
  const auto put = [&out](const auto& record, bool begins) {
    out += std::string(kind_name(record)) + (begins ? " " : "- ");
  };
  each_selected(trace, options, false, [&](const SelectedRows& rows) {
    rows.work(wanted & kAllWork, put);
    rows.launches(wanted & kAllLaunch, [&](const auto&, bool begins) { out += begins ? "l" : "-"; });
    rows.ranges(wanted & kAllRange, put);
  });
  return out;
}

/// The calls of all chunks.
struct SeenCalls {
  explicit SeenCalls(Trace& trace) {
    std::map<std::uint32_t, TimeNs> latest;  // by thread
    each_selected(trace, {}, true, [&](const SelectedRows& rows) {
      rows.calls(kAllLaunch, [&](const auto& record) {
        const HostWork& host = host_of(record);
        const auto [at, fresh] = latest.emplace(host.thread, host.start_ns);
        out_of_order += !fresh && host.start_ns < at->second ? 1 : 0;
        at->second = host.start_ns;
        ++calls;
      });
    });
  }
  std::size_t calls = 0, out_of_order = 0;
};

/// As the tables have them.
std::size_t call_count(Trace& trace) {
  std::size_t out = 0;
  const auto count = [&out](const auto&, bool) { ++out; };
  each_selected(trace, {}, true, [&](const SelectedRows& rows) {
    rows.launches(kAllLaunch, [&](const auto& record, bool) { out += launch_of(record) != nullptr; });
    rows.each<SyncRecord>(Column::syncs, count);
    rows.each<AllocRecord>(Column::allocs, count);
    rows.each<EventRecord>(Column::events, count);
    rows.each<CaptureRecord>(Column::captures, count);
  });
  return out;
}

}  // namespace

TEST_CASE("selected rows are those that the selection takes of the lines") {
  for (const char* const recording : kRecordings) {
    const TraceFolder files = open_trace_folder(golden(recording));
    for (const auto& [name, options] : all_options(files)) {
      for (const bool all_ranges : {false, true}) {
        CAPTURE(recording, name, all_ranges);
        Trace trace(files, {.columns = test::kAllColumns, .while_reading = kIterationColumns});

        CHECK(difference(taken_rows(trace, options, all_ranges), taken_lines(files, options, all_ranges)) ==
              "");
      }
    }
  }
}

TEST_CASE("each option selects a part of a recording, neither nothing nor all") {
  const TraceFolder files = open_trace_folder(golden("rtdetr_unfused"));
  Trace trace(files, {.columns = test::kAllColumns, .while_reading = kIterationColumns});
  const std::size_t all = row_count(taken_rows(trace, {}, false));
  const auto options = all_options(files);
  for (const char* const name : {"range", "kernel", "iterations", "window"}) {
    CAPTURE(name);
    const std::size_t selected = row_count(taken_rows(trace, options.at(name), false));

    CHECK(selected > 0);
    CHECK(selected < all);
  }
}

TEST_CASE("a query that reads no columns has the same selection, with the columns that the selection needs") {
  for (const char* const recording : kRecordings) {
    const TraceFolder files = open_trace_folder(golden(recording));
    for (const auto& [name, options] : all_options(files)) {
      CAPTURE(recording, name);
      Trace all(files, {.columns = test::kAllColumns, .while_reading = kIterationColumns});
      Trace few(files, {.columns = Selection::columns(options), .while_reading = kIterationColumns});

      CHECK((selected_kinds(few, options, {}) == selected_kinds(all, options, test::kAllColumns)));
    }
  }
}

TEST_CASE(
    "the selection of a later pass is that of the first, where chunks are kept and where they are read "
    "again",
    "[.large]") {
  for (const char* const recording : {"multi_stream_ranges", "hf_rtdetr_trace", "eval_rtdetr_exact"}) {
    const TraceFolder files = open_trace_folder(golden(recording));
    for (const auto& [name, options] : all_options(files)) {
      for (const Keep keep : {Keep::yes, Keep::no}) {
        CAPTURE(recording, name, static_cast<int>(keep));
        Trace trace(files, {.columns = test::kAllColumns, .while_reading = kIterationColumns, .keep = keep});
        const TraceRows first = taken_rows(trace, options, false);

        CHECK(difference(taken_rows(trace, options, false), first) == "");
      }
    }
  }
}

TEST_CASE("all calls are passed, those of a thread in order of their starts") {
  for (const char* const recording : {"multi_stream", "rtdetr_unfused", "graph_replay"}) {
    CAPTURE(recording);
    Trace trace(open_trace_folder(golden(recording)), {.columns = test::kAllColumns});
    const SeenCalls seen(trace);

    CHECK(seen.calls > 100);
    CHECK(seen.calls == call_count(trace));
    CHECK(seen.out_of_order == 0);
  }
}

TEST_CASE("calls are in order of their starts where exact lines come after those of later launches") {
  Trace trace(open_trace_folder(golden("decoder_exact")), {.columns = test::kAllColumns});
  const SeenCalls seen(trace);

  CHECK(seen.calls == call_count(trace));
  CHECK(seen.out_of_order == 0);
}

TEST_CASE("lines that are no rows are selected, whatever the options") {
  const TraceFolder files = open_trace_folder(golden("rtdetr_unfused"));
  SelectionOptions nothing;
  nothing.range = "no such range";
  nothing.window = {0, 1};
  Trace trace(files, {.columns = test::kAllColumns});
  std::size_t kernels = 0, paths = 0, work = 0;

  each_selected(trace, nothing, false, [&](const SelectedRows& rows) {
    rows.lines<KernelNameRecord>([&](const KernelNameRecord&) { ++kernels; });
    rows.lines<PathRecord>([&](const PathRecord&) { ++paths; });
    rows.work(kAllWork, [&](const auto&, bool) { ++work; });
  });

  CHECK(kernels == trace.names().kernel_names.size());
  CHECK(paths >= trace.names().paths.size());
  CHECK(work == 0);
}

}  // namespace rangefinder::selected_rows_test
