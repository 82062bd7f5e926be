// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/selection.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "profiler/base/number_text.h"
#include "profiler/base/path_glob.h"
#include "tools/analysis/model/path_names.h"

namespace rangefinder {
namespace {

std::invalid_argument wrong(const std::string& text, const std::string& form) {
  return std::invalid_argument(text + " is not a span: " + form);
}

std::pair<std::string, std::string> split(const std::string& text, const std::string& form) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.size() == 1) throw wrong(text, form);
  return {text.substr(0, colon), text.substr(colon + 1)};
}

TimeNs parse_time(const std::string& text, const std::string& whole, const std::string& form) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto* const found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                         [unit](const auto& entry) { return entry.first == unit; });
  if (error != std::errc() || found == std::end(kUnits)) throw wrong(whole, form);
  const double ns = number * found->second;
  if (!(std::abs(ns) < 9e18)) throw wrong(whole, form);
  return static_cast<TimeNs>(std::llround(ns));
}

template <typename Value>
void check_order(const HalfOpen<Value>& span, const std::string& text) {
  if (span.first && span.last && *span.first >= *span.last) {
    throw std::invalid_argument(
        text + " is empty: the first value must be smaller than the last, which is exclusive");
  }
}

Columns needs_of(const SelectionOptions& options) {
  Columns out;
  if (!options.iterations.open()) out |= kWorkOfIteration | Column::launch_times | Column::range_times;
  if (!options.window.open()) out |= Column::work_times | Column::launch_times | Column::range_times;
  if (!options.range.empty()) out |= Column::work_path | Column::launch_path | Column::range_path;
  if (!options.kernel.empty()) out |= Column::work_name | Column::exact;
  return out;
}

}  // namespace

std::string span_text(const HalfOpen<std::uint64_t>& span) {
  return (span.first ? std::to_string(*span.first) : "") + ":" +
         (span.last ? std::to_string(*span.last) : "");
}

std::string span_text(const HalfOpen<TimeNs>& span) {
  const auto text = [](const std::optional<TimeNs>& time) {
    if (!time) return std::string();
    const auto size = static_cast<std::uint64_t>(*time < 0 ? -*time : *time);
    return (*time < 0 ? "-" : "") + duration_text(size);
  };
  if (!span.first || !span.last)
    return (span.first ? "from " : "up to ") + text(span.first) + text(span.last);
  return text(span.first) + " to " + text(span.last);
}

HalfOpen<std::uint64_t> parse_iterations(const std::string& text) {
  const std::string form = "use FIRST:LAST, counted from 0, LAST exclusive, as in 10:20, 10: or :20";
  const auto [first, last] = split(text, form);
  HalfOpen<std::uint64_t> out;
  for (const auto& [part, value] : {std::pair{&first, &out.first}, std::pair{&last, &out.last}}) {
    if (part->empty()) continue;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(part->data(), part->data() + part->size(), number);
    if (error != std::errc() || end != part->data() + part->size()) throw wrong(text, form);
    *value = number;
  }
  check_order(out, text);
  return out;
}

HalfOpen<TimeNs> parse_window(const std::string& text) {
  const std::string form = "use FROM:TO, as in 1.5s:2s, 200ms: or :3s (s, ms, us, ns)";
  const auto [first, last] = split(text, form);
  HalfOpen<TimeNs> out;
  if (!first.empty()) out.first = parse_time(first, text, form);
  if (!last.empty()) out.last = parse_time(last, text, form);
  check_order(out, text);
  return out;
}

Columns Selection::columns(const SelectionOptions& options) {
  return options.iterations.open() ? needs_of(options) : needs_of(options) | kIterationColumns;
}

Selection::Selection(const SelectionOptions& options, Trace& trace)
    : Selection(options,
                options.iterations.open() ? Iterations() : find_iterations(trace, options.iteration_range)) {}

Selection::Selection(const SelectionOptions& options, Iterations iterations)
    : options_(options),
      everything_(options.everything()),
      needs_(needs_of(options)),
      iterations_(std::move(iterations)) {
  if (!options_.kernel.empty()) kernel_.emplace(options_.kernel);
}

