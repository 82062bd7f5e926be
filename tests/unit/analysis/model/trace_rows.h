// SPDX-License-Identifier: Apache-2.0
//
// What is read of a trace, line by line (read_trace) and in columns (Trace), in one form, to compare the two.
//
//   CHECK(difference(read_columns(files), read_lines(files)) == "");
//
// Records are texts with all bits of their members (plain_lines.h). Columns have no marks, no lines of
// unknown kinds, and of a graph not how a kernel launched it, so neither form has them.
#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <zstd.h>

#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/schema/plain_lines.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/model/unit_source.h"

namespace rangefinder::test {

inline constexpr Columns kAllColumns = kAllWork | kAllLaunch | Column::exact | kAllRange | Column::syncs |
                                       Column::allocs | Column::events | Column::captures |
                                       Column::overheads | Column::samples | Column::order;

inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / name;
}

/// All recorded runs, and the example of the schema, which has every kind of line.
inline std::vector<std::filesystem::path> all_recordings() {
  std::vector<std::filesystem::path> out{std::filesystem::path(RANGEFINDER_SCHEMA_FOLDER) / "examples"};
  for (const auto& entry : std::filesystem::directory_iterator(RANGEFINDER_TEST_GOLDEN))
    out.push_back(entry.path());
  return out;
}

/// Records by the table that has them, each table in the order of the file.
class TraceRows {
 public:
  enum Table : std::size_t {
    kWork,
    kLaunches,
    kRanges,
    kSyncs,
    kAllocs,
    kEvents,
    kCaptures,
    kOverheads,
    kSamples,
    kOthers,
    kTables
  };
  std::array<std::vector<std::string>, kTables> of;

  /// `mark`: precedes the text.
  void add(const Line& line, const std::string& mark = "") {
    const Table table = table_of(line);
    if (table != kTables) of[table].push_back(mark + plain_lines::content_of(line));
  }
  void add(const Chunk& chunk) {
    const auto put = [this](const auto& record) { add(Line(record)); };
    chunk.work(kAllWork, put);
    chunk.launches(kAllLaunch | Column::exact, put);
    chunk.ranges(kAllRange, put);
    chunk.each<SyncRecord>(Column::syncs, put);
    chunk.each<AllocRecord>(Column::allocs, put);
    chunk.each<EventRecord>(Column::events, put);
    chunk.each<CaptureRecord>(Column::captures, put);
    chunk.each<OverheadRecord>(Column::overheads, put);
    for (const auto& [number, samples] : chunk.samples) add(Line(samples));
    for (const Chunk::OtherLine& other : chunk.others) add(other.line);
  }

  /// kTables: none.
  static Table table_of(const Line& line) {
    return std::visit(
        [](const auto& record) {
          using Record = std::remove_cvref_t<decltype(record)>;
          if constexpr (requires { record.work; }) return kWork;
          if constexpr (std::is_same_v<Record, LaunchRecord> || std::is_same_v<Record, ExactRecord>)
            return kLaunches;
          if constexpr (std::is_same_v<Record, RangeRecord>) return kRanges;
          if constexpr (std::is_same_v<Record, SyncRecord>) return kSyncs;
          if constexpr (std::is_same_v<Record, AllocRecord>) return kAllocs;
          if constexpr (std::is_same_v<Record, EventRecord>) return kEvents;
          if constexpr (std::is_same_v<Record, CaptureRecord>) return kCaptures;
          if constexpr (std::is_same_v<Record, OverheadRecord>) return kOverheads;
          if constexpr (std::is_same_v<Record, SamplesRecord>) return kSamples;
          if constexpr (std::is_same_v<Record, MarkRecord> || std::is_same_v<Record, UnknownLine>)
            return kTables;
          return kOthers;
        },
        line);
  }
};

/// The same rows without the ids of paths. They depend on the order of reading where a path has no path line,
/// or one that comes after its use.
inline TraceRows without_path_ids(TraceRows rows) {
  for (auto& table : rows.of) {
    for (std::string& text : table) {
      const bool is_path = text.find(R"("t":"path")") != std::string::npos;
      for (const char* const key : {R"("path":)", R"("id":)", R"("parent":)"}) {
        const std::size_t at = text.find(key);
        if (at == std::string::npos || !(is_path || std::string_view(key) == R"("path":)")) continue;
        const std::size_t first = at + std::string_view(key).size();
        text.erase(first, text.find_first_not_of("0123456789", first) - first);
      }
    }
  }
  return rows;
}

