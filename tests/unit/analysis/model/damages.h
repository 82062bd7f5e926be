// SPDX-License-Identifier: Apache-2.0
//
// The corpus of damaged traces: the ways in which a TraceOnDisk can be wrong, and what the readers report.
//
//   kDamages --> damages_test.cpp         read_trace, validate and salvage, in the process
//            --> damaged_traces.cpp       folders for tests/tools/damage_test.py, which tries each verb on
//            each
//            --> property/trace_fuzz.cpp  with random damage on top
//
// Damage that only one test needs stays in that test.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/analysis/model/trace_on_disk.h"

namespace rangefinder::damages {

using namespace test;

struct Damage {
  const char* name;  ///< also of its folder
  /// Parts of the message of each verb that shows traces, the place first; none: the verb shows it and ends
  /// with 0.
  std::vector<const char*> message;
  const char* problems;  ///< the kinds of problems that validate finds; "": the trace is valid
  void (*change)(TraceOnDisk&);
  void (*change_files)(const TraceOnDisk&) = nullptr;  ///< after the trace was written
};

using T = TraceOnDisk;

inline void replace(std::string& text, std::string_view from, std::string_view to) {
  text.replace(text.find(from), from.size(), to);
}

inline std::string version_key(std::string_view version) {
  return "\"version\":\"" + std::string(version) + "\"";
}

/// A second segment: the names again, then another launch with its kernel.
inline void write_segment(const T& trace, std::uint32_t number, std::int64_t pid = header().pid) {
  Header of_segment = header(number);
  of_segment.pid = pid;
  std::ofstream out(trace.segment(number), std::ios::binary);
  out << line_of(of_segment);
  for (const T::Line line : {T::kGpu, T::kOuter, T::kName, T::kConfig}) out << trace.lines[line];
  out << line_of(launch(3, 1)) << line_of(kernel(3, 1, 10'000, 12'000));
}

inline void cut_end(T& trace) {
  trace.lines[T::kEnd].resize(20);
}
inline void no_end(T& trace) {
  trace.lines.pop_back();
}
inline void unchanged(T&) {}

// clang-format off
inline const std::vector<Damage> kDamages{
    // Unusual, but correct.
    {"whole", {}, "", unchanged},
    {"cut by a kill", {}, "", cut_end},
    {"stacks", {}, "", [](T& t) { t.add_stacks({{200, 2, 1}}); }},
    {"header alone", {}, "", [](T& t) { t.lines.resize(1); }},
    {"no kernels", {}, "", [](T& t) {
       t.lines = {t.lines[T::kHeader], t.lines[T::kGpu], line_of(path(1, 0, "model")), line_of(range(1, 1, 50, 500))};
     }},

    // The files.
    {"empty segment", {"complete line"}, "header", [](T& t) { t.lines.clear(); }},
    {"cut in the first line", {"complete line"}, "header", [](T& t) { t.lines = {t.lines[0].substr(0, 50)}; }},
    {"cut segment before others", {"trace-00000.ndjson:14", "cut here"}, "incomplete", cut_end,
     [](const T& t) { write_segment(t, 1); }},
    {"missing segment", {"lacks segment 1", "before trace-00002.ndjson"}, "incomplete", no_end,
     [](const T& t) { write_segment(t, 2); }},
    {"missing first segment", {"lacks segment 0", "before trace-00003.ndjson"}, "incomplete", no_end,
     [](const T& t) { std::filesystem::remove(t.segment()); write_segment(t, 3); }},
    {"two traces in one folder", {"trace-00001.ndjson:1", "99", "4711", "two traces are in one folder"}, "header",
     no_end, [](const T& t) { write_segment(t, 1, 99); }},
    {"folder instead of a segment", {"trace-00000.ndjson", "cannot"}, "unreadable", unchanged,
     [](const T& t) { std::filesystem::remove(t.segment()); std::filesystem::create_directories(t.segment() / "x"); }},
    {"dangling link instead of a segment", {"trace-00000.ndjson", "cannot open"}, "unreadable", unchanged,
     [](const T& t) { std::filesystem::remove(t.segment()); std::filesystem::create_symlink("no", t.segment()); }},
    {"plain segment with the name of a compressed one", {"trace-00000.ndjson.zst"}, "header", unchanged,
     [](const T& t) { std::filesystem::rename(t.segment(), t.segment().string() + ".zst"); }},

    // Other formats and versions.
    {"version too new", {"trace-00000.ndjson:1", "2.0"}, "line",
     [](T& t) { replace(t.lines[0], version_key(kSchemaVersion), version_key("2.0")); }},
    {"invalid version", {"trace-00000.ndjson:1", "MAJOR.MINOR"}, "line",
     [](T& t) { replace(t.lines[0], version_key(kSchemaVersion), version_key("new")); }},
    {"another schema", {"trace-00000.ndjson:1", "not a Rangefinder trace"}, "line",
     [](T& t) { replace(t.lines[0], "rangefinder.trace", "\\u001b[2Jx"); }},
    {"another program's JSON", {"trace-00000.ndjson:1", "\"t\""}, "header, line",
     [](T& t) { t.lines = {"{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1}]}\n"}; }},
    {"another program's JSON lines", {"trace-00000.ndjson:1", "not a Rangefinder trace"}, "line",
     [](T& t) { t.lines = {"{\"t\":\"header\",\"schema\":\"other\",\"version\":\"1.0\"}\n", "{\"t\":\"x\"}\n"}; }},
    {"random bytes", {"trace-00000.ndjson:1"}, "header, line", [](T& t) {
       t.lines.clear();
       for (int i = 0; i < 64 * 256; ++i) t.lines.emplace_back(1, static_cast<char>(i));
     }},

    // The structure.
    {"no header", {"trace-00000.ndjson", "header"}, "header", [](T& t) { t.lines.erase(t.lines.begin()); }},
    {"header in the second line", {"trace-00000.ndjson", "header"}, "header",
     [](T& t) { std::swap(t.lines[T::kHeader], t.lines[T::kGpu]); }},
    {"two headers", {}, "header", [](T& t) { t.lines[T::kGpu] += t.lines[T::kHeader]; }},
    {"header of another segment", {}, "segment", [](T& t) { t.lines[T::kHeader] = line_of(header(4)); }},
    {"line that is not JSON", {"trace-00000.ndjson:8", "not JSON"}, "line",
     [](T& t) { t.lines[T::kKernel1].insert(0, "{\"t\":\"kernel\",\"start\":\n"); }},
    {"two lines that are not JSON", {"trace-00000.ndjson:8: the line is not JSON", "(and 1 more)"}, "line",
     [](T& t) { t.lines[T::kKernel1].insert(0, "{\"t\":\"kernel\"\nno JSON\n"); }},
    {"very deep nesting", {"trace-00000.ndjson:8"}, "line",
     [](T& t) { t.lines[T::kKernel1].insert(0, std::string(200'000, '[') + "\n"); }},
    {"line after the end", {}, "end", [](T& t) { t.lines.push_back(line_of(ClockRecord{1, 2})); }},

    // Identities.
    {"path without a name", {}, "unknown-id", [](T& t) { t.lines[T::kInner].clear(); }},
    {"configuration too late", {}, "unknown-id", [](T& t) { std::swap(t.lines[T::kConfig], t.lines[T::kLaunch2]); }},
    {"gpu without a line", {}, "unknown-id", [](T& t) { t.lines[T::kGpu].clear(); }},
    {"range without a line", {}, "unknown-id", [](T& t) { t.lines[T::kRange2] = line_of(range(9, 2, 150, 400)); }},
    {"parent that is not smaller", {"trace-00000.ndjson:4: path: 3 has parent 3, which is not smaller"}, "line",
     [](T& t) { t.lines[T::kOuter] += line_of(path(3, 3, "loop")); }},
    {"path of too many levels", {"trace-00000.ndjson:131: path: 129 has more than 128 levels"}, "line", [](T& t) {
       for (std::uint32_t id = 3; id <= 129; ++id) t.lines[T::kInner] += line_of(path(id, id - 1, "x"));
     }},
    {"stack whose caller is not smaller", {}, "stack", [](T& t) { t.add_stacks({{9, 0, 1}, {7, 9, 1}}); }},
    {"stack of too many levels", {}, "stack", [](T& t) {
       std::vector<StackRecord> deep;
       for (std::uint32_t id = 3; id <= 129; ++id) deep.push_back({id, id - 1, 1});
       t.add_stacks(deep);
     }},
    {"stack without a frame", {}, "unknown-id", [](T& t) { t.add_stacks({{3, 2, 7}}); }},
    {"sample of a stack without a line", {}, "unknown-id", [](T& t) { t.add_stacks({}, {{0, 1}, {10, 8}}); }},
    {"samples of stacks that go back in time", {}, "stack", [](T& t) { t.add_stacks({}, {{20, 1}, {10, 2}}); }},
    {"sample of a stack after the end of its line", {}, "stack", [](T& t) { t.add_stacks({}, {{0, 1}, {31, 2}}); }},
    {"one id with two contents", {}, "duplicate-id", [](T& t) { t.lines[T::kConfig] += line_of(path(2, 1, "other")); }},
    {"one range id twice", {}, "duplicate-id", [](T& t) {
       t.lines[T::kRange1] += t.lines[T::kRange1];
       t.change_end([](EndRecord& end) { end.records[2].second = 3; });
     }},

    // Times and launches.
    {"kernel ends before its start", {"trace-00000.ndjson:8: kernel: ends at 1000 ns, before its start at 3000 ns"},
     "time", [](T& t) { t.lines[T::kKernel1] = line_of(kernel(1, 1, 3'000, 1'000, 1)); }},
    {"range ends before its start", {"trace-00000.ndjson:12", "before its start"}, "time",
     [](T& t) { t.lines[T::kRange1] = line_of(range(1, 1, 500, 50)); }},
    {"impossible time", {"trace-00000.ndjson:8", "4611686018427387903"}, "counts, line",
     [](T& t) { replace(t.lines[T::kKernel1], "3000", "4611686018427387904"); }},
    {"times whose sum is over 2^64", {"the times of GPU work of its lines sum to 2^64 or more"}, "sum", [](T& t) {
       t.lines[T::kKernel1] = line_of(kernel(1, 1, -kMaxNs, kMaxNs, 1));
       t.lines[T::kKernel2] = line_of(kernel(2, 2, -kMaxNs, kMaxNs, 2));
       t.lines[T::kKernel2] += t.lines[T::kKernel2];
       t.change_end([](EndRecord& end) { end.records[0].second = 3; });
     }},
    {"kernel without times", {}, "untimed",
     [](T& t) { t.lines[T::kKernel2] = line_of(kernel(2, 2, kNoTime, kNoTime, 2)); }},
    {"two launches with one correlation", {}, "correlation", [](T& t) {
       t.lines[T::kLaunch2] += line_of(launch(1, 1));
       t.change_end([](EndRecord& end) { end.records[1].second = 3; });
     }},
    {"kernel without a launch", {}, "correlation",
     [](T& t) { t.lines[T::kKernel2] = line_of(kernel(77, 2, 3'000, 4'000, 2)); }},

    // Counts.
    {"too few kernel lines", {}, "counts", [](T& t) {
       t.lines[T::kKernel2].clear();
       t.lines[T::kFlush] = line_of(FlushRecord{5'000, 5, {}});
     }},
    {"heartbeat counts too many lines", {}, "counts",
     [](T& t) { t.lines[T::kFlush] = line_of(FlushRecord{5'000, 7, {}}); }},
    {"heartbeats go back", {}, "flush", [](T& t) { t.lines[T::kFlush] += line_of(FlushRecord{6'000, 5, {}}); }},
    {"balance does not add up", {}, "ledger",
     [](T& t) { t.change_end([](EndRecord& end) { end.balance[0].launched = 3; }); }},
    {"lost launches without a cause", {}, "ledger",
     [](T& t) { t.change_end([](EndRecord& end) { end.balance[0] = {3, 2, 0, 1}; }); }},
    {"exact launches without lines", {}, "ledger",
     [](T& t) { t.change_end([](EndRecord& end) { end.balance[3] = {1, 0, 1, 0}; }); }},
    {"record that the ledger calls lost", {}, "ledger", [](T& t) {
       t.change_end([](EndRecord& end) {
         end.balance[0] = {2, 1, 0, 1};
         end.loss[static_cast<std::size_t>(Loss::launch_without_record)] = 1;
       });
     }},
};
// clang-format on

/// Writes the trace with this damage.
inline void make_damaged(const Damage& damage, T& trace) {
  damage.change(trace);
  trace.write();
  if (damage.change_files != nullptr) damage.change_files(trace);
}

/// The same in `folder`, which is there.
inline void make_damaged(const Damage& damage, const std::filesystem::path& folder) {
  TraceOnDisk trace;
  make_damaged(damage, trace);
  constexpr auto kAsTheyAre =
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks;
  std::filesystem::copy(trace.folder.path(), folder, kAsTheyAre);
}

}  // namespace rangefinder::damages
