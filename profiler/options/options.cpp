// SPDX-License-Identifier: Apache-2.0
#include "profiler/options/options.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <regex>

#include "profiler/base/edit_distance.h"

namespace rangefinder {
namespace {

constexpr std::string_view kPrefix = "RANGEFINDER_";

struct Parser {
  const char* const* environment;
  std::vector<std::string>& problems;

  [[nodiscard]] std::string_view value(std::string_view variable) const {
    for (const char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (text.size() > variable.size() && text.starts_with(variable) && text[variable.size()] == '=') {
        return text.substr(variable.size() + 1);
      }
    }
    return {};
  }

  void refuse(std::string_view variable, std::string_view text, std::string_view wanted) {
    problems.push_back(std::string(variable) + "=" + std::string(text) + " is not understood: expected " +
                       std::string(wanted) + ". The default is used.");
  }

  void read_text(const char* variable, std::string& out) const {
    if (const std::string_view text = value(variable); !text.empty()) out = text;
  }

  void read_level(const char* variable, std::string& out) {
    const std::string_view text = value(variable);
    const std::array levels{"trace", "debug", "info", "warn", "error"};
    if (std::find(levels.begin(), levels.end(), text) != levels.end()) {
      out = text;
    } else if (!text.empty()) {
      refuse(variable, text, "trace, debug, info, warn or error");
    }
  }

  /// `yes` is true, `no` is false; any other text is refused.
  void read_choice(const char* variable, bool& out, std::string_view yes, std::string_view no) {
    const std::string_view text = value(variable);
    if (text.empty()) return;
    if (text == yes) {
      out = true;
    } else if (text == no) {
      out = false;
    } else {
      refuse(variable, text, std::string(yes) + " or " + std::string(no));
    }
  }

  /// An enum whose enumerators are called `names`, in this order.
  template <typename Enum>
  void read_one_of(const char* variable, Enum& out, std::initializer_list<std::string_view> names) {
    const std::string_view text = value(variable);
    if (text.empty()) return;
    const auto* const found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) {
      out = static_cast<Enum>(found - names.begin());
      return;
    }
    std::string wanted;
    for (const std::string_view& name : names) {
      if (!wanted.empty()) wanted += &name == names.end() - 1 ? " or " : ", ";
      wanted += name;
    }
    refuse(variable, text, wanted);
  }

  static bool has_long_number(std::string_view text) noexcept {
    constexpr int kMaxDigits = 6;
    int digits = 0;
    return std::any_of(text.begin(), text.end(), [&](char character) {
      digits = character >= '0' && character <= '9' ? digits + 1 : 0;
      return digits > kMaxDigits;
    });
  }

  void read_regex(const char* variable, std::string& out) {
    const std::string_view text = value(variable);
    if (text.empty()) return;
    // libstdc++ recurses once a character, on the stack of the thread that initialises CUDA.
    constexpr std::size_t kMaxCharacters = 512;
    if (text.size() > kMaxCharacters || has_long_number(text))
      return refuse(variable, text.substr(0, 40),
                    "a regular expression of at most 512 characters, with numbers of at most 6 digits");
    try {
      (void)std::regex(text.begin(), text.end());
      out = text;
    } catch (const std::regex_error&) {
      refuse(variable, text, "a regular expression (ECMAScript)");
    }
  }

  void read_capture_text(CaptureRequest& out) {
    const std::string_view text = value("RANGEFINDER_CAPTURE");
    const std::string_view end = value("RANGEFINDER_CAPTURE_END");
    if (read_capture(text, end, out)) return;
    if (read_capture(text, "", out)) {
      refuse("RANGEFINDER_CAPTURE_END", end,
             text.empty() ? "a --capture to go with it" : "stop, repeat or repeat:N");
    } else {
      refuse("RANGEFINDER_CAPTURE", text,
             "cudaProfilerApi, nvtx:GLOB[@domain] or after:N,for:N, where N is a number of ranges or a "
             "duration (10s, 500ms)");
    }
  }

  void read_monitor(MonitorRequest& out) {
    constexpr std::int64_t kMinWindowNs = 10'000'000, kMinPeriodNs = 1'000'000'000;
    const std::string_view text = value("RANGEFINDER_MONITOR");
    if (text.empty() || text == "off") return;
    MonitorRequest read{100'000'000, 10'000'000'000};
    const std::size_t slash = text.find('/');
    const bool understood = text == "on" || (slash != std::string_view::npos &&
                                             read_duration(text.substr(0, slash), read.window_ns) &&
                                             read_duration(text.substr(slash + 1), read.period_ns));
    if (understood && read.window_ns >= kMinWindowNs && read.period_ns >= kMinPeriodNs &&
        read.window_ns <= read.period_ns / 2) {
      out = read;
    } else {
      refuse("RANGEFINDER_MONITOR", text,
             "on, off or WINDOW/PERIOD, as in 100ms/10s (window: at least 10ms, at most half the period; "
             "period: at least 1s)");
    }
  }

  template <typename Number>
  void read_number(const char* variable, Number& out, std::uint64_t min, std::uint64_t max,
                   std::uint64_t scale = 1) {
    const std::string_view text = value(variable);
    if (text.empty()) return;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < min || number > max) {
      refuse(variable, text, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
      return;
    }
    out = static_cast<Number>(number * scale);
  }
};

bool is_known(std::string_view name) {
  return std::any_of(kOptions.begin(), kOptions.end(),
                     [&](const OptionSpec& option) { return name == option.variable; });
}

void report_unknown(const char* const* environment, std::vector<std::string>& problems) {
  for (const char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix) || is_known(name)) continue;
    const auto nearest =
        std::min_element(kOptions.begin(), kOptions.end(), [&](const auto& a, const auto& b) {
          return edit_distance(name, a.variable) < edit_distance(name, b.variable);
        });
    problems.push_back(std::string(name) + " is not a Rangefinder variable; did you mean " +
                       nearest->variable + "?");
  }
}