/// The first difference; "": there is none.
inline std::string difference(const TraceRows& a, const TraceRows& b) {
  for (std::size_t table = 0; table < TraceRows::kTables; ++table) {
    const auto &x = a.of[table], &y = b.of[table];
    for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
      const std::string left = i < x.size() ? x[i] : "nothing", right = i < y.size() ? y[i] : "nothing";
      if (left != right)
        return "table " + std::to_string(table) + ", row " + std::to_string(i) + ":\n" + left + "\n" + right;
    }
  }
  return "";
}

/// A trace as it was read, or why it was refused.
struct ReadOutcome {
  TraceRows rows;
  std::string summary;  ///< ReadSummary
  std::string first_broken;
  std::string refusal;  ///< what() of Missing
};

inline std::string difference(const ReadOutcome& a, const ReadOutcome& b) {
  if (a.refusal != b.refusal) return "refused: " + a.refusal + "\nrefused: " + b.refusal;
  if (!a.refusal.empty()) return "";
  if (a.first_broken != b.first_broken) return "broken: " + a.first_broken + "\nbroken: " + b.first_broken;
  if (a.summary != b.summary) return a.summary + "\n" + b.summary;
  return difference(a.rows, b.rows);
}

inline std::string summary_text(const ReadSummary& read) {
  std::string out;
  for (const std::uint64_t count : {read.lines, read.broken, read.torn_line, read.missing_lines})
    out += std::to_string(count) + " ";
  for (const bool flag : {read.torn, read.torn_inside}) out += flag ? "yes " : "no ";
  return out + read.torn_file.string() + "|" + read.incomplete + "|" + read.damage;
}

/// As the verbs that show a trace read its lines.
inline ReadOutcome read_lines(const TraceFolder& files) {
  ReadOutcome out;
  TraceBeginning beginning;
  LineReader reader;
  const auto see = [&](const Line& line, const LinePlace& place) {
    beginning.line(line, place);
    if (const auto* const graph = std::get_if<GraphRecord>(&line))
      return out.rows.add(GraphRecord{graph->work});
    out.rows.add(line);
  };
  const auto broken = [&](const std::string& error, const LinePlace& place) {
    beginning.broken(error, place);
    if (out.first_broken.empty()) out.first_broken = place_text(place) + error;
  };
  try {
    const ReadSummary read = rangefinder::read_lines(files, reader, see, broken);
    TraceBeginning::end(files, read);
    out.summary = summary_text(read);
  } catch (const Missing& error) {
    out.refusal = error.what();
  }
  return out;
}

/// All columns of one pass over the chunks.
inline TraceRows read_rows(Trace& trace) {
  TraceRows out;
  trace.each_chunk([&out](const Chunk& chunk) { out.add(chunk); });
  return out;
}

inline ReadOutcome read_columns(const TraceFolder& files, unsigned jobs = 2) {
  ReadOutcome out;
  try {
    Trace trace(files, {.columns = kAllColumns, .limits = {.jobs = jobs}});
    out.rows = read_rows(trace);
    out.summary = summary_text(trace.names().read);
    out.first_broken = trace.names().first_broken;
  } catch (const Missing& error) {
    out.refusal = error.what();
  }
  return out;
}

/// Replaces a segment by its compressed form, without its last `cut` bytes.
inline void compress_segment(const std::filesystem::path& path, std::size_t cut = 0) {
  const std::string plain = content(path);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1) - cut);
  std::ofstream(path.string() + ".zst", std::ios::binary) << packed;
  std::filesystem::remove(path);
}

/// Lines of names, with which a made segment begins.
inline std::string name_lines(std::uint32_t segment = 0) {
  return line_of(header(segment)) + line_of(gpu()) + line_of(ContextRecord{1, 0, 7, false}) +
         line_of(path(1, 0, "model")) + line_of(path(2, 1, "model.encoder.layers.0")) +
         line_of(kernel_name(1, "gemm(float*)")) + line_of(config(1));
}

/// Launches with their kernels, of about 230 bytes each, numbered from `first`. No two are equal.
inline std::string launch_lines(std::uint32_t first, std::uint32_t count) {
  std::string out;
  for (std::uint32_t i = first; i < first + count; ++i) {
    const TimeNs at = 1'000 * TimeNs{i};
    LaunchRecord launched = launch(i, 1 + i % 2, i);
    launched.host.start_ns = at;
    launched.host.end_ns = at + 300;
    write_line(out, launched);
    write_line(out, kernel(i, 1 + i % 2, at + 400, at + 400 + i % 97, i));
  }
  return out;
}

inline void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace rangefinder::test
