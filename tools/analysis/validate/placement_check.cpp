// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

/// Checks that a host line in a range lies within the range's times, on its thread and with its path, and
/// that GPU work has the range and path of its launch. A range's line usually follows the lines in it, but
/// both orders occur. Memory: open ranges, the latest kSlots closed ranges and the latest kSlots launches.
/// Older ones are not checked.
class PlacementCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    std::visit([this](const auto& record) { check(record); }, line);
  }

  void finish(const TraceFacts& facts) override {
    // Ranges that do not fit into the table of paths have no path of their own.
    if (facts.lost(Loss::nvtx_too_deep) + facts.lost(Loss::paths_folded) != 0) return;
    for (const auto& [number, thread] : threads_) {
      if (thread.other_paths == 0 || thread.several_domains) continue;
      problems_.add_at(facts.folder, "nesting",
                       std::to_string(thread.other_paths) + " ranges of thread " + std::to_string(number) +
                           " have a different path than the lines in them (one is range " +
                           std::to_string(thread.example) + ")");
    }
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 16;
  static constexpr std::size_t kMaxOpen = std::size_t{1} << 20;

  struct Closed {
    std::uint64_t id = 0;
    TimeNs start_ns = 0, end_ns = 0;
    std::uint32_t thread = 0, path = 0;
  };
  /// The lines in a range that arrived before the range's own line.
  struct Open {
    TimeNs first_ns = INT64_MAX, last_ns = INT64_MIN;
    std::uint32_t thread = 0, path = 0;
    bool other_thread = false, other_path = false;
  };
  /// Ranges of different domains need not nest. If the outer one closes first, the path of the inner one
  /// changes, so paths of threads with several domains are not checked.
  struct Thread {
    std::uint32_t domain = 0;
    bool several_domains = false;
    std::uint64_t other_paths = 0, example = 0;
  };
  struct Launch {
    std::uint32_t correlation = 0, path = 0;
    std::uint64_t range = 0;
    bool used = false;
  };

  /// The slot of an id; a later id may overwrite it. The table grows with the ids, up to kSlots.
  template <typename Slot>
  static Slot& slot(std::vector<Slot>& slots, std::uint64_t id) {
    const auto at = static_cast<std::size_t>(id % kSlots);
    if (at >= slots.size()) slots.resize(std::min(kSlots, std::max<std::size_t>(256, 2 * at)));
    return slots[at];
  }

  template <typename Record>
  void check(const Record& record) {
    if constexpr (requires { record.work.correlation; }) {
      check_work(record.work);
    } else if constexpr (requires { record.host.thread; }) {
      check_host(record.host);
    }
  }
  void check(const LaunchRecord& launch) {
    check_host(launch.host);
    slot(launches_, launch.correlation) = {launch.correlation, launch.host.path, launch.host.range, true};
  }
  void check(const ExactRecord& exact) {
    if (exact.is_counter_range) {
      check_host(exact.launch.host);
    } else {
      check(exact.launch);
    }
  }
  void check(const RangeRecord& range) {
    if (range.name != 0) return open_.erase(range.id), void();  // closed by any thread, without a path
    const Closed closed{range.id, range.start_ns, range.end_ns == kNoTime ? INT64_MAX : range.end_ns,
                        range.thread, range.path};
    slot(closed_, range.id) = closed;
    const auto [thread, is_new] = threads_.try_emplace(range.thread, Thread{range.domain, false, 0, 0});
    thread->second.several_domains |= thread->second.domain != range.domain;
    const auto open = open_.find(range.id);
    if (open == open_.end()) return;
    compare(open->second, closed);
    open_.erase(open);
  }

  void check_host(const HostWork& host) {
    // An inherited range is that of another thread.
    if (host.range == 0 || host.inherited) return;
    const Closed& closed = slot(closed_, host.range);
    if (closed.id == host.range) {
      compare({host.start_ns, host.end_ns, host.thread, host.path, false, false}, closed);
      return;
    }
    const auto at = open_.find(host.range);
    if (at == open_.end() && open_.size() >= kMaxOpen) return;
    Open& open = at == open_.end() ? open_[host.range] : at->second;
    if (open.first_ns == INT64_MAX) open.thread = host.thread, open.path = host.path;
    open.first_ns = std::min(open.first_ns, host.start_ns);
    open.last_ns = std::max(open.last_ns, host.end_ns);
    open.other_thread |= open.thread != host.thread;
    open.other_path |= open.path != host.path;
  }

  void compare(const Open& seen, const Closed& range) {
    const auto report = [&](const std::string& text) {
      problems_.add("nesting", text + " range " + std::to_string(range.id) + ", which is open from " +
                                   std::to_string(range.start_ns) + " to " + std::to_string(range.end_ns) +
                                   " ns on thread " + std::to_string(range.thread));
    };
    // TimeCheck reports a range that ends before it starts.
    const bool inside = seen.first_ns >= range.start_ns && seen.last_ns <= range.end_ns;
    if (!inside && range.start_ns <= range.end_ns) {
      report("a line from " + std::to_string(seen.first_ns) + " to " + std::to_string(seen.last_ns) +
             " ns names");
    }
    if (seen.other_thread || seen.thread != range.thread) report("a line of another thread names");
    if (!seen.other_path && seen.path == range.path) return;
    Thread& thread = threads_[range.thread];
    ++thread.other_paths;
    thread.example = range.id;
  }

  void check_work(const GpuWork& work) {
    const Launch& launch = slot(launches_, work.correlation);
    // A node of a graph may have the path of its capture instead.
    if (work.captured || !launch.used || launch.correlation != work.correlation) return;
    if (work.range == launch.range && work.path == launch.path) return;
    problems_.add("nesting",
                  "range " + std::to_string(work.range) + " and path " + std::to_string(work.path) +
                      " are not those of the launch with correlation " + std::to_string(work.correlation) +
                      ": range " + std::to_string(launch.range) + ", path " + std::to_string(launch.path));
  }

  std::vector<Closed> closed_;                    // by id
  std::vector<Launch> launches_;                  // by correlation
  std::unordered_map<std::uint64_t, Open> open_;  // used, without a line so far
  std::map<std::uint32_t, Thread> threads_;       // threads with ranges
};

