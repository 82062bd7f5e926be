// SPDX-License-Identifier: Apache-2.0
//
// How fast a trace is read. The goals allow for a slower machine.
//
//   reading_speed DIR                        lines per second through read_trace and scan_line, one thread
//   reading_speed DIR --report RANGEFINDER   also `rangefinder report DIR` and two sections: CPU time, memory
//   reading_speed DIR … --check              exit code 1 if a goal is missed
//
// Instructions instead of time: valgrind --tool=callgrind --toggle-collect='*scan_lines*' reading_speed DIR
//
// Goals are stated for the machine of docs/internals/measured.md. On another machine, and under load, they
// are stretched by the time of a fixed loop, which runs before and after in this process.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "schema/scan_line.h"
#include "tests/bench/machine_speed.h"
#include "tools/analysis/model/segment_lines.h"
#include "tools/analysis/model/trace_reader.h"

namespace {

using namespace rangefinder;
using Clock = std::chrono::steady_clock;

constexpr double kGoalLinesPerS = 2e6;
constexpr double kGoalScannedPerS = 10e6;
/// Of the trace, in memory.
constexpr std::size_t kScannedBytes = std::size_t{256} << 20;
/// CPU time and memory of a section of the report.
struct Goal {
  const char* section;
  double seconds;  // for kGoalKernels; more in proportion, never less
  double mib;
};
constexpr std::array<Goal, 3> kGoals{{{"overview", 12, 550}, {"modules", 4, 64}, {"findings", 8, 550}}};
constexpr double kGoalKernels = 10e6;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Counter {
  std::uint64_t lines = 0, kernels = 0, faults = 0;
};

std::string lines_in_memory(const TraceFolder& trace) {
  std::string out;
  for (const SegmentFile& segment : trace.segments) {
    SegmentLines lines(segment.path);
    for (std::string_view line; out.size() < kScannedBytes && lines.next(line);) out.append(line) += '\n';
  }
  return out;
}

struct ScanCount {
  std::uint64_t lines = 0, left = 0;  // `left`: to LineReader
};

/// What a sink does least.
struct CountingSink {
  std::uint64_t& lines;

  template <typename Record>
  void operator()(const Record&) const noexcept {
    ++lines;
  }
};

/// `text` has kScanPadding bytes behind its `size`.
[[gnu::noinline]] ScanCount scan_lines(const char* text, std::size_t size) {
  TextPool pool;
  ScanCount out;
  for (const char *at = text, *const end = text + size; at != end;) {
    const char* next = scan_line(at, pool, CountingSink{out.lines});
    if (next == nullptr) {
      next = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
      ++out.left;
    }
    at = next;
  }
  return out;
}

struct Report {
  double cpu_seconds = 0, peak_bytes = 0;
  bool ok = false;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Report run_report(const std::string& program, const std::string& folder, const char* section) {
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    execl(program.c_str(), program.c_str(), "report", folder.c_str(), "--section", section,
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  Report out;
  out.ok =
      child > 0 && wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  out.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  out.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  return out;
}

bool judge(const char* what, double value, const char* unit, double goal, bool at_least) {
  const bool good = at_least ? value >= goal : value <= goal;
  std::printf("%-16s %8.2f %s, goal here %s %.2f  %s\n", what, value, unit, at_least ? "at least" : "at most",
              goal, good ? "ok" : "MISSED");
  return good;
}

bool measure_scan(const TraceFolder& trace, double slower) {
  std::string text = lines_in_memory(trace);
  const std::size_t size = text.size();
  text.append(kScanPadding, '\0');
  const auto start = Clock::now();
  const ScanCount count = scan_lines(text.data(), size);
  const double seconds = seconds_since(start);
  std::printf("%llu lines scanned, %llu left to LineReader\n", static_cast<unsigned long long>(count.lines),
              static_cast<unsigned long long>(count.left));
  return judge("scan", static_cast<double>(count.lines) / seconds / 1e6, "million lines/s",
               kGoalScannedPerS / slower / 1e6, true);
}

struct Options {
  std::string folder, program;
  bool check = false;
};

bool measure(const Options& options) {
  const double before = loop_seconds();
  LineReader reader;
  Counter counter;
  const auto start = Clock::now();
  static_cast<void>(read_lines(
      open_trace_folder(options.folder), reader,
      [&counter](const Line& line, const LinePlace&) {
        ++counter.lines;
        if (std::holds_alternative<KernelRecord>(line)) ++counter.kernels;
      },
      [&counter](const std::string&, const LinePlace&) { ++counter.faults; }));
  const double seconds = seconds_since(start);
  std::vector<Report> reports;
  for (const Goal& goal : kGoals) {
    if (!options.program.empty())
      reports.push_back(run_report(options.program, options.folder, goal.section));
  }
  // Other work on the machine slows down both.
  const double after = loop_seconds();
  const double slower = times_slower(std::max(before, after));
  std::printf("%llu lines, %llu kernels; the loop took %.3f and %.3f s: goals are stretched by %.2f\n",
              static_cast<unsigned long long>(counter.lines),
              static_cast<unsigned long long>(counter.kernels), before, after, slower);
  bool good = counter.faults == 0 && counter.lines != 0;
  good &= judge("read", static_cast<double>(counter.lines) / seconds / 1e6, "million lines/s",
                kGoalLinesPerS / slower / 1e6, true);
  good &= measure_scan(open_trace_folder(options.folder), slower);
  const double share = std::max(1.0, static_cast<double>(counter.kernels) / kGoalKernels);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto& [section, goal_seconds, mib] = kGoals[i];
    good &= judge(section, reports[i].cpu_seconds, "CPU s", goal_seconds * share * slower, false);
    good &= judge((std::string(section) + " memory").c_str(), reports[i].peak_bytes / (1 << 20), "MiB", mib,
                  false);
    good &= reports[i].ok;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--check") {
      options.check = true;
    } else if (argument == "--report" && i + 1 < argc) {
      options.program = argv[++i];
    } else {
      options.folder = argument;
    }
  }
  if (options.folder.empty()) {
    std::fprintf(stderr, "usage: %s DIR [--report RANGEFINDER] [--check]\n", argv[0]);
    return 2;
  }
  try {
    const bool good = measure(options);
    return good || !options.check ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reading_speed: %s\n", error.what());
    return 3;
  }
}
