// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever the files of a trace hold, each reader ends, in bounded time and memory, with a result
// or with Missing; plain lines are read and scanned as the JSON parser reads them; what salvage calls done is
// valid; and an exported file is whole.
//
//   golden lines, the example, damages.h --> a part of the lines --> damaged lines --> segments, a summary
//     --> validate, totals, a section of a report, an export, salvage
#include <sqlite3.h>
#include <sys/resource.h>

#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/property/corruption.h"
#include "tests/property/fuzz.h"
#include "tests/unit/analysis/model/damages.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tests/unit/schema/example_trace.h"
#include "tests/unit/schema/plain_lines.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/whole_trace.h"
#include "tools/analysis/validate/salvage.h"
#include "tools/analysis/validate/validation.h"
#include "tools/export/export_format.h"

namespace rangefinder::fuzz {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

std::string without_end(std::string line) {
  line.pop_back();
  return line;
}

/// Lines as the library writes them, without their line ends: golden ones have spaces, which only the JSON
/// parser takes.
Lines written_lines(const fs::path& segment) {
  Lines out;
  LineReader reader;
  Line read;
  std::ifstream in(segment, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (!reader.read(line, read)) throw std::runtime_error(segment.string() + ": " + reader.error());
    out.push_back(without_end(test::line_of(read)));
  }
  return out;
}

/// Up to `most` lines, behind the lines that name things.
Lines part_of(const Lines& trace, std::size_t most, Random& random) {
  if (trace.size() <= most) return trace;
  const auto first = trace.begin() + static_cast<std::ptrdiff_t>(random.below(trace.size() - most));
  Lines out(trace.begin(), std::min(first, trace.begin() + 30));
  out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(most));
  if (!random.one_in(3)) out.push_back(trace.back());  // the end line, whose counts are then wrong
  return out;
}

void corrupt_lines(Lines& lines, Random& random) {
  if (lines.empty()) return;
  const std::size_t at = random.below(lines.size()), other = random.below(lines.size());
  const std::size_t kind = random.below(10);
  const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
  if (kind == 0) lines.insert(place, std::string(lines[other]));
  if (kind == 1) std::swap(lines[at], lines[other]);
  if (kind == 2) lines.erase(place);
  if (kind == 3) lines[at] += lines[other];
  if (kind == 4) lines.insert(lines.end(), random.below(64), std::string(lines[at]));
  if (kind > 4) corrupt_once(lines[at], random);
}

/// Calls `action`; Missing is what a command prints before it ends with exit code 3. False: it was thrown.
template <typename Action>
bool unless_missing(const Action& action) {
  try {
    action();
    return true;
  } catch (const Missing&) {
    return false;
  }
}

/// A number of any length, and one that no integer type can hold now and then.
std::string any_number(Random& random) {
  char text[40];
  if (random.one_in(8)) {
    const double real = std::bit_cast<double>(random.any());
    return std::string(text, std::to_chars(text, text + sizeof text, std::isfinite(real) ? real : 0.25).ptr);
  }
  const std::uint64_t number = random.any() >> random.below(64);
  return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

/// Numbers become others, of any length.
std::string with_other_numbers(const std::string& line, Random& random) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    while (end < line.size() && is_digit(line[end])) ++end;
    const bool is_number = end > i && (line[i - 1] == ':' || line[i - 1] == ',' || line[i - 1] == '[');
    out += is_number && random.one_in(4) ? any_number(random)
                                         : line.substr(i, std::max(end - i, std::size_t{1}));
    i = std::max(end, i + 1);
  }
  return out;
}

/// A member goes away, comes twice, or moves.
void change_member(std::string& line, Random& random) {
  const std::vector<std::size_t> places = plain_lines::member_places(line);
  if (places.size() < 3) return;
  const std::size_t from = 1 + random.below(places.size() - 2), to = 1 + random.below(places.size() - 2);
  const std::string member = line.substr(places[from], places[from + 1] - places[from]);
  const std::size_t kind = random.below(3);
  if (kind != 0) line.insert(places[to], member);
  if (kind != 1) line.erase(places[from] + (kind == 2 && to <= from ? member.size() : 0), member.size());
}

