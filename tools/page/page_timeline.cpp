// SPDX-License-Identifier: Apache-2.0
//
// A timeline as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/key_names.h"
#include "tools/page/page_data.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Column = std::vector<std::int64_t>;

/// Differences to the previous value; the first one to 0.
Column deltas(Column values) {
  std::int64_t before = 0;
  for (std::int64_t& value : values) value -= std::exchange(before, value);
  return values;
}

template <typename Rows, typename Get>
Column column(const Rows& rows, Get&& get) {
  Column out;
  out.reserve(static_cast<std::size_t>(std::distance(rows.begin(), rows.end())));
  for (const auto& row : rows) out.push_back(static_cast<std::int64_t>(get(row)));
  return out;
}

/// Adds a column, unless all values equal `nothing`.
void put(OrderedJson& out, const char* key, Column values, std::int64_t nothing) {
  if (std::any_of(values.begin(), values.end(), [&](std::int64_t value) { return value != nothing; })) {
    out[key] = std::move(values);
  }
}

/// Start, duration and thread of intervals.
template <typename Rows>
OrderedJson intervals(const Rows& all) {
  return {{"start", deltas(column(all, [](const auto& one) { return one.start_ns; }))},
          {"ns", column(all, [](const auto& one) { return one.end_ns - one.start_ns; })},
          {"thread", column(all, [](const auto& one) { return one.thread; })}};
}

struct WorkSlice {
  std::vector<KeptWork>::const_iterator first, last;
  [[nodiscard]] auto begin() const { return first; }
  [[nodiscard]] auto end() const { return last; }
};

OrderedJson work_json(const WorkSlice& all, const PageIndices& indices) {
  OrderedJson out = OrderedJson::object();
  out["start"] = deltas(column(all, [](const KeptWork& w) { return w.start_ns; }));
  out["ns"] = column(all, [](const KeptWork& w) { return w.end_ns - w.start_ns; });
  put(out, "kind", column(all, [](const KeptWork& w) { return w.kind; }), 0);
  out["name"] = column(all, [&](const KeptWork& w) {
    return w.kind == KeptWork::kernel ? indices.kernel(w.name) : static_cast<std::int64_t>(w.name);
  });
  put(out, "module", column(all, [&](const KeptWork& w) { return indices.module(w.path); }), -1);
  put(out, "config", column(all, [](const KeptWork& w) { return w.config; }), 0);
  put(out, "bytes", column(all, [](const KeptWork& w) { return w.bytes; }), 0);
  put(out, "graph", column(all, [](const KeptWork& w) { return w.graph; }), 0);
  // Only of nodes of graphs: other work has a range on the host.
  put(out, "range", deltas(column(all, [](const KeptWork& w) { return w.graph == 0 ? 0 : w.range; })), 0);
  put(out, "stream", column(all, [](const KeptWork& w) { return w.stream; }), -1);
  out["corr"] = deltas(column(all, [](const KeptWork& w) { return w.correlation; }));
  // An unknown launch repeats the previous launch time; its thread is 0.
  TimeNs before = 0;
  put(out, "launch",
      deltas(column(all,
                    [&](const KeptWork& w) {
                      return before = w.launch.start_ns == kNoTime ? before : w.launch.start_ns;
                    })),
      0);
  put(out, "launch_ns", column(all, [](const KeptWork& w) { return w.launch.end_ns - w.launch.start_ns; }),
      0);
  put(out, "launch_thread", column(all, [](const KeptWork& w) { return w.launch.thread; }), 0);
  put(out, "launch_api", column(all, [](const KeptWork& w) { return w.launch.api; }), 0);
  put(out, "dram_read", column(all, [](const KeptWork& w) { return w.launch.dram_read_bytes; }), -1);
  put(out, "dram_write", column(all, [](const KeptWork& w) { return w.launch.dram_write_bytes; }), -1);
  put(out, "l2", column(all, [](const KeptWork& w) { return w.launch.l2_bytes; }), -1);
  return out;
}