void Selection::learn(const Line& line) {
  if (everything_) return;
  if (const auto* const path = std::get_if<PathRecord>(&line); path && !options_.range.empty()) {
    const bool is_new = path_records_.emplace(path->id, *path).second;
    if (is_new && matches_glob(options_.range, path_text(path_records_, path->id))) paths_.insert(path->id);
  }
  const auto* const name = std::get_if<KernelNameRecord>(&line);
  if (name != nullptr && kernel_ && kernel_->is_in(name->demangled)) kernels_.insert(name->id);
}

bool Selection::in_range(std::uint32_t path) const {
  return options_.range.empty() || paths_.count(path) != 0;
}

bool Selection::in_iterations(std::size_t iteration) const {
  if (options_.iterations.open()) return true;
  return iteration != Iterations::kNone && options_.iterations.contains(iteration);
}

bool Selection::in_kernels(std::uint32_t kernel_name) const {
  return options_.kernel.empty() || kernels_.count(kernel_name) != 0;
}

bool Selection::counts(const GpuWork& work, std::uint32_t kernel_name) const {
  if (!in_kernels(kernel_name)) return false;
  return options_.iterations.open() || in_iterations(iteration_of(work));
}

Part Selection::part_of(GpuWork& work, std::uint32_t kernel_name) {
  return in_kernels(kernel_name) ? cut(work.path, iteration_of(work), work.start_ns, work.end_ns) : Part();
}

Part Selection::part_of(const HostWork& host) {
  return part_at(host.path, host.start_ns);
}

Part Selection::part_at(std::uint32_t path, TimeNs start_ns) {
  TimeNs end_ns = kNoTime;
  return cut(path, iteration_of(start_ns), start_ns, end_ns);
}

Part Selection::cut(std::uint32_t path, std::size_t iteration, TimeNs& start_ns, TimeNs& end_ns) {
  if (start_ns != kNoTime) {
    first_ns_ = std::min(first_ns_, start_ns);
    last_ns_ = std::max({last_ns_, start_ns, end_ns});
  }
  if (!in_iterations(iteration)) return {.in_range = in_range(path), .other = true};
  Part out{.selected = true, .in_range = in_range(path)};
  if (options_.window.open()) return out;
  if (start_ns == kNoTime) return {};
  const auto [from, to] = window();
  out.begins = start_ns >= from && start_ns < to;
  const bool reaches_in = end_ns != kNoTime && start_ns < from && end_ns > from;
  if (!out.begins && !reaches_in) return {};
  start_ns = std::max(start_ns, from);
  if (end_ns != kNoTime) end_ns = std::min(end_ns, to);
  return out;
}

SampleWindow Selection::window() const {
  return {options_.window.first.value_or(INT64_MIN), options_.window.last.value_or(INT64_MAX)};
}

SampleWindow Selection::sample_window() const {
  SampleWindow out;
  const auto& instances = iterations_.instances;
  const auto& wanted = options_.iterations;
  if (!wanted.open()) {
    if (wanted.first) {
      out.from_ns = *wanted.first < instances.size() ? instances[*wanted.first].start_ns : INT64_MAX;
    }
    if (wanted.last && *wanted.last < instances.size()) out.to_ns = instances[*wanted.last].start_ns;
  }
  const SampleWindow own = window();
  return {std::max(out.from_ns, own.from_ns), std::min(out.to_ns, own.to_ns)};
}

std::optional<SampleWindow> Selection::seen() const {
  if (first_ns_ > last_ns_) return std::nullopt;
  return SampleWindow{first_ns_, last_ns_};
}

std::string Selection::text() const {
  if (everything_) return {};
  std::string out;
  const auto add = [&out](const std::string& part) { out += (out.empty() ? "Only: " : ", ") + part; };
  if (!options_.range.empty()) add("range " + printable(options_.range));
  if (!options_.kernel.empty()) add("kernels " + printable(options_.kernel));
  if (!options_.iterations.open()) {
    add("iterations " + span_text(options_.iterations) + " of " + count_text(iterations_.instances.size()) +
        " of " + printable(iterations_.path));
  }
  if (!options_.window.open()) add("window " + span_text(options_.window));
  return out;
}

}  // namespace rangefinder
