// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/selection.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "profiler/base/number_text.h"
#include "profiler/base/path_glob.h"
#include "tools/analysis/read/path_names.h"

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
  const auto* const known = std::find_if(std::begin(kUnits), std::end(kUnits),
                                         [unit](const auto& entry) { return entry.first == unit; });
  if (error != std::errc() || known == std::end(kUnits)) throw wrong(whole, form);
  const double ns = number * known->second;
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
  return text(span.first) + " to " + text(span.last);
}

}  // namespace

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

Selection::Selection(const SelectionOptions& options, const TraceFolder& trace)
    : options_(options), everything_(options.everything()) {
  if (!options_.kernel.empty()) kernel_ = std::regex(options_.kernel);
  if (!options_.iterations.open()) iterations_ = find_iterations(trace, options_.iteration_range);
}

void Selection::learn(const PathRecord& path) {
  if (options_.range.empty() || !path_records_.emplace(path.id, path).second) return;
  if (matches_glob(options_.range, path_text(path_records_, path.id))) paths_.insert(path.id);
}

void Selection::learn(const KernelNameRecord& name) {
  if (!options_.kernel.empty() && std::regex_search(name.demangled, kernel_)) kernels_.insert(name.id);
}

bool Selection::in_path(std::uint32_t path) const {
  return options_.range.empty() || paths_.count(path) != 0;
}

bool Selection::in_time(TimeNs start, std::size_t iteration) const {
  if (!options_.window.open() && (start == kNoTime || !options_.window.holds(start))) return false;
  if (options_.iterations.open()) return true;
  return iteration != Iterations::kNone && options_.iterations.holds(iteration);
}

bool Selection::takes_work(const GpuWork& work, std::uint32_t kernel_name) const {
  if (!options_.kernel.empty() && kernels_.count(kernel_name) == 0) return false;
  return in_path(work.path) && in_time(work.start_ns, iterations_.of(work));
}

bool Selection::takes_host(const HostWork& host) const {
  return in_path(host.path) && in_time(host.start_ns, iterations_.of(host));
}

/// Whether a line of each kind is taken.
struct Selection::Judge {
  const Selection& of;
  bool kernels_only;

  bool operator()(const KernelRecord& kernel) const { return of.takes_work(kernel.work, kernel.name); }
  bool operator()(const MemcpyRecord& copy) const { return of.takes_work(copy.work, 0); }
  bool operator()(const MemsetRecord& memset) const { return of.takes_work(memset.work, 0); }
  bool operator()(const GraphRecord& graph) const { return of.takes_work(graph.work, 0); }
  bool operator()(const LaunchRecord& launch) const { return of.takes_host(launch.host); }
  bool operator()(const ExactRecord& exact) const {
    return (!kernels_only || of.kernels_.count(exact.name) != 0) && of.takes_host(exact.launch.host);
  }
  bool operator()(const SyncRecord& sync) const { return !kernels_only && of.takes_host(sync.host); }
  bool operator()(const AllocRecord& alloc) const { return !kernels_only && of.takes_host(alloc.host); }
  bool operator()(const EventRecord& event) const { return !kernels_only && of.takes_host(event.host); }
  bool operator()(const CaptureRecord& step) const { return !kernels_only && of.takes_host(step.host); }
  bool operator()(const RangeRecord& range) const { return in_path_and_time(range.path, range.start_ns); }
  bool operator()(const MarkRecord& mark) const { return in_path_and_time(mark.path, mark.at_ns); }
  bool operator()(const OverheadRecord& overhead) const {
    return of.options_.range.empty() && !kernels_only && in_path_and_time(0, overhead.start_ns);
  }
  template <typename Naming>
  bool operator()(const Naming&) const {
    return true;  // samples too: sample_window() selects those; holds: taken out of what is selected
  }

 private:
  [[nodiscard]] bool in_path_and_time(std::uint32_t path, TimeNs at) const {
    return of.in_path(path) && of.in_time(at, of.iterations_.at(at));
  }
};

bool Selection::takes(const Line& line) {
  if (everything_) return true;
  if (const auto* const path = std::get_if<PathRecord>(&line)) learn(*path);
  if (const auto* const name = std::get_if<KernelNameRecord>(&line)) learn(*name);
  return std::visit(Judge{*this, !options_.kernel.empty()}, line);
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
  if (options_.window.first) out.from_ns = std::max(out.from_ns, *options_.window.first);
  if (options_.window.last) out.to_ns = std::min(out.to_ns, *options_.window.last);
  return out;
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
