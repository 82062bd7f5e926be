// SPDX-License-Identifier: Apache-2.0
#include "profiler/options/options.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "profiler/base/edit_distance.h"
#include "profiler/base/name_pattern.h"
#include "profiler/guest/large_stack.h"
#include "profiler/options/option_table.h"

namespace rangefinder {
namespace {

constexpr std::string_view kPrefix = "RANGEFINDER_";

std::string_view variable_value(const char* const* environment, std::string_view variable) {
  for (const char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.size() > variable.size() && text.starts_with(variable) && text[variable.size()] == '=')
      return text.substr(variable.size() + 1);
  }
  return {};
}

bool has_long_number(std::string_view text) noexcept {
  constexpr int kMaxDigits = 6;
  int digits = 0;
  return std::any_of(text.begin(), text.end(), [&](char character) {
    digits = character >= '0' && character <= '9' ? digits + 1 : 0;
    return digits > kMaxDigits;
  });
}

/// What help and messages say that a value may be: "4 to 512", "off, sampled or exact".
std::string values_text(const OptionValue& value) {
  std::string text;
  if (const auto* const number = std::get_if<NumberValue>(&value); number != nullptr) {
    text = std::to_string(number->min) + " to " + std::to_string(number->max);
  } else if (const auto* const choice = std::get_if<WordValue>(&value); choice != nullptr) {
    const auto end = std::find(choice->words.begin(), choice->words.end(), "");
    for (auto word = choice->words.begin(); word != end; ++word) {
      if (word != choice->words.begin()) text += word + 1 == end ? " or " : ", ";
      text += *word;
    }
  }
  return text;
}

/// Sets one option, or adds to its problems: an overload for each kind of value.
struct Assignment {
  const OptionRow& row;
  std::string_view text;
  const char* const* environment;
  Options& options;

  void refuse(std::string_view shown, const std::string& expected) const {
    options.problems.push_back(std::string(row.variable) + "=" + std::string(shown) +
                               " is not understood: expected " + expected + ". The default is used.");
  }

  void operator()(std::monostate) const {}
  void operator()(const TextValue& value) const { options.*value.member = text; }

  void operator()(const PatternValue& value) const {
    constexpr std::size_t kMaxCharacters = 512;
    if (text.size() > kMaxCharacters || has_long_number(text))
      return refuse(text.substr(0, 40),
                    "a regular expression of at most 512 characters, with numbers of at most 6 digits");
    try {
      // libstdc++ recurses once a character: 512 overflow a stack of 64 KiB, and the thread is the
      // application's.
      on_large_stack([&] { (void)NamePattern(text); });
      options.*value.member = text;
    } catch (const NamePattern::Invalid&) {
      refuse(text, "a regular expression (ECMAScript)");
    }
  }

  void operator()(const WordValue& value) const {
    const auto word = std::find(value.words.begin(), value.words.end(), text);
    if (word == value.words.end() && text != value.unlisted) return refuse(text, values_text(value));
    value.store(options, static_cast<std::uint64_t>(word - value.words.begin()), text);
  }

  void operator()(const NumberValue& value) const {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    const bool zero = value.or_zero && text == "0";
    if (!zero && (!whole || number < value.min || number > value.max))
      return refuse(text, "a whole number from " + values_text(value));
    value.store(options, number * value.unit, text);
  }

  void operator()(CaptureValue) const {
    if (!read_capture(text, "", options.capture))
      refuse(text,
             "cudaProfilerApi, nvtx:GLOB[@domain] or after:N,for:N, where N is a number of ranges or a "
             "duration (10s, 500ms)");
  }

  void operator()(CaptureEndValue) const {
    const std::string_view capture = variable_value(environment, "RANGEFINDER_CAPTURE");
    if (capture.empty()) return refuse(text, "a --capture to go with it");
    if (options.capture.empty()) return;  // RANGEFINDER_CAPTURE has been refused already
    if (!read_capture(capture, text, options.capture)) refuse(text, "stop, repeat or repeat:N");
  }

  void operator()(MonitorValue) const {
    constexpr std::int64_t kMinWindowNs = 10'000'000, kMinPeriodNs = 1'000'000'000;
    if (text == "off") return;
    MonitorRequest read{100'000'000, 10'000'000'000};
    const std::size_t slash = text.find('/');
    const bool understood = text == "on" || (slash != std::string_view::npos &&
                                             read_duration(text.substr(0, slash), read.window_ns) &&
                                             read_duration(text.substr(slash + 1), read.period_ns));
    if (understood && read.window_ns >= kMinWindowNs && read.period_ns >= kMinPeriodNs &&
        read.window_ns <= read.period_ns / 2) {
      options.monitor = read;
    } else {
      refuse(text,
             "on, off or WINDOW/PERIOD, as in 100ms/10s (window: at least 10ms, at most half the period; "
             "period: at least 1s)");
    }
  }
};

void set_option(const OptionRow& row, std::string_view text, const char* const* environment,
                Options& options) {
  if (!text.empty()) std::visit(Assignment{row, text, environment, options}, row.value);
}

bool is_known(std::string_view name) {
  return std::any_of(kOptions.begin(), kOptions.end(),
                     [&](const OptionRow& row) { return name == row.variable; });
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
void apply_monitor_defaults(const char* const* environment, Options& options) {
  for (const OptionRow& row : kOptions) {
    if (variable_value(environment, row.variable).empty())
      set_option(row, row.monitor_fallback, environment, options);
  }
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

std::string help_text(const OptionRow& row) {
  std::string help = row.help;
  const std::pair<std::string_view, std::string> facts[] = {
      {"{values}", values_text(row.value)}, {"{default}", row.fallback}, {"{monitor}", row.monitor_fallback}};
  for (const auto& [mark, fact] : facts) {
    if (const std::size_t at = help.find(mark); at != std::string::npos) help.replace(at, mark.size(), fact);
  }
  return help;
}

Options::Options() {
  for (const OptionRow& row : kOptions) set_option(row, row.fallback, nullptr, *this);
}

Options read_options(const char* const* environment) {
  Options options;
  for (const OptionRow& row : kOptions)
    set_option(row, variable_value(environment, row.variable), environment, options);
  if (options.gpm && !options.conditions) {
    options.gpm = false;
    options.problems.emplace_back(
        "RANGEFINDER_COUNTERS=gpm does not work with RANGEFINDER_CONDITIONS=off, whose thread reads them: no "
        "bytes");
  }
  if (options.monitor.on()) apply_monitor_defaults(environment, options);
  report_unknown(environment, options.problems);
  return options;
}

}  // namespace rangefinder
