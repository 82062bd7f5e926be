// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever stands in the files of a trace, reading ends, in bounded time and memory, with totals
// or with Missing and nothing else; plain lines are read as the JSON parser reads them; and what salvage
// calls done is valid.
//
// Traces are the recorded runs of tests/replay/, played here, and then spoiled: trace_mutations.h.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <variant>

#include "profiler/cupti/loader.h"
#include "schema/write_line.h"
#include "tests/property/cases.h"
#include "tests/property/recorded_buffers.h"
#include "tests/property/trace_mutations.h"
#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/tables/module_table.h"
#include "tools/analysis/validate/salvage.h"
#include "tools/replay/recording_player.h"

using namespace rangefinder;
using property::Lines;
using property::Random;
using test::content;
using test::line_of;
namespace fs = std::filesystem;

namespace {

constexpr double kMaxSeconds = 20;  // of a case; under sanitizers and on a busy machine too
constexpr long kMaxKib = 3L << 20;
constexpr std::size_t kMaxLines = 120;

struct Recorded {
  std::string name;
  Lines lines;
  std::string summary;
};

Lines split(const std::string& text) {
  Lines out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return out;
}

std::vector<Recorded> play_all(const CuptiFunctions& cupti, const fs::path& folder) {
  std::vector<Recorded> out;
  const Options options;
  for (const auto& entry : fs::directory_iterator(RANGEFINDER_TEST_RECORDINGS)) {
    const fs::path recording = entry.path() / "recording.zst";
    if (!fs::exists(recording)) continue;
    const fs::path trace = folder / entry.path().filename();
    RecordingReader reader(property::decompressed(recording), recording);
    RecordingPlayer(cupti, options).play(reader, trace);
    out.push_back({entry.path().filename(), split(content(trace / "trace-00000.ndjson")),
                   content(trace / "summary.json")});
  }
  std::sort(out.begin(), out.end(), [](const Recorded& a, const Recorded& b) { return a.name < b.name; });
  return out;
}

/// With a space in front only the JSON parser takes it.
bool reads_alike(const std::string& text, LineReader& reader) {
  Line plain, parsed;
  const bool as_it_is = reader.read(text, plain);
  const std::string error = reader.error();
  const bool as_json = reader.read(" " + text, parsed);
  if (as_it_is != as_json) return false;
  return as_it_is ? plain.index() == parsed.index() && line_of(plain) == line_of(parsed)
                  : error == reader.error();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// One or two segments, now and then with a summary.
void write_trace(const fs::path& folder, const Lines& lines, const std::string& summary, Random& random) {
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
  const std::size_t cut = random.one_in(6) && !lines.empty() ? random.below(lines.size()) : lines.size();
  const Lines first(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(cut));
  write_file(folder / "trace-00000.ndjson", property::text_of(first, random));
  if (cut != lines.size()) {
    Lines second(lines.begin() + static_cast<std::ptrdiff_t>(cut), lines.end());
    second.insert(second.begin(), lines.front());
    write_file(folder / (random.one_in(3) ? "trace-00002.ndjson" : "trace-00001.ndjson"),
               property::text_of(second, random));
  }
  if (!random.one_in(8)) return;
  std::string corrupted = summary;
  for (std::size_t n = random.below(4); n > 0; --n) property::corrupt_line(corrupted, random);
  write_file(folder / "summary.json", corrupted);
}

template <typename Action>
void allow_missing(Action action) {
  try {
    action();
  } catch (const Missing&) {
    // What a command prints before it ends with exit code 3.
  }
}

void read_all(const fs::path& folder, Random& random) {
  allow_missing([&] { static_cast<void>(validate_trace(open_trace_folder(folder), random.one_in(2))); });
  allow_missing([&] {
    const TraceTotals trace = load_trace(open_trace_folder(folder));
    const RowValues values = load_row_values(trace);
    for (const PathTotals& row : trace.totals.paths()) static_cast<void>(trace.path_text(row.path));
    static_cast<void>(trace.totals.kernels());
    static_cast<void>(trace.totals.path_metrics());
    static_cast<void>(module_table(trace, values, {}, {80, false}));
  });
}

/// What is wrong with this case; empty if nothing is.
std::string complaint(const std::vector<Recorded>& recorded, const fs::path& folder, Random& random) {
  const Recorded& from = recorded[random.below(recorded.size())];
  Lines lines = property::part_of(from.lines, 1 + random.below(kMaxLines), random);
  for (std::size_t n = random.below(6); n > 0; --n) property::corrupt(lines, random);
  LineReader reader;
  for (const std::string& line : lines) {
    if (line.find('\n') == std::string::npos && !reads_alike(line, reader))
      return "is read in two ways: " + line;
  }
  const auto start = std::chrono::steady_clock::now();
  write_trace(folder, lines, from.summary, random);
  read_all(folder, random);
  if (random.one_in(6)) {
    const fs::path whole = folder.string() + "-whole";
    allow_missing([&] { static_cast<void>(salvage_trace(open_trace_folder(folder), whole)); });
    const bool there = fs::exists(whole);
    const bool valid = there && validate_trace(open_trace_folder(whole), true).valid();
    fs::remove_all(whole);
    if (there && !valid) return "salvaged " + from.name + " is not valid";
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return seconds < kMaxSeconds ? "" : "takes " + std::to_string(seconds) + " s";
}

int run(const property::Cases& cases, const std::vector<Recorded>& recorded, const fs::path& folder) {
  for (std::uint64_t number = 0; number < cases.count; ++number) {
    Random random(cases.seed, number);
    std::string wrong;
    try {
      wrong = complaint(recorded, folder, random);
    } catch (const std::exception& error) {
      wrong = std::string("an exception: ") + error.what();
    }
    if (!wrong.empty()) {
      std::fprintf(stderr, "case %llu: %s\n", static_cast<unsigned long long>(number), wrong.c_str());
      return 1;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%llu cases, at most %ld MiB\n", static_cast<unsigned long long>(cases.count),
              usage.ru_maxrss >> 10);
  return usage.ru_maxrss < kMaxKib ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  property::Cases cases(argc, argv);
  if (argc == 1) cases.count = 2'000;
  static CuptiLibrary library;
  CuptiFailure failure;
  if (!load_cupti({}, library, failure)) {
    std::fprintf(stderr, "skipped: %s\n", failure.reason.c_str());
    return property::kSkipped;
  }
  const test::TemporaryFolder temporary;
  const fs::path played = temporary.path() / "played", folder = temporary.path() / "case";
  fs::create_directory(played);
  fs::create_directory(folder);
  const std::vector<Recorded> recorded = play_all(library.functions, played);
  if (recorded.empty()) {
    std::fprintf(stderr, "no recordings in %s\n", RANGEFINDER_TEST_RECORDINGS);
    return 1;
  }
  return run(cases, recorded, folder);
}