OrderedJson lanes_json(const Timeline& timeline, const TraceNames& names, const PageCounts& counts,
                       const PageIndices& indices) {
  OrderedJson out = OrderedJson::array();
  auto at = timeline.work.cbegin();
  const std::size_t lanes = timeline.lanes.size() + (timeline.others ? 1 : 0);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    OrderedJson object = OrderedJson::object();
    if (lane < timeline.lanes.size()) {
      const StreamKey& key = timeline.lanes[lane];
      const auto context = names.contexts.find(key.context);
      object = {{"gpu", key.gpu},
                {"context", key.context},
                {"stream", key.stream},
                {"work", counts.streams.at(key)}};
      if (context != names.contexts.end() && context->second.null_stream == key.stream) {
        object["default"] = true;
      }
    } else {
      object = {{"others", counts.streams.size() - timeline.lanes.size()}};
    }
    const auto last =
        std::find_if(at, timeline.work.cend(), [&](const KeptWork& w) { return w.lane != lane; });
    object["pieces"] = work_json({at, last}, indices);
    at = last;
    if (!timeline.detail.whole) {
      object["busy"] = timeline.busy.permille(lane, true);
      put(object, "copying", timeline.busy.permille(lane, false), 0);
    }
    out.push_back(std::move(object));
  }
  return out;
}

/// The list of texts of start/end ranges and marks in the page.
class Texts {
 public:
  explicit Texts(const PageCounts& counts) : counts_(counts) {}
  std::int64_t place(std::uint32_t name) {
    if (name == 0) return -1;
    const auto [at, fresh] = places_.emplace(name, static_cast<std::int64_t>(list.size()));
    if (!fresh) return at->second;
    const auto text = counts_.names.find(name);
    list.push_back(text == counts_.names.end() ? "(unknown)" : text->second);
    return at->second;
  }
  std::vector<std::string> list;

 private:
  const PageCounts& counts_;
  std::unordered_map<std::uint32_t, std::int64_t> places_;
};

OrderedJson ranges_json(const std::vector<KeptRange>& all, const PageIndices& indices, Texts& texts) {
  OrderedJson out = intervals(all);
  out["module"] = column(all, [&](const KeptRange& r) { return indices.module(r.path); });
  put(out, "text", column(all, [&](const KeptRange& r) { return texts.place(r.name); }), -1);
  put(out, "color", column(all, [](const KeptRange& r) { return r.color; }), 0);
  put(out, "open", column(all, [](const KeptRange& r) { return r.open ? 1 : 0; }), 0);
  // gpu_ns -1: a range without GPU work; its gpu_start repeats the previous value.
  TimeNs before = 0;
  put(out, "gpu_start",
      deltas(column(
          all,
          [&](const KeptRange& r) { return before = r.gpu_start_ns == kNoTime ? before : r.gpu_start_ns; })),
      0);
  put(out, "gpu_ns",
      column(
          all,
          [](const KeptRange& r) { return r.gpu_start_ns == kNoTime ? -1 : r.gpu_end_ns - r.gpu_start_ns; }),
      -1);
  return out;
}

OrderedJson samples_json(const Timeline& timeline) {
  OrderedJson out = OrderedJson::array();
  for (const auto& [gpu, samples] : timeline.samples) {
    const std::vector<SamplePoint>& points = samples.points();
    OrderedJson object{{"gpu", gpu}, {"merged", samples.merged()}};
    object["start"] = deltas(column(points, [](const SamplePoint& p) { return p.start_ns; }));
    object["ns"] = column(points, [](const SamplePoint& p) { return p.end_ns - p.start_ns; });
    object["count"] = column(points, [](const SamplePoint& p) { return p.samples; });
    for (std::size_t i = 0; i < kSampleColumns; ++i) {
      Column values = column(points, [i](const SamplePoint& p) { return p.sums[i]; });
      put(object["columns"], std::string(kSampleColumnNames[i]).c_str(), std::move(values), 0);
    }
    out.push_back(std::move(object));
  }
  return out;
}

/// CPU time in ms as the share of one core, in percent, that holds until the next point.
ConditionLog::Series cpu_shares(const ConditionLog::Series& ms) {
  ConditionLog::Series out;
  for (std::size_t i = 0; i + 1 < ms.size(); ++i) {
    const TimeNs ns = ms[i + 1].at_ns - ms[i].at_ns;
    if (ns <= 0 || ms[i + 1].value < ms[i].value) continue;
    const auto used_ns = static_cast<double>(ms[i + 1].value - ms[i].value) * 1e6;
    const double percent = 100 * used_ns / static_cast<double>(ns);
    out.push_back({ms[i].at_ns, static_cast<std::uint64_t>(percent + 0.5)});
  }
  if (!out.empty()) out.push_back({ms.back().at_ns, 0});
  return out;
}

