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
#include "tools/analysis/read/missing.h"
#include "tools/attach/control_client.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/attach_request.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

/// All processes have heard of a window that begins this much later.
constexpr std::int64_t kTogetherNs = 300'000'000;
/// What anything but a window may take: the GPU's work is waited for.
constexpr int kAnswerPatienceMs = 30'000;

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
  std::cout << process.pid << "  " << printable(process_name(process)) << "  " << status.value("state", "?")
            << ", counters " << status.value("counters", "?") << ", "
            << status.value("launches", std::uint64_t{0}) << " launches";
  if (status.contains("rank")) std::cout << ", rank " << printable(status["rank"].get<std::string>());
  if (status.value("yielded", false)) std::cout << ", CUPTI given up";
  if (status.contains("window")) std::cout << "\n  " << window_text(status["window"]);
  std::cout << "\n";
}

/// False: it could not be done.
bool print_answer(const TracedProcess& process, const Json& answer, bool as_json) {
  if (as_json) {
    Json line = answer;
    line["pid"] = process.pid;
    std::cout << line.dump() << "\n";
  } else if (!answer.value("ok", false)) {
    std::cerr << "rangefinder: process " << process.pid << ": "
              << printable(answer.value("error", "it says no")) << "\n";
  } else if (answer.contains("window")) {
    std::cout << process.pid << "  " << window_text(answer["window"]) << "\n";
  } else {
    std::cout << process.pid << "  done\n";
  }
  return answer.value("ok", false);
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
                   " processes run with Rangefinder: name one, or all of them with --all");
  }
  if (!options.acts()) return show(processes, options.json);
  const std::int64_t together_ns = processes.size() > 1 ? now_ns() + kTogetherNs : 0;
  std::vector<std::unique_ptr<ControlClient>> clients;
  for (const TracedProcess& process : processes)
    clients.push_back(std::make_unique<ControlClient>(process.path));
  // To all first, then the answers: windows are open at the same time.
  for (std::size_t i = 0; i < clients.size(); ++i) {
    clients[i]->send(attach_request(options, processes[i], processes.size() > 1, now_ns(), together_ns));
  }
  bool all_done = true;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const int patience_ms = options.is_window() ? -1 : kAnswerPatienceMs;
    const auto answer = clients[i]->receive(patience_ms);
    if (!answer) throw Missing("process " + std::to_string(processes[i].pid) + " does not answer");
    all_done &= print_answer(processes[i], *answer, options.json);
  }
  return all_done ? kExitOk : kExitMissing;
}

}  // namespace

void add_attach(CommandLine& line, Action& action) {
  const auto options = std::make_shared<AttachOptions>();
  Verb verb = line.verb("attach", "Ask processes that run with Rangefinder, record windows of them");
  verb.option("process", options->which, "Process id, or name of the executable; without it all are shown");
  verb.flag("--all", options->all, "Every process of this user that runs with Rangefinder");
  verb.flag("--start", options->start, "Begin a window");
  verb.flag("--stop", options->stop, "End the window and wait until its trace is complete");
  verb.option("--window", options->window, "Record so long, as in 5s or 200ms").type_name("TIME");
  verb.option("--launches", options->launches, "Record so many launches").type_name("N");
  verb.option("--range", options->range, "Record ranges whose path is like this (* ** ?), at any level")
      .type_name("GLOB");
  verb.option("--occurrences", options->occurrences, "So many of them [1]").type_name("N");
  verb.option("--after", options->after, "But leave out so many before [0]").type_name("N");
  verb.option("--at", options->at, "When to begin: seconds since 1970, or +5s").type_name("TIME");
  verb.option("--counters", options->counters,
              "DRAM and L2 bytes of this window: off, sampled or exact; off,exact: a window each, one "
              "after the other")
      .type_name("MODE");
  verb.option("-o,--out", options->out, "Folder for the trace; %p process id, %r rank, %h host")
      .type_name("DIR");
  verb.flag("--snapshot", options->snapshot, "Write what there is, and the summary, now");
  verb.flag("--yield", options->yield, "Give CUPTI up, for another tool");
  verb.flag("--resume", options->resume, "Take it back");
  verb.flag("--json", options->json, "Answers as JSON lines (docs/control.md)");
  verb.footer(
      "\nWithout anything to do it shows the processes and their state. Processes started by\n"
      "`rangefinder run`, with --start off if they are to be idle at first, can be attached to.\n");
  verb.callback([options, &action] { action = [options] { return attach(*options); }; });
}

}  // namespace rangefinder
