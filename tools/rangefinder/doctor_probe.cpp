// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/doctor_probe.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/rangefinder/child_process.h"
#include "tools/rangefinder/installation.h"
#include "tools/rangefinder/probe_program.h"
#include "tools/rangefinder/run_environment.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

/// Accepted share of error: memsets leave part of their last bytes in the L2.
constexpr double kMaxError = 0.05;

class TemporaryPlace {
 public:
  TemporaryPlace() {
    std::string text = (fs::temp_directory_path() / "rangefinder-probe-XXXXXX").string();
    if (mkdtemp(text.data()) == nullptr)
      throw Missing("cannot create a folder in " + fs::temp_directory_path().string());
    path = text;
  }
  ~TemporaryPlace() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;
  fs::path path;
};

/// One run of the probe: its answer and its trace.
struct ProbeRun {
  json answer;
  std::string error_line;  ///< first line on stderr
  std::optional<TraceTotals> trace;
  std::optional<RowValues> values;

  [[nodiscard]] std::uint64_t kernels_at(const std::string& path) const {
    for (const PathTotals& row : trace->totals.paths()) {
      if (row.path != 0 && trace->path_text(row.path) == path) return row.kernels;
    }
    return 0;
  }
  [[nodiscard]] json row_at(const std::string& path) const {
    for (const PathTotals& row : trace->totals.paths()) {
      if (row.path != 0 && trace->path_text(row.path) == path) return module_row(row, *trace, *values);
    }
    return json::object();
  }
  /// Why the trace lacks something.
  [[nodiscard]] std::string reason() const {
    if (answer.contains("error")) return answer["error"].get<std::string>();
    if (!error_line.empty()) return error_line;
    return trace && !trace->header.counters_reason.empty() ? trace->header.counters_reason
                                                           : "the reason is unknown";
  }
};

ProbeRun run_probe(const fs::path& place, const char* counters) {
  const fs::path folder = place / counters, answer = place / (std::string(counters) + ".json");
  Environment environment(environ);
  environment.set("RANGEFINDER_OUT", folder.string());
  environment.set("RANGEFINDER_COUNTERS", counters);
  for (const char* const name : {"RANGEFINDER_START", "RANGEFINDER_CAPTURE", "RANGEFINDER_METRICS",
                                 "RANGEFINDER_GRAPHS", "RANGEFINDER_EXACT_RANGE", "RANGEFINDER_EXACT_KERNEL"})
    environment.unset(name);
  inject_library(environment, find_library());
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const ChildEnd end = run_child({program, "doctor", kProbeFlag, answer.string()}, environment.entries());
  ProbeRun run;
  std::ifstream stream(answer);
  run.answer = json::parse(stream, nullptr, false);
  if (!run.answer.is_object()) {
    run.answer = {{"error", end.signal != 0 ? std::string("it was killed by signal ") + strsignal(end.signal)
                                            : "it ended with exit code " + std::to_string(end.exit_code)}};
  }
  std::ifstream errors(answer.string() + ".err");
  std::getline(errors, run.error_line);
  try {
    Trace trace(open_trace_folder(folder),
                {TotalsFold::kColumns, SampledTrace::kColumns, {}, Keep::if_sampled, {}});
    Selection all;
    run.trace.emplace(load_totals(trace, all));
    run.values.emplace(load_row_values(*run.trace, trace, all));
  } catch (const Missing& missing) {
    if (!run.answer.contains("error")) run.answer["error"] = missing.what();
  }
  return run;
}

HealthFinding counted(const char* check, const std::string& what, std::uint64_t found, std::uint64_t wanted,
                      const ProbeRun& run) {
  const std::string text = std::to_string(found) + " of " + std::to_string(wanted) + " " + what;
  if (found == wanted) return {check, Health::ok, text, "", false};
  return {check, found == 0 ? Health::no : Health::warn, text + ": " + run.reason(),
          "Try RANGEFINDER_LOG=debug rangefinder run -- ./app, and see the lines above.", false};
}

HealthFinding measured(const char* check, const char* mode, const ProbeRun& run) {
  if (!run.trace || run.trace->header.counters != mode) {
    return {check, Health::warn, std::string("no bytes: ") + run.reason(),
            "Times work without bytes; see `permission`.", false};
  }
  const json row = run.row_at("probe/bytes");
  if (!row.contains("dram_write_bytes")) {
    return {check, Health::warn, "counters were on, but no bytes were recorded: " + run.reason(),
            "Try RANGEFINDER_LOG=debug rangefinder run -- ./app.", false};
  }
  const auto bytes = row["dram_write_bytes"].get<std::uint64_t>();
  const double error = static_cast<double>(bytes) / static_cast<double>(kProbeBytes) - 1;
  const std::string text = bytes_text(bytes) + " of " + bytes_text(kProbeBytes) + " written";
  if (error < kMaxError && error > -kMaxError) return {check, Health::ok, text, "", false};
  return {check, Health::warn, text + ": another process uses this GPU, or the counters are wrong",
          "Try again while no other process uses the GPU.", false};
}

}  // namespace

std::vector<HealthFinding> probe_features() {
  const TemporaryPlace place;
  const ProbeRun sampled = run_probe(place.path, "sampled");
  if (!sampled.trace) {
    return {{"probe trace", Health::no, "no trace: " + sampled.reason(),
             "See the lines above; RANGEFINDER_LOG=debug logs more.", false}};
  }
  const ProbeRun exact = run_probe(place.path, "exact");
  const std::uint64_t direct = sampled.kernels_at("probe/kernels"),
                      captured = sampled.kernels_at("probe/capture"),
                      replayed = sampled.kernels_at("probe/replay");
  std::vector<HealthFinding> out{
      counted("probe trace", "kernels", sampled.trace->kernels, kProbeKernels + kProbeGraphKernels, sampled),
      counted("probe nvtx", "kernels in the range that launched them", direct, kProbeKernels, sampled),
      counted("probe graphs", "kernels of a graph in the range that captured them", captured,
              kProbeGraphKernels, sampled)};
  if (captured == 0 && replayed == kProbeGraphKernels)
    out.back() = {"probe graphs", Health::warn, "kernels of a graph are in the range that launches it", "",
                  false};
  out.push_back(measured("probe sampled", "sampled", sampled));
  out.push_back(measured("probe exact", "exact", exact));
  const std::string control = sampled.answer.value("control", "");
  out.push_back(
      control.empty()
          ? HealthFinding{"probe control", Health::warn,
                          "no control socket answers: attach and top will not work",
                          "XDG_RUNTIME_DIR or /tmp must be writable for this user.", false}
          : HealthFinding{"probe control", Health::ok, "the socket answers: " + control, "", false});
  return out;
}

}  // namespace rangefinder
