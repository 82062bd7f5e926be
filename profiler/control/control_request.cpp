// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/control_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace rangefinder {
namespace {

using Json = nlohmann::json;

constexpr double kMaxSeconds = 30.0 * 24 * 3600;
constexpr double kMaxCount = 1e15;
constexpr std::size_t kMaxModes = 16;

/// A time in ns since 1970. A string, because it exceeds 2^53.
std::int64_t read_time(const Json& request, const char* key) {
  const std::string text = read_text(request, key);
  std::int64_t ns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
  if (!text.empty() && (error != std::errc{} || end != text.data() + text.size() || ns < 0))
    throw BadRequest(std::string(key) + " must be a string: nanoseconds since 1970");
  return ns;
}

std::uint64_t read_count(const Json& request, const char* key, double min, double fallback) {
  const double number = read_number(request, key, min, kMaxCount, fallback);
  if (number != std::floor(number)) throw BadRequest(std::string(key) + " must be a whole number");
  return static_cast<std::uint64_t>(number);
}

}  // namespace

double read_number(const Json& request, const char* key, double min, double max, double fallback) {
  const auto found = request.find(key);
  if (found == request.end()) return fallback;
  const double number = found->is_number() ? found->get<double>() : std::nan("");
  if (!(number >= min && number <= max)) {
    const Json bounds = {min, max};
    throw BadRequest(std::string(key) + " must be a number from " + bounds[0].dump() + " to " +
                     bounds[1].dump());
  }
  return number;
}

std::string read_text(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return {};
  if (!found->is_string()) throw BadRequest(std::string(key) + " must be a string");
  return found->get<std::string>();
}

CounterMode read_counter_mode(const Json& value) {
  for (const CounterMode mode : {CounterMode::off, CounterMode::sampled, CounterMode::exact}) {
    if (value.is_string() && value.get<std::string>() == counter_mode_text(mode)) return mode;
  }
  throw BadRequest("counters must be off, sampled or exact");
}

WindowRequest read_window_request(const Json& request) {
  WindowRequest window;
  window.out = read_text(request, "out");
  if (!window.out.empty() && window.out.front() != '/')
    throw BadRequest("out must be an absolute path: the process may run in any folder");
  if (request.contains("counters") && !request["counters"].is_array())
    window.counters = read_counter_mode(request["counters"]);
  return window;
}

WindowPlan read_window_plan(const Json& request) {
  WindowPlan plan;
  plan.request = read_window_request(request);
  plan.at_ns = read_time(request, "at_unix_ns");
  plan.for_ns = static_cast<std::int64_t>(read_number(request, "seconds", 0.001, kMaxSeconds, 0) * 1e9);
  plan.launches = read_count(request, "launches", 1, 0);
  if (request.contains("range") || request.contains("occurrences")) {
    RangeCount ranges;
    ranges.glob = read_text(request, "range");
    ranges.domain = read_text(request, "domain");
    ranges.count = read_count(request, "occurrences", 1, 1);
    ranges.after = read_count(request, "after", 0, 0);
    plan.ranges = ranges;
    const auto counters = request.find("counters");
    if (counters != request.end() && counters->is_array()) {
      if (counters->empty() || counters->size() > kMaxModes)
        throw BadRequest("counters must be one mode, or a list of 1 to 16 modes");
      for (const Json& mode : *counters) plan.counters.push_back(read_counter_mode(mode));
    }
    const auto modes = static_cast<double>(std::max<std::size_t>(plan.counters.size(), 1));
    plan.windows = read_count(request, "windows", 1, modes);
  }
  if (!plan.ranges && request.contains("counters") && request["counters"].is_array())
    throw BadRequest(
        "a list of counters needs range or occurrences: it gives each window over ranges a mode");
  const int ends = (plan.for_ns != 0 ? 1 : 0) + (plan.launches != 0 ? 1 : 0) + (plan.ranges ? 1 : 0);
  if (ends != 1) throw BadRequest("window needs one of seconds, launches, or range with occurrences");
  if (plan.ranges && plan.at_ns != 0)
    throw BadRequest("at_unix_ns cannot be used with ranges: such a window begins with a range");
  return plan;
}

}  // namespace rangefinder
