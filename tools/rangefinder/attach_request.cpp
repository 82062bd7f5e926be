// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/attach_request.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/base/out_template.h"
#include "profiler/options/capture_request.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using Json = nlohmann::json;

std::int64_t read_at(const std::string& text, std::int64_t now_ns) {
  std::int64_t delay_ns = 0;
  if (text.starts_with("+") && read_duration(text.substr(1), delay_ns)) return now_ns + delay_ns;
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds > 0 && seconds < 9e9))
    throw WrongUse("--at " + text + " is neither seconds since 1970 nor a delay like +5s");
  return std::llround(seconds * 1e9);
}

/// Reads "off,exact" as a list.
Json counter_modes(const std::string& text) {
  Json modes = Json::array();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string mode = text.substr(at, end - at);
    if (mode != "off" && mode != "sampled" && mode != "exact")
      throw WrongUse("--counters is off, sampled or exact, not " + mode);
    modes.push_back(mode);
    at = end + 1;
  }
  return modes;
}

/// With several processes the folder must contain the process, or they would share it.
std::string folder_for(const AttachOptions& options, const TracedProcess& process, bool many) {
  std::string folder = std::filesystem::absolute(options.out).string();
  if (!many || names_process(folder)) return folder;
  if (process.status.contains("rank")) folder += "/rank=%r";
  return folder + "/pid=%p";
}

std::string command_of(const AttachOptions& options) {
  const int commands = (options.start ? 1 : 0) + (options.stop ? 1 : 0) + (options.snapshot ? 1 : 0) +
                       (options.yield ? 1 : 0) + (options.resume ? 1 : 0) + (options.is_window() ? 1 : 0);
  if (commands > 1) throw WrongUse("attach takes one action: --start, --stop, a window, --snapshot, …");
  if (options.start) return "start";
  if (options.stop) return "stop";
  if (options.snapshot) return "snapshot";
  if (options.yield) return "yield";
  if (options.resume) return "resume";
  return options.is_window() ? "window" : "counters";
}

void add_window_end(const AttachOptions& options, Json& request) {
  const bool ranges = !options.range.empty() || options.occurrences != 0;
  if ((options.window.empty() ? 0 : 1) + (options.launches != 0 ? 1 : 0) + (ranges ? 1 : 0) != 1)
    throw WrongUse(
        "a window has one end: --window DURATION, --launches N, or --range GLOB with --occurrences N");
  if (!options.window.empty()) {
    std::int64_t ns = 0;
    if (!read_duration(options.window, ns) || ns == 0)
      throw WrongUse("--window " + options.window + " is not a duration such as 5s or 200ms");
    request["seconds"] = static_cast<double>(ns) / 1e9;
  }
  if (options.launches != 0) request["launches"] = options.launches;
  if (!ranges) return;
  if (!options.range.empty()) request["range"] = options.range;
  request["occurrences"] = options.occurrences != 0 ? options.occurrences : 1;
  if (options.after != 0) request["after"] = options.after;
}

}  // namespace

Json attach_request(const AttachOptions& options, const TracedProcess& process, bool many,
                    std::int64_t now_ns, std::int64_t together_ns) {
  const std::string command = command_of(options);
  Json request = {{"command", command}};
  const bool opens = command == "start" || command == "window";
  if (!options.counters.empty()) {
    if (!opens && command != "counters") throw WrongUse("--counters needs --start or a window");
    const Json modes = counter_modes(options.counters);
    if (modes.size() > 1 && (options.range.empty() && options.occurrences == 0))
      throw WrongUse("--counters " + options.counters + ": several modes need --range or --occurrences");
    request[command == "counters" ? "mode" : "counters"] = modes.size() == 1 ? modes[0] : modes;
  }
  if (!options.out.empty()) {
    if (!opens) throw WrongUse("--out needs --start or a window");
    request["out"] = folder_for(options, process, many);
  }
  if (command == "window") add_window_end(options, request);
  const bool timed = command == "window" && !request.contains("occurrences");
  if (!options.at.empty()) {
    if (!timed) throw WrongUse("--at needs --window or --launches");
    request["at_unix_ns"] = std::to_string(read_at(options.at, now_ns));
  } else if (timed && together_ns != 0) {
    request["at_unix_ns"] = std::to_string(together_ns);
  }
  return request;
}

}  // namespace rangefinder
