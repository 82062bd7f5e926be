// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/iterations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <tuple>
#include <utility>

#include "profiler/base/path_glob.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/path_names.h"
#include "tools/analysis/read/trace_reader.h"

namespace rangefinder {
namespace {

/// Range ids are dense, so a larger id comes from a damaged trace.
constexpr std::uint64_t kMaxRanges = 400'000'000;

/// "ProfilerStep#12" ─▶ "ProfilerStep#*": PyTorch names each step's range differently.
std::string folded(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
      out += name[i];
    } else if (out.empty() || out.back() != '*') {
      out += '*';
    }
  }
  return out;
}

bool is_iteration_name(std::string_view name) {
  std::string lower;
  for (const char c : folded(name)) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (!lower.empty() && (lower.back() == '*' || lower.back() == '#' || lower.back() == ' '))
    lower.pop_back();
  constexpr std::array<std::string_view, 8> kNames{"iteration",     "step",  "profilerstep", "train_step",
                                                   "training_step", "batch", "frame",        "epoch"};
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

/// The call that launched a graph; else nullptr.
const LaunchRecord* graph_launch(const Line& line) {
  if (const auto* const exact = std::get_if<ExactRecord>(&line)) {
    return exact->kind == WorkKind::graph && !exact->is_counter_range ? &exact->launch : nullptr;
  }
  const auto* const launch = std::get_if<LaunchRecord>(&line);
  return launch != nullptr && launch->api.starts_with("cuGraphLaunch") ? launch : nullptr;
}

}  // namespace

std::string folded_iteration_name(const std::string& name) {
  return is_iteration_name(name) ? folded(name) : name;
}

void IterationFinder::line(const Line& line) {
  if (const auto* const path = std::get_if<PathRecord>(&line)) paths_.emplace(path->id, *path);
  if (const auto* const range = std::get_if<RangeRecord>(&line)) add(*range);
  if (const LaunchRecord* const launch = graph_launch(line)) {
    graph_launches_.emplace(launch->correlation, launch->host.start_ns);
  }
}

Iterations IterationFinder::result() {
  Iterations out;
  const std::string chosen = glob_.empty() ? guess() : named();
  if (const auto at = groups_.find(chosen); at != groups_.end()) {
    out.path = chosen;
    out.instances = std::move(at->second.instances);
    std::sort(out.instances.begin(), out.instances.end(),
              [](const Iteration& a, const Iteration& b) { return a.start_ns < b.start_ns; });
  }
  for (const Iteration& one : out.instances) {
    out.ends_.push_back(out.ends_.empty() ? one.end_ns : std::max(out.ends_.back(), one.end_ns));
  }
  out.range_starts_ = std::move(starts_);
  out.graph_launches_ = std::move(graph_launches_);
  return out;
}

void IterationFinder::add(const RangeRecord& range) {
  if (range.id < kMaxRanges && range.start_ns != kNoTime) {
    if (range.id >= starts_.size()) starts_.resize(range.id + 1, kNoTime);
    starts_[range.id] = range.start_ns;
  }
  if (range.path == 0 || range.name != 0 || range.end_ns == kNoTime) return;
  Group* const group = group_of(range.path);
  if (group != nullptr) group->instances.push_back({range.start_ns, range.end_ns, range.thread, range.id});
}

IterationFinder::Group* IterationFinder::group_of(std::uint32_t path) {
  const auto [at, fresh] = by_path_.emplace(path, nullptr);
  if (!fresh) return at->second;
  const auto record = paths_.find(path);
  if (record == paths_.end()) return nullptr;
  const std::string& name = record->second.name;
  const bool called = is_iteration_name(name);
  const std::string full = path_text(paths_, path);
  const std::string text_of_group = called ? full.substr(0, full.size() - name.size()) + folded(name) : full;
  const bool wanted = glob_.empty() ? called || record->second.parent == 0 : names_exactly(full);
  if (!wanted) return nullptr;
  Group& group = groups_[text_of_group];
  group.called_iteration = called;
  group.depth = path_depth(paths_, path);
  return at->second = &group;
}

/// A glob also matches everything below a path. Here only the path itself counts.
bool IterationFinder::names_exactly(const std::string& full) const {
  if (!matches_glob(glob_, full)) return false;
  const std::size_t slash = full.rfind('/');
  return slash == std::string::npos || !matches_glob(glob_, std::string_view(full).substr(0, slash));
}

/// Prefers a range named like an iteration, outermost first; otherwise the most frequent range.
std::string IterationFinder::guess() const {
  const auto rank = [](const Group& group) {
    return std::make_tuple(group.called_iteration, group.called_iteration ? -std::int64_t{group.depth} : 0,
                           group.instances.size());
  };
  const auto best = std::max_element(groups_.begin(), groups_.end(), [&rank](const auto& a, const auto& b) {
    return rank(a.second) < rank(b.second);
  });
  return best == groups_.end() ? "" : best->first;
}

std::string IterationFinder::named() const {
  if (groups_.empty()) throw Missing("no range in the trace matches the path " + glob_);
  return std::max_element(groups_.begin(), groups_.end(),
                          [](const auto& a, const auto& b) {
                            return a.second.instances.size() < b.second.instances.size();
                          })
      ->first;
}

std::size_t Iterations::last_before(TimeNs time) const noexcept {
  if (time == kNoTime) return kNone;
  const auto after = std::upper_bound(instances.begin(), instances.end(), time,
                                      [](TimeNs t, const Iteration& i) { return t < i.start_ns; });
  return after == instances.begin() ? kNone : static_cast<std::size_t>(after - instances.begin()) - 1;
}

std::size_t Iterations::at(TimeNs time) const noexcept {
  for (std::size_t i = last_before(time); i != kNone && ends_[i] > time; i = i == 0 ? kNone : i - 1) {
    if (instances[i].end_ns > time) return i;
  }
  return kNone;
}

std::size_t Iterations::of_range(std::uint64_t range) const noexcept {
  return range == 0 || range >= range_starts_.size() ? kNone : at(range_starts_[range]);
}

TimeNs Iterations::launched(const GpuWork& work) const noexcept {
  if (work.graph != 0) {
    const auto call = graph_launches_.find(work.correlation);
    if (call != graph_launches_.end()) return call->second;
  }
  const bool by_range = !work.captured && work.range != 0 && work.range < range_starts_.size();
  const TimeNs range_start = by_range ? range_starts_[work.range] : kNoTime;
  return range_start != kNoTime ? range_start : work.start_ns;
}

Iterations find_iterations(const TraceFolder& trace, const std::string& glob) {
  struct Visitor final : TraceVisitor {
    explicit Visitor(IterationFinder& to) : finder(to) {}
    void line(const Line& line, const LinePlace&) override { finder.line(line); }
    void broken(std::string_view, const LinePlace&) override {}
    IterationFinder& finder;
  };
  IterationFinder finder(glob);
  Visitor visitor(finder);
  LineReader reader;
  static_cast<void>(read_trace(trace, reader, visitor));
  return finder.result();
}

}  // namespace rangefinder
