// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/host_stacks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

/// A share of more samples is right to 3 %.
constexpr std::uint64_t kManyStackSamples = 1000;

/// Of all stacks of one row.
struct FunctionSum {
  HostFunction out;
  std::map<std::uint32_t, std::uint64_t> lines_ns, waits_ns;  // by line; by frame that waits
};

template <typename Key>
Key with_most(const std::map<Key, std::uint64_t>& ns) {
  const auto most = std::max_element(ns.begin(), ns.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == ns.end() ? Key() : most->first;
}

/// "import in "; empty: its own work.
std::string doing_text(StackState state, const std::string& function) {
  if (state == StackState::imports) return "import in ";
  const bool is_alone = function == kGarbageCollection;
  return state == StackState::collects && !is_alone ? std::string(kGarbageCollection) + " in " : "";
}

/// "_MultiProcessingDataLoaderIter" of "_MultiProcessingDataLoaderIter._try_get_data".
std::string class_of(const std::string& function) {
  const std::size_t dot = function.rfind('.');
  return dot == std::string::npos ? "" : function.substr(0, dot);
}

Cell known_cell(const std::string& text) {
  return text.empty() ? Cell() : text_cell(text);
}

nlohmann::ordered_json function_json(const MainFunction& main, const HostFunction& function) {
  nlohmann::ordered_json out{{"function", function.title()}};
  if (!function.file.empty()) out["file"] = function.file;
  if (function.line != 0) out["line"] = function.line;
  if (!function.waits_in.empty()) out["waits_in"] = function.waits_in;
  if (function.state == StackState::waits_for_workers) out["waits_for_workers"] = true;
  out["share"] = main.share(function);
  out["samples"] = function.samples;
  out["all_samples"] = main.all.samples;
  return out;
}

std::string whole_percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

}  // namespace

void StackTimes::add(const StackMoment& moment) {
  for (Time* const time : {&stacks_[moment.stack], &all_}) {
    ++time->samples;
    time->ns += moment.interval_ns;
  }
}

std::string HostFunction::source() const {
  return frame_source({0, function, file, line});
}

std::string HostFunction::title() const {
  return doing_text(state, function) + function;
}

std::string HostFunction::text() const {
  return doing_text(state, function) + frame_text({0, function, file, line}) +
         (waits_in.empty() ? "" : ", in " + waits_in);
}

std::vector<HostFunction> host_functions(const StackNames& names, const StackTimes& times) {
  std::vector<HostFunction> out;
  if (!times.names_functions()) return out;
  using Key = std::tuple<std::string, std::string, std::string>;  // function, file, function that waits
  std::map<Key, FunctionSum> sums;
  for (const auto& [stack, time] : times.stacks()) {
    const StackPlace place = place_of(names, stack);
    const FrameRecord& frame = names.frame(place.frame);
    const FrameRecord* const waits_in = place.waits_in == 0 ? nullptr : &names.frame(place.waits_in);
    FunctionSum& sum = sums[{doing_text(place.state, frame.function) + frame.function, frame.file,
                             waits_in == nullptr ? "" : waits_in->file + ":" + waits_in->function}];
    sum.out.state = std::max(sum.out.state, place.state);
    sum.out.function = frame.function;
    sum.out.file = frame.file;
    sum.out.samples += time.samples;
    sum.out.ns += time.ns;
    if (place.is_innermost) sum.out.self_ns += time.ns;
    sum.lines_ns[frame.line] += time.ns;
    if (waits_in != nullptr) sum.waits_ns[place.waits_in] += time.ns;
    if (place.state != StackState::waits_for_workers) continue;
    sum.out.loader = class_of(waits_in == nullptr ? frame.function : waits_in->function);
  }
  for (auto& [key, sum] : sums) {
    sum.out.line = with_most(sum.lines_ns);
    if (!sum.waits_ns.empty()) sum.out.waits_in = frame_text(names.frame(with_most(sum.waits_ns)));
    out.push_back(std::move(sum.out));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const HostFunction& a, const HostFunction& b) { return a.ns > b.ns; });
  return out;
}

std::optional<MainFunction> main_function(const StackNames& names, const StackTimes& times) {
  std::vector<HostFunction> all = host_functions(names, times);
  if (all.empty() || times.all().ns == 0) return std::nullopt;
  MainFunction out{std::move(all.front()), std::nullopt, times.all()};
  if (all.size() > 1 && 2 * all[1].ns >= out.function.ns) out.second = std::move(all[1]);
  return out;
}

double MainFunction::share(const HostFunction& of) const noexcept {
  return static_cast<double>(of.ns) / static_cast<double>(all.ns);
}

std::string MainFunction::text() const {
  std::string out = printable(function.text()) + " (" + whole_percent(share(function)) + " of that time";
  if (all.samples < kManyStackSamples) out += ", of " + counted_text(all.samples, "sample", "samples");
  out += ")";
  if (second) out += ", " + printable(second->text()) + " (" + whole_percent(share(*second)) + ")";
  return out;
}

std::string MainFunction::note() const {
  if (function.state != StackState::waits_for_workers) return {};
  const std::string loader = function.loader.empty() ? "" : " (" + printable(function.loader) + ")";
  const std::string where =
      function.source().empty() ? "" : " that " + printable(function.source()) + " iterates";
  return "The process waits for the workers of the DataLoader" + loader + where +
         "; workers use no CUDA and are not recorded";
}

nlohmann::ordered_json function_json(const MainFunction& main) {
  nlohmann::ordered_json out = function_json(main, main.function);
  if (main.second) out["second"] = function_json(main, *main.second);
  return out;
}

Table function_table(std::string name, const StackNames& names, const StackTimes& times) {
  Table table;
  table.name = std::move(name);
  table.columns = {{"function", "function"},
                   {"source", "line", Unit::text, kAlwaysShown, {}, kForPeople},
                   {"file", "file", Unit::text, kAlwaysShown, {}, kForPrograms},
                   {"line", "line", Unit::count, kAlwaysShown, {}, kForPrograms},
                   {"waits_in", "waits in", Unit::text, 60},
                   {"share", "of host code", Unit::share},
                   {"ns", "time", Unit::ns},
                   {"self_ns", "in its own lines", Unit::ns, 70},
                   {"samples", "samples", Unit::count, 80}};
  const std::string counted = counted_text(times.all().samples, "sample", "samples");
  table.empty = "Only " + counted + " of stacks: too few to name functions.";
  for (const HostFunction& function : host_functions(names, times)) {
    table.add({text_cell(function.title()), known_cell(function.source()), known_cell(function.file),
               cell_if(function.line != 0, function.line), known_cell(function.waits_in),
               ratio_cell(function.ns, times.all().ns), number_cell(function.ns),
               number_cell(function.self_ns), number_cell(function.samples)});
  }
  if (table.rows.empty()) return table;
  table.remarks = "Shares are of " + counted + " of stacks in that time.\n";
  if (const std::string note = main_function(names, times)->note(); !note.empty())
    table.remarks += note + ".\n";
  return without_empty_columns(std::move(table));
}

}  // namespace rangefinder