/// Compares the ways to read one line.
class LineComparison {
 public:
  /// With a space in front only the JSON parser takes a line.
  [[nodiscard]] bool reads_alike(const std::string& text) {
    Line plain, parsed;
    const bool as_it_is = reader_.read(text, plain);
    const std::string error = reader_.error();
    if (as_it_is != reader_.read(" " + text, parsed)) return false;
    ++compared_;
    const std::string scanned = plain_lines::scanned(text, pool_);
    if (!scanned.empty()) ++scanned_;
    if (!as_it_is) return error == reader_.error() && scanned.empty();
    const std::string content = plain_lines::content_of(parsed);
    return plain_lines::content_of(plain) == content && (scanned.empty() || scanned == content);
  }

  /// "", or what is wrong with lines of all forms that scan_line() reads, with other numbers or damaged.
  [[nodiscard]] std::string check_forms(Random& random) {
    for (int i = 0; i < 40; ++i) {
      std::string line = with_other_numbers(random.element(forms_), random);
      for (std::size_t n = random.below(3); n > 0 && !line.empty(); --n) {
        random.one_in(2) ? change_member(line, random) : corrupt_once(line, random);
      }
      if (line.find('\n') == std::string::npos && !reads_alike(line)) return "is read in two ways: " + line;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t compared() const noexcept { return compared_; }
  [[nodiscard]] std::uint64_t scanned() const noexcept { return scanned_; }

 private:
  const Lines forms_ = plain_lines::lines();
  LineReader reader_;
  TextPool pool_;
  std::uint64_t compared_ = 0, scanned_ = 0;
};

bool is_whole_database(const fs::path& file) {
  sqlite3* database = nullptr;
  std::string answer;
  const auto keep = [](void* to, int, char** values, char**) {
    *static_cast<std::string*>(to) += values[0];
    return 0;
  };
  const bool whole = sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
                     sqlite3_exec(database, "PRAGMA integrity_check", keep, &answer, nullptr) == SQLITE_OK &&
                     sqlite3_exec(database, "SELECT * FROM modules", nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(database);
  return whole && answer == "ok";
}

class TraceFuzzer final : public Fuzzer {
 public:
  TraceFuzzer() {
    for (const auto& entry : fs::directory_iterator(RANGEFINDER_TEST_GOLDEN))
      sources_[entry.path().filename()] = written_lines(entry.path() / "trace-00000.ndjson");
    if (sources_.empty()) throw std::runtime_error("no traces in " RANGEFINDER_TEST_GOLDEN);
    Lines& example = sources_["example"];
    for (const Line& line : example::lines()) example.push_back(without_end(test::line_of(line)));
    for (const auto& [name, lines] : sources_) names_.push_back(name);
    summary_ = example::example_file("summary.json", {});
  }

  std::string check(Random& random) override {
    const auto start = std::chrono::steady_clock::now();
    for (const fs::path& folder : {trace_, out_}) {
      fs::remove_all(folder);
      fs::create_directory(folder);
    }
    std::string wrong = comparison_.check_forms(random);
    if (wrong.empty()) wrong = random.one_in(16) ? write_known_damage(random) : write_trace(random);
    if (wrong.empty()) wrong = read_all(random);
    if (wrong.empty() && random.one_in(2)) wrong = export_it(random);
    if (wrong.empty() && random.one_in(6)) wrong = salvage_it();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return !wrong.empty() || seconds < kMaxSeconds ? wrong : "takes " + std::to_string(seconds) + " s";
  }

  std::string finish() override {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("at most %ld MiB; of the sections %llu are shown and %llu refused\n", usage.ru_maxrss >> 10,
                static_cast<unsigned long long>(shown_), static_cast<unsigned long long>(refused_));
    std::printf("of %llu lines %llu are scanned\n", static_cast<unsigned long long>(comparison_.compared()),
                static_cast<unsigned long long>(comparison_.scanned()));
    if (comparison_.scanned() * 4 < comparison_.compared()) return "few lines are scanned: little is tested";
    if (usage.ru_maxrss >= kMaxKib) return "too much memory";
    return refused_ <= shown_ ? "" : "most traces are refused: little is tested";
  }

 private:
  static constexpr double kMaxSeconds = 20;  // of a case; under sanitizers and on a busy machine too
  static constexpr long kMaxKib = 3L << 20;

  static std::string maybe_cut(std::string text, Random& random) {
    if (random.one_in(5) && !text.empty()) text.resize(random.below(text.size()));
    return text;
  }

  /// One or two segments, sometimes with a summary.
  std::string write_trace(Random& random) {
    // Recordings have few kinds of lines each; the example has all.
    const Lines& source = random.one_in(4) ? sources_["example"] : sources_[random.element(names_)];
    Lines lines = part_of(source, 1 + random.below(random.one_in(40) ? 3'000 : 120), random);
    for (std::size_t n = random.below(6); n > 0; --n) corrupt_lines(lines, random);
    const std::size_t split = random.one_in(6) && !lines.empty() ? random.below(lines.size()) : lines.size();
    std::string first, second;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find('\n') == std::string::npos && !comparison_.reads_alike(lines[i]))
        return "is read in two ways: " + lines[i];
      if (i == split) second = lines.front() + "\n";
      (i < split ? first : second) += lines[i] + "\n";
    }
    write_file(trace_ / "trace-00000.ndjson", maybe_cut(first, random));
    const char* const next = random.one_in(3) ? "trace-00002.ndjson" : "trace-00001.ndjson";
    if (split != lines.size()) write_file(trace_ / next, maybe_cut(second, random));
    if (!random.one_in(8)) return {};
    std::string summary = summary_;
    for (std::size_t n = random.below(4); n > 0; --n) corrupt_once(summary, random);
    write_file(trace_ / "summary.json", summary);
    return {};
  }

  /// One of the damages that tests know by name, and one more.
  std::string write_known_damage(Random& random) {
    make_damaged(random.element(damages::kDamages), trace_);
    const fs::path segment = trace_ / "trace-00000.ndjson";
    if (!fs::is_regular_file(segment) || fs::file_size(segment) > 10'000'000) return {};
    std::string text = test::content(segment);
    corrupt_once(text, random);
    write_file(segment, text);
    return {};
  }

  std::string read_all(Random& random) {
    unless_missing([&] { static_cast<void>(validate_trace(open_trace_folder(trace_), random.one_in(2))); });
    unless_missing([&] {
      WholeTrace whole(open_trace_folder(trace_), {});
      const TraceTotals& trace = whole.totals();
      const RowValues& values = whole.values();
      for (const PathTotals& row : trace.totals.paths()) static_cast<void>(trace.path_text(row.path));
      static_cast<void>(trace.totals.kernels());
      static_cast<void>(trace.totals.path_metrics());
      static_cast<void>(render_text(module_rows(trace, values, {}), {80, false}));
    });
    const std::string section(random.element(section_kinds()).name);
    std::string text;
    const bool shown = unless_missing([&] { text = test::SectionRun(section, trace_).shown(); });
    ++(shown ? shown_ : refused_);
    return shown && text.empty() ? "section " + section + " is empty" : "";
  }

  std::string export_it(Random& random) {
    const ExportFormat& format = random.element(export_formats());
    ExportRequest request;
    request.out = out_ / "out.json";  // kineto takes any other name for a folder
    const bool done = unless_missing([&] {
      request.traces = {open_trace_folder(trace_)};
      format.write(request);
    });
    for (const auto& entry : fs::recursive_directory_iterator(out_)) {
      if (entry.path().filename().string().find(".part-") != std::string::npos)
        return "export leaves " + entry.path().string();
    }
    const std::string name(format.name);
    if (!fs::exists(request.out)) return done ? name + " writes nothing" : "";
    const bool is_json = name == "perfetto" || name == "kineto" || name == "speedscope";
    const bool whole = is_json ? nlohmann::json::accept(test::content(request.out))
                               : name != "sqlite" || is_whole_database(request.out);
    return whole ? "" : name + " writes a broken file";
  }

  std::string salvage_it() {
    const fs::path whole = out_ / "whole";
    unless_missing([&] { static_cast<void>(salvage_trace(open_trace_folder(trace_), whole)); });
    if (!fs::exists(whole) || validate_trace(open_trace_folder(whole), true).valid()) return {};
    return "the salvaged trace is not valid";
  }

  test::TemporaryFolder folder_;
  const fs::path trace_ = folder_.path() / "trace", out_ = folder_.path() / "out";
  std::map<std::string, Lines> sources_;
  std::vector<std::string> names_;
  std::string summary_;
  LineComparison comparison_;
  std::uint64_t shown_ = 0, refused_ = 0;
};

}  // namespace

MakeFuzzer* const make_trace = &made<TraceFuzzer>;

}  // namespace rangefinder::fuzz