/// Checks that push/pop ranges of a thread and a domain are nested or disjoint. A range's line is written
/// when it closes, after the ranges in it, which are then dropped. Memory: up to kMaxKept closed ranges
/// whose parent is still open, per thread and domain, for up to kMaxStacks of those.
class NestingCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    const auto* const range = std::get_if<RangeRecord>(&line);
    if (range == nullptr || range->name != 0) return;  // start/end ranges need not nest
    if (range->end_ns != kNoTime && range->end_ns < range->start_ns) return;  // TimeCheck reports it
    const std::pair key{range->thread, range->domain};
    const auto at = closed_.find(key);
    if (at == closed_.end() && closed_.size() >= kMaxStacks) return;
    std::vector<Closed>& closed = at == closed_.end() ? closed_[key] : at->second;
    close({range->start_ns, range->end_ns == kNoTime ? INT64_MAX : range->end_ns, range->id}, closed);
  }

 private:
  static constexpr std::size_t kMaxKept = 1'024;
  static constexpr std::size_t kMaxStacks = 65'536;
  struct Closed {
    TimeNs start_ns, end_ns;
    std::uint64_t id;
  };

  void close(const Closed& range, std::vector<Closed>& closed) {
    if (!closed.empty() && range.end_ns < closed.back().end_ns) {  // lines are not in closing order
      const Closed& other = closed.back();
      if (range.start_ns < other.start_ns && range.end_ns > other.start_ns) cross(range, other);
      return;
    }
    while (!closed.empty() && closed.back().start_ns >= range.start_ns) closed.pop_back();
    if (!closed.empty() && closed.back().end_ns > range.start_ns && closed.back().end_ns < range.end_ns) {
      cross(range, closed.back());
    }
    if (closed.size() == kMaxKept) closed.erase(closed.begin(), closed.begin() + kMaxKept / 2);
    closed.push_back(range);
  }

  void cross(const Closed& range, const Closed& other) const {
    problems_.add("nesting", "range " + std::to_string(range.id) + " (" + std::to_string(range.start_ns) +
                                 " to " + std::to_string(range.end_ns) + " ns) is partly inside range " +
                                 std::to_string(other.id) + " (" + std::to_string(other.start_ns) + " to " +
                                 std::to_string(other.end_ns) + " ns) of the same thread and domain");
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Closed>> closed_;  // by thread and domain
};

}  // namespace

std::unique_ptr<TraceCheck> make_placement_check(ProblemLog& problems) {
  return std::make_unique<PlacementCheck>(problems);
}

std::unique_ptr<TraceCheck> make_nesting_check(ProblemLog& problems) {
  return std::make_unique<NestingCheck>(problems);
}

}  // namespace rangefinder