/// Clock and power of each GPU, CPU time of the process. Of more points than a page has pixels for, every
/// second one is dropped.
OrderedJson conditions_json(const ConditionLog& conditions, TimeNs first_ns) {
  constexpr std::size_t kMaxPoints = 20'000;
  OrderedJson out = OrderedJson::array();
  for (const auto& [subject, all] : conditions.subjects()) {
    const bool of_gpu = subject.of == ConditionOf::gpu;
    if (!of_gpu && subject.of != ConditionOf::process) continue;
    for (const Condition condition :
         {Condition::sm_mhz, Condition::power_w, Condition::temperature_c, Condition::cpu_ms}) {
      const bool cpu = condition == Condition::cpu_ms;
      if (cpu == of_gpu) continue;
      ConditionLog::Series points = all[static_cast<std::size_t>(condition)];
      if (cpu) points = cpu_shares(points);
      while (points.size() > kMaxPoints) {
        for (std::size_t i = 0; i < points.size() / 2; ++i) points[i] = points[2 * i];
        points.resize(points.size() / 2);
      }
      if (points.empty()) continue;
      if (of_gpu) points.front().at_ns = std::min(points.front().at_ns, first_ns);
      const std::string_view title = kConditions[static_cast<std::size_t>(condition)].title;
      OrderedJson row{{"title", cpu ? "CPU, % of a core" : title}};
      if (of_gpu) row["gpu"] = subject.id;
      row["at"] = deltas(column(points, [](const auto& p) { return p.at_ns; }));
      row["value"] = column(points, [](const auto& p) { return p.value; });
      out.push_back(std::move(row));
    }
  }
  return out;
}

/// The stacks of samples as a tree: {functions, sources, caller, frame} by stack, and the samples of each
/// thread.
class StackTexts {
 public:
  explicit StackTexts(const StackNames& names) : names_(names) {}

  OrderedJson json(const StackSamples& samples, std::size_t limit) {
    OrderedJson threads = OrderedJson::array();
    for (const auto& [thread, all] : samples.threads()) {
      if (all.empty()) continue;
      // Each one that stays stands for those that do not.
      const std::size_t step = (all.size() + limit - 1) / limit;
      Column at, stack;
      for (std::size_t i = 0; i < all.size(); i += step) {
        at.push_back(all[i].at_ns);
        stack.push_back(place(all[i].stack));
      }
      threads.push_back({{"thread", thread},
                         {"interval_ns", all.front().interval_ns * step},
                         {"at", deltas(std::move(at))},
                         {"stack", std::move(stack)}});
    }
    return {{"functions", functions_},
            {"sources", sources_},
            {"caller", callers_},
            {"frame", frames_},
            {"threads", std::move(threads)}};
  }

 private:
  /// From 1 on, callers first; 0: none.
  std::int64_t place(std::uint32_t stack) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> fresh;  // stack, frame; innermost first
    std::int64_t caller = 0;
    bool known = false;
    names_.each_stack(stack, [&](std::uint32_t one, std::uint32_t frame) {
      if (known) return;
      const auto at = places_.find(one);
      known = at != places_.end();
      if (known) {
        caller = at->second;
      } else {
        fresh.emplace_back(one, frame);
      }
    });
    for (auto at = fresh.rbegin(); at != fresh.rend(); ++at) {
      callers_.push_back(caller);
      frames_.push_back(frame_place(at->second));
      caller = static_cast<std::int64_t>(callers_.size());
      places_.emplace(at->first, caller);
    }
    return caller;
  }
  std::int64_t frame_place(std::uint32_t id) {
    const auto [at, is_new] = frame_places_.emplace(id, static_cast<std::int64_t>(functions_.size()));
    if (is_new) {
      functions_.push_back(names_.frame(id).function);
      sources_.push_back(source_text(names_.frame(id)));
    }
    return at->second;
  }

  const StackNames& names_;
  std::vector<std::string> functions_, sources_;
  Column callers_, frames_;
  std::unordered_map<std::uint32_t, std::int64_t> places_, frame_places_;
};

