// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/running_programs.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/regular_file.h"
#include "tools/attach/control_client.h"
#include "tools/serve/live_stream.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kAnswerTimeoutMs = 5'000;
constexpr std::uintmax_t kMaxSummaryBytes = std::uintmax_t{128} << 20;

TracedProcess process_of(pid_t pid) {
  return select_processes(std::to_string(pid)).front();
}

Json window_of(const TracedProcess& process) {
  const auto window = process.status.find("window");
  return window == process.status.end() || !window->is_object() ? Json::object() : *window;
}

/// summary.json of a window; null: unreadable, or of another program.
Json summary_file(const std::string& folder, pid_t pid) {
  const fs::path file = fs::path(folder) / "summary.json";
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (folder.empty() || error || bytes > kMaxSummaryBytes) return nullptr;
  auto out = read_json_file<Json>(file);
  if (!out.is_object() || out.value("process", Json::object()).value("pid", std::int64_t{0}) != pid)
    return nullptr;
  return out;
}

/// The summary in the answer to `snapshot`, or from the window's folder.
Json summary_of(const TracedProcess& process, const Json& answer) {
  if (const auto summary = answer.find("summary"); summary != answer.end()) return *summary;
  return summary_file(window_of(process).value("folder", ""), process.pid);
}

/// Start time: field 22 of /proc/PID/stat; "": unreadable, as in another container.
std::string start_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return "";
  std::size_t at = name_end + 1;
  for (int field = 2; field < 22 && at != std::string::npos; ++field)
    at = text.find(' ', at + (field == 2 ? 0 : 1));
  return at == std::string::npos ? "" : text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

pid_t pid_in(const std::string& key) {
  return static_cast<pid_t>(std::stol(key));
}

}  // namespace

nlohmann::ordered_json RunningPrograms::rows() {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const TracedProcess& process : find_processes()) {
    const Json& status = process.status;
    if (process.unresponsive()) {
      out.emplace_back(status);
      continue;
    }
    const Json window = window_of(process);
    nlohmann::ordered_json row{{"pid", process.pid},
                               {"name", process_name(process)},
                               {"executable", status.value("executable", "")},
                               {"state", status.value("state", "")},
                               {"counters", status.value("counters", "")},
                               {"launches", status.value("launches", std::uint64_t{0})}};
    if (status.contains("rank")) row["rank"] = status["rank"];
    if (!window.empty()) {
      for (const char* const key : {"number", "folder", "records", "lost"})
        row[std::string("window_") + key] = window.value(key, Json());
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<TableColumn> RunningPrograms::columns() {
  return {{"name", "program"},
          {"pid", "process"},
          {"rank", "rank"},
          {"state", "state"},
          {"counters", "counters"},
          {"launches", "launches", Unit::count},
          {"window_number", "window", Unit::count},
          {"window_lost", "lost", Unit::count}};
}

Json RunningPrograms::summary(pid_t pid) {
  const TracedProcess process = process_of(pid);
  Json out;
  if (process.status.value("state", "") == "recording") {
    ControlClient client(process.path);
    out = summary_of(process, client.ask({{"command", "snapshot"}}, kAnswerTimeoutMs));
  } else {
    out = summary_file(window_of(process).value("folder", ""), pid);
  }
  if (!out.is_object()) throw Missing("process " + std::to_string(pid) + " has no readable summary");
  return out;
}

IndexedTrace RunningPrograms::trace(pid_t pid) {
  const TracedProcess process = process_of(pid);
  if (process.status.value("state", "") == "recording") {
    ControlClient client(process.path);
    (void)client.ask({{"command", "flush"}}, kAnswerTimeoutMs);
  }
  std::error_code error;
  const fs::path folder = fs::canonical(window_of(process).value("folder", ""), error);
  std::optional<IndexedTrace> out = error ? std::nullopt : confined_trace(folder, folder);
  if (!out) throw Missing("process " + std::to_string(pid) + " has no readable trace");
  return *std::move(out);
}

HttpParts RunningPrograms::live(pid_t pid, int every_ms) {
  const TracedProcess process = process_of(pid);
  auto stream = std::make_shared<LiveStream>(process, every_ms, streams_, kMaxStreams, kMaxLiveRows);
  return [stream = std::move(stream), &stopping = stopping_]() -> std::optional<std::string> {
    if (stopping.load(std::memory_order_relaxed)) return std::nullopt;
    return stream->next();
  };
}

std::string RunningPrograms::key_of(pid_t pid) const {
  const std::string prefix = std::to_string(pid) + " ";
  const std::string start = start_of(pid);
  const auto at = folders_.lower_bound(prefix);
  // It ended after it answered, so it is the known program.
  if (start.empty() && at != folders_.end() && at->first.starts_with(prefix)) return at->first;
  return prefix + start;
}

void RunningPrograms::note_last(ProcessLedger& ledger, const std::string& key) const {
  const auto folder = folders_.find(key);
  if (folder == folders_.end()) return;
  const Json last = summary_file(folder->second, pid_in(key));
  if (last.is_object()) ledger.note(key, ledger.window_of(key), last);
}

void RunningPrograms::forget_some(ProcessLedger& ledger, const std::map<std::string, std::string>& there) {
  for (const auto& [key, folder] : folders_) {
    if (there.contains(key)) continue;
    note_last(ledger, key);
    absent_.push_back(key);
  }
  // A program that was too busy to answer may come back. So close programs only when many are absent.
  std::erase_if(absent_, [&there](const std::string& key) { return there.contains(key); });
  for (; absent_.size() > kMaxAbsent; absent_.pop_front()) ledger.close(absent_.front());
}

void RunningPrograms::feed(ProcessLedger& ledger) {
  struct Asked {
    TracedProcess process;
    std::string key;
    Json window, summary;
  };
  std::vector<Asked> all;
  std::vector<ControlQuestion> questions;
  std::vector<std::size_t> asked;  // of each question, in `all`
  std::map<std::string, std::string> there;
  unresponsive_ = 0;
  for (TracedProcess& process : find_processes()) {
    const std::string key = key_of(process.pid);
    if (process.unresponsive()) {
      const auto at = folders_.find(key);
      there[key] = at == folders_.end() ? "" : at->second;
      ++unresponsive_;
      continue;
    }
    Asked one{std::move(process), key, {}, {}};
    one.window = window_of(one.process);
    there[one.key] = one.window.value("folder", "");
    const auto number = one.window.value("number", std::uint64_t{0});
    if (number == 0) continue;
    if (const std::uint64_t window = ledger.window_of(one.key); window != 0 && window != number)
      note_last(ledger, one.key);
    if (one.process.status.value("state", "") == "recording") {
      questions.push_back({one.process.path, {{"command", "snapshot"}}});
      asked.push_back(all.size());
    }
    all.push_back(std::move(one));
  }
  ask_all(questions, kAnswerTimeoutMs);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (questions[i].outcome != ControlQuestion::Outcome::answered) continue;  // it is ending: read its file
    Asked& one = all[asked[i]];
    one.summary = summary_of(one.process, questions[i].answer);
    if (questions[i].answer.value("ok", false)) one.window = questions[i].answer.at("window");
  }
  for (Asked& one : all) {
    if (!one.summary.is_object()) one.summary = summary_file(one.window.value("folder", ""), one.process.pid);
    if (one.summary.is_object())
      ledger.note(one.key, one.window.value("number", std::uint64_t{0}), one.summary);
    there[one.key] = one.window.value("folder", "");
  }
  forget_some(ledger, there);
  folders_ = std::move(there);
}

}  // namespace rangefinder