// A program that runs for days gets the cheapest settings; variables that the user set take precedence.
void apply_monitor_defaults(const Parser& parser, Options& options) {
  constexpr std::uint32_t kIntervalUs = 10'000;
  if (parser.value("RANGEFINDER_SAMPLE_INTERVAL").empty()) options.sample_interval_us = kIntervalUs;
  if (parser.value("RANGEFINDER_MEMORY").empty()) options.memory = false;
  if (parser.value("RANGEFINDER_EVENTS").empty()) options.events = false;
  if (options.counters == CounterMode::exact) {
    options.counters = CounterMode::off;
    options.problems.emplace_back(
        "RANGEFINDER_COUNTERS=exact does not work with RANGEFINDER_MONITOR, whose windows are too short: "
        "counters are off. `rangefinder attach` opens a window with exact counters");
  }
  if (!options.record.empty()) {
    options.record.clear();
    options.problems.emplace_back(
        "RANGEFINDER_RECORD does not work with RANGEFINDER_MONITOR: no recording is written");
  }
}

}  // namespace

Options read_options(const char* const* environment) {
  Options options;
  Parser parser{environment, options.problems};
  parser.read_text("RANGEFINDER_OUT", options.out);
  options.counters_requested = parser.value("RANGEFINDER_COUNTERS") != "auto";
  if (options.counters_requested) {
    parser.read_one_of("RANGEFINDER_COUNTERS", options.counters, {"off", "sampled", "exact"});
  } else {
    options.counters = CounterMode::sampled;
  }
  parser.read_number("RANGEFINDER_SAMPLE_INTERVAL", options.sample_interval_us, 5, 10'000);
  parser.read_number("RANGEFINDER_SAMPLE_CPU", options.sample_cpu_percent, 0, 400);
  parser.read_text("RANGEFINDER_METRICS", options.metrics);
  parser.read_one_of("RANGEFINDER_EXACT_AT", options.exact_at, {"launch", "range"});
  parser.read_text("RANGEFINDER_EXACT_RANGE", options.exact_range);
  parser.read_regex("RANGEFINDER_EXACT_KERNEL", options.exact_kernel);
  parser.read_regex("RANGEFINDER_EXACT_SKIP", options.exact_skip);
  parser.read_number("RANGEFINDER_EXACT_BATCH", options.exact_batch, 1, 1024);
  parser.read_one_of("RANGEFINDER_START", options.start, {"on", "off", "ready"});
  parser.read_capture_text(options.capture);
  parser.read_monitor(options.monitor);
  parser.read_choice("RANGEFINDER_CHILDREN", options.children, "on", "off");
  parser.read_number("RANGEFINDER_RUN_PID", options.run_pid, 1, 0x7fff'ffff);
  parser.read_choice("RANGEFINDER_CONTROL", options.control, "on", "off");
  parser.read_one_of("RANGEFINDER_GRAPHS", options.graphs, {"nodes", "whole"});
  parser.read_choice("RANGEFINDER_MEMORY", options.memory, "on", "off");
  parser.read_choice("RANGEFINDER_EVENTS", options.events, "on", "off");
  parser.read_choice("RANGEFINDER_REDACT", options.redact, "on", "off");
  parser.read_choice("RANGEFINDER_FOLD_DIGITS", options.fold_digits, "on", "off");
  parser.read_number("RANGEFINDER_SEGMENT_MB", options.segment_bytes, 1, 4096, std::uint64_t{1} << 20);
  parser.read_number("RANGEFINDER_MAX_SIZE_MB", options.max_bytes, 0, std::uint64_t{1} << 30,
                     std::uint64_t{1} << 20);
  parser.read_choice("RANGEFINDER_KEEP", options.keep_last, "last", "first");
  parser.read_number("RANGEFINDER_BUFFERS", options.buffers, 4, 512);
  parser.read_number("RANGEFINDER_FLUSH_MS", options.flush_ms, 50, 60'000);
  if (parser.value("RANGEFINDER_SUMMARY_MS") == "0") {
    options.summary_ms = 0;
  } else {
    parser.read_number("RANGEFINDER_SUMMARY_MS", options.summary_ms, 200, 3'600'000);
  }
  parser.read_text("RANGEFINDER_REPORT", options.report);
  parser.read_level("RANGEFINDER_LOG", options.log);
  parser.read_text("RANGEFINDER_CUPTI", options.cupti);
  parser.read_text("RANGEFINDER_RECORD", options.record);
  parser.read_choice("RANGEFINDER_FORCE", options.force, "on", "off");
  parser.read_text("RANGEFINDER_NVTX_CHAIN", options.nvtx_chain);
  parser.read_text("RANGEFINDER_MANIFEST", options.manifest);
  if (options.monitor.on()) apply_monitor_defaults(parser, options);
  report_unknown(environment, options.problems);
  return options;
}

bool starts_recording(const char* start, const char* capture) noexcept {
  const std::string_view mode = start != nullptr ? start : "";
  return mode != "off" && mode != "ready" && (capture == nullptr || *capture == '\0');
}

}  // namespace rangefinder