/// What the timeline shows first: the median iteration from its start on the host to the end of its work, or
/// all GPU work.
OrderedJson opening_json(const TraceTotals& trace, const PageCounts& counts) {
  const auto median = counts.summary.median_iteration();
  if (!median) {
    const auto [first, last] = trace.totals.gpu_span();
    if (last <= first) return nullptr;
    return {{"start_ns", first}, {"end_ns", last}, {"why", "all GPU work"}};
  }
  const Iteration& iteration = counts.found.instances[*median];
  const IterationTotals& row = counts.summary.log().rows()[*median];
  const TimeNs end = std::max(iteration.end_ns, row.last_gpu_ns);
  const TimeNs wall = static_cast<TimeNs>(*row.wall_ns + row.held_ns);
  // A host that launches far ahead would leave most of the view empty.
  const TimeNs start = end - iteration.start_ns <= 2 * wall ? iteration.start_ns : end - wall;
  return {{"start_ns", start},
          {"end_ns", end},
          {"why", "the median iteration, number " + std::to_string(*median)}};
}

OrderedJson idle_json(Timeline& timeline) {
  const std::uint64_t seen = timeline.idle.seen();
  const std::vector<KeptIdle> kept = timeline.idle.extract();
  return {{"start", deltas(column(kept, [](const KeptIdle& one) { return one.start_ns; }))},
          {"ns", column(kept, [](const KeptIdle& one) { return one.end_ns - one.start_ns; })},
          {"cause", column(kept, [](const KeptIdle& one) { return one.cause; })},
          {"left_out", seen - kept.size()}};
}

}  // namespace

OrderedJson page_timeline(Timeline& timeline, const TraceTotals& trace, const PageCounts& counts,
                          const PageIndices& indices, const PageLimits& limits) {
  const TraceNames& names = trace;
  Texts texts(counts);
  OrderedJson out{
      {"first_ns", counts.first_ns}, {"last_ns", counts.last_ns}, {"whole", timeline.detail.whole}};
  out["windows"] = OrderedJson::array();
  if (!timeline.detail.whole) {
    for (const TimeWindow& window : timeline.detail.windows) {
      out["windows"].push_back(
          {{"start_ns", window.start_ns}, {"end_ns", window.end_ns}, {"why", window.why}});
    }
    out["bin_ns"] = timeline.busy.width_ns();
  }
  if (OrderedJson open = opening_json(trace, counts); !open.is_null()) out["open"] = std::move(open);
  out["work"] = counts.work.total();
  out["apis"] = counts.apis;
  out["threads"] = OrderedJson::array();
  for (const auto& [id, name] : names.threads) out["threads"].push_back({{"id", id}, {"name", name}});
  out["lanes"] = lanes_json(timeline, names, counts, indices);
  out["ranges"] = ranges_json(timeline.ranges, indices, texts);
  out["ranges_left_out"] =
      counts.ranges.seen() - std::min<std::uint64_t>(counts.ranges.seen(), timeline.ranges.size());
  const std::vector<KeptSync>& syncs = timeline.syncs;
  out["syncs"] = intervals(syncs);
  out["syncs"]["api"] = column(syncs, [](const KeptSync& s) { return s.api; });
  const std::vector<KeptHold>& holds = timeline.holds;
  out["holds"] = intervals(holds);
  out["holds"]["cause"] = column(holds, [](const KeptHold& h) { return h.cause; });
  out["hold_causes"] = kHoldCauseNames;
  out["idle"] = idle_json(timeline);
  out["idle_causes"] = OrderedJson::array();
  for (std::size_t i = 0; i < kIdleCauses; ++i)
    out["idle_causes"].push_back(idle_cause_text(static_cast<IdleCause>(i)));
  out["syncs_left_out"] = counts.syncs.seen() - syncs.size();
  out["marks"] = {{"at", column(timeline.marks, [](const KeptMark& m) { return m.at_ns; })},
                  {"thread", column(timeline.marks, [](const KeptMark& m) { return m.thread; })},
                  {"text", column(timeline.marks, [&](const KeptMark& m) { return texts.place(m.name); })}};
  out["samples"] = samples_json(timeline);
  const std::vector<MemoryPoint> memory = timeline.memory.extract();
  out["memory"] = {{"at", deltas(column(memory, [](const MemoryPoint& p) { return p.at_ns; }))},
                   {"device", column(memory, [](const MemoryPoint& p) { return p.device_bytes; })},
                   {"host", column(memory, [](const MemoryPoint& p) { return p.host_bytes; })}};
  out["conditions"] = conditions_json(timeline.conditions, counts.first_ns);
  if (!timeline.stacks.empty()) out["stacks"] = StackTexts(trace.stacks).json(timeline.stacks, limits.stacks);
  out["texts"] = std::move(texts.list);
  return out;
}

}  // namespace rangefinder
