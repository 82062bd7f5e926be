// SPDX-License-Identifier: Apache-2.0
//
// rangefinder attach [PID|NAME] [--start|--stop|--window …]
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "profiler/options/capture_request.h"
#include "tools/analysis/model/missing.h"
#include "tools/attach/control_client.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/attach_request.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

/// Delay before a common window starts: every process has its request by then.
constexpr std::int64_t kTogetherNs = 300'000'000;
/// Limit for every command but a window. Commands wait until the GPU has finished its work.
constexpr int kAnswerTimeoutMs = 30'000;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string window_text(const Json& window) {
  const auto lost = window.value("lost", std::uint64_t{0});
  std::string text = window.value("folder", "") + "  " +
                     std::to_string(window.value("records", std::uint64_t{0})) + " records";
  if (lost != 0) text += ", " + std::to_string(lost) + " lost or unclosed";
  return printable(text);
}

void print_status(const TracedProcess& process) {
  const Json& status = process.status;
  if (process.unresponsive()) {
    std::cout << process.pid << "  unresponsive: it is stopped, or too busy to answer\n";
    return;
  }
  std::cout << process.pid << "  " << printable(process_name(process)) << "  " << status.value("state", "?")
            << ", counters " << status.value("counters", "?") << ", "
            << status.value("launches", std::uint64_t{0}) << " launches";
  if (status.contains("rank")) std::cout << ", rank " << printable(status["rank"].get<std::string>());
  if (status.value("yielded", false)) std::cout << ", CUPTI released";
  if (status.contains("window")) std::cout << "\n  " << window_text(status["window"]);
  std::cout << "\n";
}

/// False: the command failed.
bool print_answer(const TracedProcess& process, const Json& answer, bool as_json) {
  if (as_json) {
    Json line = answer;
    line["pid"] = process.pid;
    std::cout << line.dump() << "\n";
  } else if (!answer.value("ok", false)) {
    std::cerr << "rangefinder: process " << process.pid << ": "
              << printable(answer.value("error", "the request was refused")) << "\n";
  } else if (answer.contains("window")) {
    std::cout << process.pid << "  " << window_text(answer["window"]) << "\n";
  } else {
    std::cout << process.pid << "  done\n";
  }
  return answer.value("ok", false);
}

/// Says that a process did not answer; false.
bool print_silent(const TracedProcess& process) {
  std::cerr << "rangefinder: process " << process.pid << " is unresponsive, or has ended\n";
  return false;
}

int show(const std::vector<TracedProcess>& processes, bool as_json) {
  for (const TracedProcess& process : processes) {
    if (as_json) {
      std::cout << process.status.dump() << "\n";
    } else {
      print_status(process);
    }
  }
  return kExitOk;
}

int attach(const AttachOptions& options) {
  const std::vector<TracedProcess> processes = select_processes(options.which);
  if (!options.all && options.which.empty() && processes.size() > 1 && options.acts()) {
    throw WrongUse(std::to_string(processes.size()) +
                   " processes run with Rangefinder: name one, or choose all with --all");
  }
  if (!options.acts()) return show(processes, options.json);
  const bool many = processes.size() > 1;
  const std::int64_t together_ns = many ? now_ns() + kTogetherNs : 0;
  std::vector<const TracedProcess*> asked;
  std::vector<ControlQuestion> questions;
  bool all_done = true;
  for (const TracedProcess& process : processes) {
    if (process.unresponsive()) {
      all_done = print_silent(process);
      continue;
    }
    asked.push_back(&process);
    questions.push_back({process.path, attach_request(options, process, many, now_ns(), together_ns)});
  }
  // All requests before the first answer, so that the windows overlap.
  ask_all(questions, options.is_window() ? -1 : kAnswerTimeoutMs);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const bool answered = questions[i].outcome == ControlQuestion::Outcome::answered;
    all_done &=
        answered ? print_answer(*asked[i], questions[i].answer, options.json) : print_silent(*asked[i]);
  }
  return all_done ? kExitOk : kExitMissing;
}

}  // namespace

void add_attach(CommandLine& line, Action& action) {
  const auto options = std::make_shared<AttachOptions>();
  Verb verb = line.verb("attach", "Control processes that run with Rangefinder: show state, record windows");
  verb.option("PROCESS", options->which, "Process id, or name of the executable [show all processes]");
  verb.group("Processes");
  verb.flag("--all", options->all, "Every process of this user that runs with Rangefinder");
  verb.group("Windows");
  verb.flag("--start", options->start, "Start a window");
  verb.flag("--stop", options->stop, "End the window and wait until its trace is complete");
  verb.option("--window", options->window, "Record for DURATION, as in 5s or 200ms").type_name("DURATION");
  verb.option("--launches", options->launches, "Record N launches").type_name("N");
  verb.option("--range", options->range,
              "Record ranges that match: decoder at any level, model/decoder from the outermost one; * ** ?")
      .type_name("GLOB");
  verb.option("--occurrences", options->occurrences, "Record N occurrences of such a range [1]")
      .type_name("N");
  verb.option("--after", options->after, "Skip N occurrences before the window [0]").type_name("N");
  verb.option("--at", options->at, "Start at TIME: seconds since 1970, or a delay such as +5s")
      .type_name("TIME");
  verb.group("What is recorded");
  verb.option("--counters", options->counters,
              "DRAM and L2 bytes of this window: off, sampled or exact. A list, as in off,exact, records one "
              "window per mode, one after the other")
      .type_name("MODE")
      .choices({{"off"}, {"sampled"}, {"exact"}});
  verb.group("Other actions");
  verb.flag("--snapshot", options->snapshot, "Write the records so far and the summary now");
  verb.flag("--yield", options->yield, "Release CUPTI for another tool");
  verb.flag("--resume", options->resume, "Take CUPTI back after --yield");
  verb.group("Output");
  verb.option("-o,--out", options->out, "Folder for the trace; %p process id, %r rank, %h host")
      .type_name("DIR");
  verb.flag("--json", options->json, "Print answers as JSON lines (docs/internals/control.md)");
  verb.footer(
      "Without an action, attach shows the processes and their state. It reaches processes that\n"
      "`rangefinder run` started; with `run --start off` they are idle until a window starts.\n");
  verb.callback([options, &action] { action = [options] { return attach(*options); }; });
}

}  // namespace rangefinder
