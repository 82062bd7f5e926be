// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/iterations.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "profiler/base/duration.h"
#include "profiler/base/iteration_names.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/model/alike.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/no_match.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/range_names.h"
#include "tools/analysis/model/trace.h"

namespace rangefinder {
namespace {

/// Range ids are dense, so a larger id comes from a damaged trace.
constexpr std::uint64_t kMaxRanges = 400'000'000;
constexpr std::size_t kMinRepeated = 2;
/// A repeating outermost range that covers less of the time of all ranges, from its first one on, is no
/// iteration.
constexpr double kMinCovered = 0.1;
/// A repeating range in one that does not repeat covers most of that one.
constexpr double kMinOfParent = 0.5;

struct RuleName {
  std::string_view key, text;
};
/// By IterationRule.
constexpr std::array<RuleName, 7> kRules{{{"", ""},
                                          {"given", "given by --iteration-range"},
                                          {"numbered", "names that differ in a number"},
                                          {"named", "a range named like an iteration"},
                                          {"outermost", "the repeating outermost range"},
                                          {"graph", "launches of one CUDA graph"},
                                          {"kernels", "a period in the sequence of kernels"}}};

/// Copies and data loading, by the hooks of tools/python and by common names.
bool names_copies(std::string_view name) {
  const std::string plain = letters_and_digits(name);
  constexpr std::array<std::string_view, 4> kWhole{"to", "cuda", "upload", "download"};
  constexpr std::array<std::string_view, 13> kParts{
      "h2d",      "d2h",      "d2d",      "htod",     "dtoh",      "memcpy",  "copy",
      "transfer", "dataload", "loaddata", "prefetch", "loadbatch", "todevice"};
  const auto has = [&plain](std::string_view part) { return plain.find(part) != std::string::npos; };
  return std::find(kWhole.begin(), kWhole.end(), plain) != kWhole.end() ||
         std::any_of(kParts.begin(), kParts.end(), has);
}

}  // namespace

std::string_view rule_text(IterationRule rule) {
  return kRules[static_cast<std::size_t>(rule)].text;
}

std::string_view rule_key(IterationRule rule) {
  return kRules[static_cast<std::size_t>(rule)].key;
}

void IterationFinder::add(const Chunk& chunk) {
  for (const Chunk::OtherLine& other : chunk.others) {
    const auto* const domain = std::get_if<DomainRecord>(&other.line);
    if (domain != nullptr && domain->name == "NCCL") nccl_ = domain->id;
    const auto* const path = std::get_if<PathRecord>(&other.line);
    if (path == nullptr) continue;
    for (const PathRecord& level : shown_.add(*path)) levels_.emplace(level.id, level);
    if (chunk.names->paths().is_function(path->id)) functions_.insert(shown_.id_of(path->id));
  }
  const bool has_graphs = chunk.names->any_text("cuGraphLaunch");
  const bool wants_work = glob_.empty() && (has_graphs || work_.wants_more());
  if (wants_work || has_graphs) {
    chunk.launches(kIterationColumns, [&](const auto& call) {
      const LaunchRecord* const launch = launch_of(call);
      if (launch == nullptr) return;
      if (launch->api.starts_with("cuGraphLaunch"))
        graph_launches_.emplace(launch->correlation, launch->host.start_ns);
      if (wants_work) work_.add(*launch);
    });
  }
  chunk.ranges(kIterationColumns, [this](const RangeRecord& range) { add(range); });
  if (!wants_work) return;
  chunk.work(kIterationColumns, [this](const auto& record) {
    if constexpr (requires { work_.add(record); }) work_.add(record);
    count_of_function(record.work);
  });
}

void IterationFinder::count_of_function(const GpuWork& work) {
  if (functions_.empty() || work.path == 0 || !is_timed(work)) return;
  std::uint32_t at = shown_.id_of(work.path);
  while (at != 0 && functions_.count(at) == 0) at = path_parent(levels_, at);
  if (at != 0) group_of(at).gpu_ns += duration_ns(work.start_ns, work.end_ns);
}

Iterations IterationFinder::result() {
  Iterations out;
  const auto chosen = best();
  if (chosen != groups_.end()) {
    Group& group = chosen->second;
    out.rule = group.rule;
    out.path = shown_.text(chosen->first);
    out.paths = std::move(group.paths);
    out.instances = std::move(group.kept);
    std::sort(out.instances.begin(), out.instances.end(),
              [](const Iteration& a, const Iteration& b) { return a.start_ns < b.start_ns; });
  }
  out.range_starts_ = std::move(starts_);
  out.graph_launches_ = std::move(graph_launches_);
  out.set_ends();
  if (!glob_.empty()) {
    if (out.path.empty()) throw NoMatch(no_path_text("--iteration-range", glob_, levels_));
    return out;
  }
  if (!describe_run(out)) out.clear();
  const bool weak =
      out.instances.size() < kMinRepeated || chosen->second.copies ||
      (out.rule == IterationRule::outermost && !chosen->second.function && !covers_enough(chosen->second));
  if (weak) use_repeated_work(out);
  out.set_ends();
  return out;
}

/// The same work again and again, and not a small part of what ran since the first of them: a program whose
/// model was compiled runs its ranges only before that.
bool IterationFinder::describe_run(const Iterations& iterations) const {
  if (iterations.instances.size() < kMinRepeated) return true;
  std::vector<IterationWork> works;
  std::uint64_t in_ns = 0, all_ns = 0;
  std::size_t last = 0;
  work_.each([&](const GpuWork& work, std::uint32_t what, std::uint64_t ns) {
    if (iterations.last_before(work) == Iterations::kNone) return;  // set-up
    all_ns += ns;
    const std::size_t iteration = iterations.of(work);
    if (iteration == Iterations::kNone) return;
    in_ns += ns;
    last = std::max(last, iteration);
    works.push_back({iteration, what, ns});
  });
  // Of a long program only the first iterations have kept work; the last of them, a part of it.
  const std::size_t judged = work_.has_all() ? iterations.instances.size() : last;
  std::erase_if(works, [judged](const IterationWork& work) { return work.iteration >= judged; });
  const auto part = [](std::uint64_t ns, std::uint64_t of) {
    return static_cast<double>(ns) / static_cast<double>(std::max<std::uint64_t>(1, of));
  };
  const bool covered = part(work_.outside_ns(), work_.gpu_ns()) <= 1 - kMinCoverage;
  return (covered || part(in_ns, all_ns) >= kMinCoverage) && are_alike(works, judged);
}

void IterationFinder::add(const RangeRecord& range) {
  if (range.id < kMaxRanges && range.start_ns != kNoTime) {
    if (range.id >= starts_.size()) starts_.resize(range.id + 1 + starts_.size() / 2, kNoTime);
    starts_[range.id] = range.start_ns;
  }
  if (range.path == 0 || range.name != 0 || range.end_ns == kNoTime || shown_.is_omitted(range.path)) return;
  const std::uint32_t shown = shown_.id_of(range.path);
  const bool known = shown < by_path_.size() && by_path_[shown] != nullptr;
  if (!known && levels_.count(shown) == 0) return;
  Group& group = group_of(shown);
  ++group.count;
  if (!is_candidate(group)) {
    std::vector<Iteration>().swap(group.kept);
    return;
  }
  group.total_ns += duration_ns(range.start_ns, range.end_ns);
  group.paths.insert(range.path);
  group.kept.push_back({range.start_ns, range.end_ns, range.thread, range.id});
}

IterationFinder::Group& IterationFinder::group_of(std::uint32_t shown) {
  if (shown < by_path_.size() && by_path_[shown] != nullptr) return *by_path_[shown];
  Group& group = groups_[shown];
  if (shown >= by_path_.size()) by_path_.resize(shown + std::size_t{1});
  by_path_[shown] = &group;
  const std::string& name = levels_.at(shown).name;
  group.depth = path_depth(levels_, shown);
  group.parent = path_parent(levels_, shown);
  if (!glob_.empty()) {
    group.rule = matches_path_itself(glob_, shown_.text(shown)) ? IterationRule::given : IterationRule::none;
    return group;
  }
  // NCCL's calls are parts of an iteration, also where no range is around them.
  if (nccl_ && levels_.at(shown).domain == *nccl_) {
    group.rule = IterationRule::none;
    return group;
  }
  const std::optional<IterationName> called = iteration_name(name);
  if (called) group.rule = called->numbered ? IterationRule::numbered : IterationRule::named;
  group.epoch = called && called->epoch;
  group.copies = !called && names_copies(name);
  group.set_up = is_set_up(name);
  group.function = functions_.count(shown) != 0;
  return group;
}

/// A range below one that repeats is a part of an iteration, unless its name says otherwise.
bool IterationFinder::is_candidate(Group& group) const {
  if (group.rule != IterationRule::outermost) return group.rule != IterationRule::none;
  if (group.is_part || group.set_up) return false;
  for (std::uint32_t at = group.parent; at != 0; at = path_parent(levels_, at)) {
    const auto above = groups_.find(at);
    group.is_part = above != groups_.end() && above->second.count >= kMinRepeated;
    if (group.is_part) return false;
  }
  return true;
}

/// Whether the range is most of the one around it.
bool IterationFinder::is_most_of_parent(const Group& group) const {
  const auto parent = groups_.find(group.parent);
  return group.rule != IterationRule::outermost || parent == groups_.end() ||
         static_cast<double>(group.total_ns) >= kMinOfParent * static_cast<double>(parent->second.total_ns);
}

/// The time of all instances as if each took as long as the typical one: the first of a warm-up may take a
/// thousand times as long.
std::uint64_t IterationFinder::typical_ns(const Group& group) {
  std::vector<std::uint64_t> lengths;
  for (const Iteration& one : group.kept) lengths.push_back(duration_ns(one.start_ns, one.end_ns));
  const auto half = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
  std::nth_element(lengths.begin(), half, lengths.end());
  return *half * lengths.size();
}

/// Rules in the order of IterationRule. Among the outermost ranges the one with most time; otherwise the
/// outermost. One instance counts only if nothing repeats, and copies only if there is nothing else.
IterationFinder::Groups::iterator IterationFinder::best() {
  const auto rank_of = [this](const Group& group) {
    const bool repeats = group.kept.size() >= kMinRepeated;
    const bool by_time = repeats && group.rule == IterationRule::outermost;
    const bool by_depth = !by_time && glob_.empty();
    return std::make_tuple(!group.copies, repeats, -static_cast<int>(group.rule), !group.epoch,
                           by_depth ? -std::int64_t{group.depth} : 0, group.gpu_ns,
                           glob_.empty() ? typical_ns(group) : group.kept.size());
  };
  auto out = groups_.end();
  std::optional<decltype(rank_of(out->second))> best;
  for (auto at = groups_.begin(); at != groups_.end(); ++at) {
    if (at->second.kept.empty() || !is_candidate(at->second) || !is_most_of_parent(at->second)) continue;
    const auto rank = rank_of(at->second);
    if (best && rank <= *best) continue;
    out = at;
    best = rank;
  }
  return out;
}

bool IterationFinder::covers_enough(const Group& group) const {
  TimeNs first = INT64_MAX, last = INT64_MIN;
  for (const Iteration& instance : group.kept) first = std::min(first, instance.start_ns);
  for (const auto& [shown, other] : groups_) {
    for (const Iteration& instance : other.kept) last = std::max(last, instance.end_ns);
  }
  return last <= first ||
         static_cast<double>(group.total_ns) >= kMinCovered * static_cast<double>(last - first);
}

void IterationFinder::use_repeated_work(Iterations& out) {
  Repetition found = work_.graphs();
  const bool graph = !found.starts.empty();
  if (!graph) found = work_.kernels();
  if (found.starts.empty()) return;
  out.rule = graph ? IterationRule::graph : IterationRule::kernels;
  out.path = graph ? "graph " + std::to_string(found.graph)
                   : "every " + counted_text(found.period, "kernel", "kernels");
  out.paths.clear();
  out.instances.clear();
  out.gpu_end_ns_ = found.end_ns;
  for (const RepeatedStart& start : found.starts) {
    if (!out.instances.empty()) out.instances.back().end_ns = start.host_ns;
    out.instances.push_back({start.host_ns, std::max(start.host_ns, found.end_ns), start.thread, 0});
    out.gpu_starts_.push_back(start.gpu_ns);
  }
}

void Iterations::set_ends() {
  ends_.clear();
  for (const Iteration& one : instances)
    ends_.push_back(ends_.empty() ? one.end_ns : std::max(ends_.back(), one.end_ns));
}

void Iterations::clear() {
  rule = IterationRule::none;
  path.clear();
  instances.clear();
  paths.clear();
}

std::size_t Iterations::last_before(TimeNs time) const noexcept {
  if (time == kNoTime) return kNone;
  // Most callers go on in time.
  const auto started = [this, time](std::size_t i) {
    return i < instances.size() && instances[i].start_ns <= time;
  };
  if (started(last_) && !started(last_ + 1)) return last_;
  const auto after = std::upper_bound(instances.begin(), instances.end(), time,
                                      [](TimeNs t, const Iteration& i) { return t < i.start_ns; });
  if (after == instances.begin()) return kNone;
  return last_ = static_cast<std::size_t>(after - instances.begin()) - 1;
}

std::size_t Iterations::at(TimeNs time) const noexcept {
  for (std::size_t i = last_before(time); i != kNone && ends_[i] > time; i = i == 0 ? kNone : i - 1) {
    if (instances[i].end_ns > time) return i;
  }
  return kNone;
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

std::size_t Iterations::of_gpu_time(TimeNs start) const noexcept {
  if (start == kNoTime || start >= gpu_end_ns_) return kNone;
  const auto after = std::upper_bound(gpu_starts_.begin(), gpu_starts_.end(), start);
  return after == gpu_starts_.begin() ? kNone : static_cast<std::size_t>(after - gpu_starts_.begin()) - 1;
}

Iterations find_iterations(Trace& trace, const std::string& glob) {
  IterationFinder finder(glob);
  trace.each_chunk([&finder](const Chunk& chunk) { finder.add(chunk); });
  return finder.result();
}

}  // namespace rangefinder
