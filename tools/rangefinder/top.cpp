// SPDX-License-Identifier: Apache-2.0
//
// rangefinder top [PID|NAME]: modules of running programs, live.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "profiler/base/text_table.h"
#include "tools/analysis/model/missing.h"
#include "tools/attach/control_client.h"
#include "tools/attach/live_rates.h"
#include "tools/attach/raw_terminal.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kAnswerTimeoutMs = 30'000;
constexpr int kExactTimeoutMs = 120'000;
constexpr int kExactOccurrences = 20;
/// Interval of polling for keys.
constexpr int kKeyMs = 100;
/// A process that reports this much later than requested is unresponsive: the others are shown without it.
constexpr std::chrono::milliseconds kLateness{2000};

volatile std::sig_atomic_t interrupted = 0;

struct TopOptions {
  std::string which, under;
  int every_ms = 1000;
  std::uint64_t count = 0;
};

struct Watched {
  TracedProcess process;
  std::unique_ptr<ControlClient> client;
  bool reported = false, gone = false, unresponsive = false;
  std::string state;
};

std::string fixed(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string optional_text(const std::optional<double>& value, double factor, int digits) {
  return value ? fixed(*value * factor, digits) : std::string();
}

class Top {
 public:
  explicit Top(const TopOptions& options) : options_(options), under_(options.under) {
    for (TracedProcess& process : select_processes(options.which)) {
      Watched watched;
      if (process.unresponsive()) {
        ++never_answered_;
        continue;
      }
      watched.client = std::make_unique<ControlClient>(process.path);
      watched.state = process.status.value("state", "");
      watched.process = std::move(process);
      watched.client->send({{"command", "subscribe"}, {"every_ms", options.every_ms}});
      watched_.push_back(std::move(watched));
    }
    if (watched_.empty())
      throw Missing("every process with Rangefinder is unresponsive: stopped, or too busy to answer");
  }

  int run() {
    std::optional<RawTerminal> terminal;
    if (has_screen()) terminal.emplace();
    for (std::uint64_t shown = 0; interrupted == 0 && (options_.count == 0 || shown < options_.count);) {
      wait(terminal.has_value());
      if (terminal && !take_keys(*terminal)) break;
      if (all_gone()) break;
      if (!is_due()) continue;
      if (!paused_) shown_ = rates_.rows(under_, order_);
      const std::string text = screen(terminal ? RawTerminal::height() : 0);
      if (terminal) {
        terminal->draw(text);
      } else {
        std::cout << text << "\n" << std::flush;
      }
      ++shown;
      rates_.clear();
      for (Watched& each : watched_) each.reported = each.gone;
      shown_at_ = Clock::now();
    }
    return kExitOk;
  }

 private:
  void wait(bool keys) {
    std::vector<pollfd> files;
    for (const Watched& each : watched_) files.push_back({each.gone ? -1 : each.client->file(), POLLIN, 0});
    if (keys) files.push_back({STDIN_FILENO, POLLIN, 0});
    (void)::poll(files.data(), files.size(), kKeyMs);
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      if (files[i].revents != 0) take_events(watched_[i]);
    }
  }

  void take_events(Watched& each) {
    try {
      while (const auto event = each.client->receive(0)) {
        if (!event->contains("event")) continue;
        each.state = event->value("state", each.state);
        each.reported = true;
        each.unresponsive = false;
        rates_.add(each.process.pid, *event);
      }
    } catch (const Missing&) {
      each.gone = each.reported = true;
    }
  }

  /// True: the next table can be shown. Every process has reported, or those that have not are unresponsive.
  [[nodiscard]] bool is_due() {
    const bool late = Clock::now() - shown_at_ > std::chrono::milliseconds(options_.every_ms) + kLateness;
    bool any = false, all = true;
    for (Watched& each : watched_) {
      each.unresponsive |= late && !each.reported;
      any |= each.reported && !each.gone;
      all &= each.reported || each.unresponsive;
    }
    return late || (any && all);
  }
  [[nodiscard]] bool all_gone() const {
    return std::all_of(watched_.begin(), watched_.end(), [](const Watched& each) { return each.gone; });
  }

  /// False: the user quits.
  bool take_keys(const RawTerminal& terminal) {
    for (KeyPress press = terminal.read_key(); press.key != Key::none; press = terminal.read_key()) {
      if (press.key == Key::up && selected_ > 0) --selected_;
      if (press.key == Key::down) ++selected_;
      if (press.key == Key::enter && selected_ < shown_.size() && !shown_[selected_].path.empty())
        go_to(shown_[selected_].path);
      if (press.key == Key::back) go_to(parent_path(under_));
      if (press.key != Key::other) continue;
      if (press.character == 'q') return false;
      act(press.character);
    }
    return true;
  }

  void act(char character) {
    if (character == 's') order_ = static_cast<LiveOrder>((static_cast<int>(order_) + 1) % 4);
    if (character == 'p') paused_ = !paused_;
    if (character == 'r') record_or_stop();
    if (character == 'e' && selected_ < shown_.size() && !shown_[selected_].path.empty())
      measure(shown_[selected_].path);
  }

  void go_to(const std::string& path) {
    under_ = path;
    selected_ = 0;
    shown_.clear();
  }

  Json ask(Watched& each, const Json& request, int timeout_ms) {
    Json answer = each.client->ask(request, timeout_ms);
    message_ = answer.value("ok", false) ? ""
                                         : "process " + std::to_string(each.process.pid) + ": " +
                                               answer.value("error", "the request was refused");
    return answer;
  }

  void record_or_stop() {
    for (Watched& each : watched_) {
      if (!each.gone && !each.unresponsive)
        (void)ask(each, {{"command", each.state == "recording" ? "stop" : "start"}}, kAnswerTimeoutMs);
    }
  }

  /// Records exact bytes of the next occurrences of a module in a separate trace, then resumes.
  void measure(const std::string& path) {
    for (Watched& each : watched_) {
      if (each.gone || each.unresponsive) continue;
      const bool was_recording = each.state == "recording";
      if (was_recording && !ask(each, {{"command", "stop"}}, kAnswerTimeoutMs).value("ok", false)) return;
      const Json window = {
          {"command", "window"}, {"range", path}, {"occurrences", kExactOccurrences}, {"counters", "exact"}};
      const Json answer = ask(each, window, kExactTimeoutMs);
      const std::string folder = answer.contains("window") ? answer["window"].value("folder", "") : "";
      if (was_recording) (void)ask(each, {{"command", "start"}}, kAnswerTimeoutMs);
      if (!folder.empty())
        message_ = "exact bytes of " + path + ": rangefinder report " + quoted_for_shell(folder);
    }
  }

  [[nodiscard]] std::string screen(std::size_t height) {
    std::size_t recording = 0, unresponsive = never_answered_;
    for (const Watched& each : watched_) {
      recording += each.state == "recording" && !each.unresponsive ? 1 : 0;
      unresponsive += each.unresponsive && !each.gone ? 1 : 0;
    }
    std::string text = "rangefinder top: " + std::to_string(watched_.size()) + " processes, " +
                       std::to_string(recording) + " recording" + (paused_ ? ", paused" : "");
    if (unresponsive != 0) text += ", " + std::to_string(unresponsive) + " unresponsive";
    if (rates_.lost() != 0) text += ", " + std::to_string(rates_.lost()) + " events lost";
    text += under_.empty() ? "\n" : "   " + printable(under_) + "\n";
    TextTable table("module", CutSide::front);
    for (const char* const title :
         {"GPU ms/s", "share %", "launches/s", "DRAM GB/s", "L2 GB/s", "% of DRAM peak"})
      table.add_column(title);
    const std::size_t room = height == 0 ? shown_.size() : std::max<std::size_t>(height, 6) - 5;
    if (selected_ >= shown_.size()) selected_ = shown_.empty() ? 0 : shown_.size() - 1;
    for (std::size_t i = 0; i < std::min(room, shown_.size()); ++i) {
      const LiveRow& row = shown_[i];
      const std::string mark = height == 0 ? "" : i == selected_ ? "> " : "  ";
      table.add_row(mark + (row.path.empty() ? "(outside)" : printable(row.path)),
                    {fixed(row.gpu_ms_per_s, 1), fixed(row.share * 100, 1), fixed(row.launches_per_s, 0),
                     optional_text(row.dram_gb_per_s, 1, 1), optional_text(row.l2_gb_per_s, 1, 1),
                     optional_text(row.peak_share, 100, 1)});
    }
    text += table.empty() ? "  " + why_empty(recording != 0, height != 0) + "\n"
                          : table.render(line_width(STDOUT_FILENO));
    if (height != 0) text += "\ns sort  enter/left descend  p pause  r record/stop  e exact bytes  q quit\n";
    return text + (message_.empty() ? "" : printable(message_) + "\n");
  }

  [[nodiscard]] std::string why_empty(bool recording, bool keys) const {
    const auto is_idle = [](const Watched& each) {
      return !each.gone && !each.unresponsive && each.state == "idle";
    };
    const auto idle = std::find_if(watched_.begin(), watched_.end(), is_idle);
    if (recording || idle == watched_.end()) return "nothing ran in the last interval";
    if (keys) return "no window is open: press r to open one";
    return "no window is open: `rangefinder attach " + std::to_string(idle->process.pid) +
           " --start` opens one";
  }

  const TopOptions options_;
  std::vector<Watched> watched_;
  std::size_t never_answered_ = 0;  ///< unresponsive from the start
  Clock::time_point shown_at_ = Clock::now();
  LiveRates rates_;
  LiveOrder order_ = LiveOrder::gpu_time;
  std::string under_, message_;
  std::vector<LiveRow> shown_;
  std::size_t selected_ = 0;
  bool paused_ = false;
};

}  // namespace

void add_top(CommandLine& line, Action& action) {
  const auto options = std::make_shared<TopOptions>();
  Verb verb = line.verb("top", "Show the modules of running programs, live");
  verb.option("PROCESS", options->which, "Process id or name of the executable [all processes]");
  verb.option("--every", options->every_ms, "Milliseconds between two tables [1000]")
      .type_name("MS")
      .in_range(100, 3'600'000);
  verb.option("-n,--count", options->count, "End after N tables").type_name("N");
  verb.option("--under", options->under, "Show modules below this path").type_name("PATH");
  verb.footer("In a terminal it takes keys and shows which. Otherwise it prints one table per interval.\n");
  verb.callback([options, &action] {
    action = [options] {
      std::signal(SIGINT, [](int) { interrupted = 1; });
      return Top(*options).run();
    };
  });
}

}  // namespace rangefinder
