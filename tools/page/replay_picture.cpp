// SPDX-License-Identifier: Apache-2.0
#include "tools/page/replay_picture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "profiler/attribution/interval_union.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/gpu_ranges.h"
#include "tools/page/iteration_bars.h"
#include "tools/page/kernel_limits.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

enum ByteColumn : std::size_t { kRead, kWrite, kL2, kColumnsOfBytes };
constexpr std::array<std::size_t, kColumnsOfBytes> kOfSamples{kSampleDramRead, kSampleDramWrite, kSampleL2};

/// Counted iterations in equal distances, and the median one.
std::vector<std::size_t> chosen(const std::vector<std::size_t>& counted, std::size_t median,
                                std::size_t max) {
  std::vector<std::size_t> out{median};
  const std::size_t n = std::min(max, counted.size());
  for (std::size_t i = 0; i < n; ++i) out.push_back(counted[i * counted.size() / n]);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.size() > max) out.erase(out.front() == median ? out.end() - 1 : out.begin());
  return out;
}

/// The next of 1, 2 and 5 times a power of ten.
double round_up(double value) {
  double size = 1;
  while (size * 10 <= value) size *= 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * size >= value) return factor * size;
  }
  return 10 * size;
}

OrderedJson interval(TimeNs from_ns, TimeNs to_ns) {
  return {from_ns, to_ns};
}

}  // namespace

ReplayPicture::ReplayPicture(const IterationLog& log, const std::vector<std::size_t>& counted,
                             std::size_t median)
    : log_(log) {
  for (const std::size_t i : chosen(counted, median, kMaxReplays)) {
    if (i == median) median_ = replays_.size();
    Replay& replay = replays_.emplace_back();
    replay.iteration = i;
    replay.from_ns = log.rows()[i].from_ns;
    replay.to_ns = log.rows()[i].to_ns;
  }
}

void ReplayPicture::measure(const TraceTotals& part, const SampledTrace& samples) {
  begin(part);
  const std::uint64_t work = std::max<std::uint64_t>(part.kernels, 1);
  const auto max = static_cast<std::size_t>(std::max<std::uint64_t>(kMaxWork / work, 1));
  const std::size_t every = (replays_.size() + max - 1) / max;
  for (std::size_t i = 0; i < replays_.size(); ++i) {
    if (i != median_ && i % every != 0) continue;
    bytes_->measure(i, RowValues(part, samples.totals({replays_[i].from_ns, replays_[i].to_ns})));
  }
  choose_full(part.sample_intervals_ns.empty() ? 0 : *part.sample_intervals_ns.begin());
}

void ReplayPicture::measure_exact(const TraceTotals& part) {
  begin(part);
  exact_ = true;
  choose_full(0);
}

void ReplayPicture::begin(const TraceTotals& part) {
  if (!part.gpus.empty()) gpu_ = part.gpus.front().id;
  bytes_.emplace(part, log_.iterations(), replays_.size());
}

void ReplayPicture::choose_full(TimeNs interval_ns) {
  std::size_t items = 0;
  const auto add = [&](Replay& replay) {
    const TimeNs length = replay.to_ns - replay.from_ns;
    const auto points = static_cast<std::size_t>(interval_ns > 0 ? length / interval_ns : 0);
    items += log_.rows()[replay.iteration].kernels + std::min(points, kMaxPoints);
    return items <= kMaxItems;
  };
  add(replays_[median_]);
  replays_[median_].full = true;
  for (Replay& replay : replays_) {
    if (!replay.full && add(replay)) replay.full = true;
  }
}

ReplayPicture::Replay* ReplayPicture::at(TimeNs start_ns, TimeNs end_ns) {
  const auto after = std::upper_bound(replays_.begin(), replays_.end(), start_ns,
                                      [](TimeNs time, const Replay& replay) { return time < replay.to_ns; });
  return after != replays_.end() && after->full && after->from_ns < end_ns ? &*after : nullptr;
}

void ReplayPicture::add(const SelectedRows& rows) {
  if (!bytes_) return;
  rows.work(kColumns, [this](const auto& record, bool) { add_work(record); });
  rows.samples([this](const SamplesRecord& line) { add_samples(line); });
  if (exact_) rows.exact([this](const ExactRecord& exact, bool) { add_exact(exact); });
  rows.lines<HoldRecord>([this](const HoldRecord& hold) {
    Replay* const replay = at(hold.start_ns, hold.end_ns);
    if (replay == nullptr || log_.iterations().instances[replay->iteration].thread != hold.thread) return;
    replay->held.push_back({std::max(hold.start_ns, replay->from_ns), std::min(hold.end_ns, replay->to_ns)});
  });
}

template <typename Record>
void ReplayPicture::add_work(const Record& record) {
  const GpuWork& work = record.work;
  if (!is_timed(work)) return;
  Replay* const replay = at(work.start_ns, work.end_ns);
  if (replay == nullptr) return;
  if (replay->pieces.size() >= 8 * kMaxItems) {
    ++replay->omitted;
    return;
  }
  Piece piece{work.start_ns,
              work.end_ns,
              work.correlation,
              stream_of(work),
              work.path,
              0,
              is_kernel(record) || is_graph(record)};
  if constexpr (is_kernel_record<Record>) piece.name = record.name;
  replay->pieces.push_back(piece);
}

void ReplayPicture::add_exact(const ExactRecord& exact) {
  if (exact.is_counter_range || shares_counter_range(exact) || !exact.measured || !exact.has_bytes) return;
  const std::size_t iteration = log_.iterations().of(exact.launch.host);
  const auto replay = std::find_if(replays_.begin(), replays_.end(),
                                   [&](const Replay& one) { return one.iteration == iteration; });
  if (replay == replays_.end()) return;
  bytes_->add(static_cast<std::size_t>(replay - replays_.begin()), exact);
  if (replay->full)
    launches_[exact.launch.correlation] = {exact.dram_read_bytes, exact.dram_write_bytes, exact.l2_bytes};
}

/// The bytes of a launch pass while its work runs.
void ReplayPicture::add_points(Replay& replay) const {
  std::unordered_map<std::uint32_t, Point> points;
  for (const Piece& piece : replay.pieces) {
    const auto launch = launches_.find(piece.correlation);
    if (launch == launches_.end()) continue;
    Point& point = points.try_emplace(piece.correlation, Point{piece.start_ns, piece.end_ns, launch->second})
                       .first->second;
    point.start_ns = std::min(point.start_ns, piece.start_ns);
    point.end_ns = std::max(point.end_ns, piece.end_ns);
  }
  for (const auto& [correlation, point] : points) replay.points.push_back(point);
}

void ReplayPicture::add_samples(const SamplesRecord& line) {
  gaps_.add(line);
  std::size_t place = 0;
  for (const SampleRun& run : line.runs) {
    const TimeNs length = run.end_ns - run.start_ns;
    for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
      const auto time = [&](TimeNs n) { return run.start_ns + n * length / static_cast<TimeNs>(run.count); };
      Point point{time(i), time(TimeNs{i} + 1), {}};
      Replay* const replay = line.gpu == gpu_ ? at(point.start_ns, point.end_ns) : nullptr;
      if (replay == nullptr) continue;
      for (std::size_t c = 0; c < kColumnsOfBytes; ++c) {
        const auto& values = line.columns[kOfSamples[c]];
        if (place < values.size()) point.bytes[c] = values[place] * kSampleUnitBytes;
      }
      replay->points.push_back(point);
    }
  }
}

void ReplayPicture::finish(Replay& replay) const {
  if (exact_) add_points(replay);
  std::vector<Piece>& pieces = replay.pieces;
  if (pieces.size() > kMaxItems) {
    replay.omitted += pieces.size() - kMaxItems;
    std::nth_element(
        pieces.begin(), pieces.begin() + kMaxItems, pieces.end(),
        [](const Piece& a, const Piece& b) { return a.end_ns - a.start_ns > b.end_ns - b.start_ns; });
    pieces.resize(kMaxItems);
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.start_ns < b.start_ns; });
  std::vector<Point>& points = replay.points;
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.start_ns < b.start_ns; });
  while (points.size() > kMaxPoints) {
    for (std::size_t i = 0; i < points.size() / 2; ++i) {
      Point both = points[2 * i];
      both.end_ns = points[2 * i + 1].end_ns;
      for (std::size_t c = 0; c < kColumnsOfBytes; ++c) both.bytes[c] += points[2 * i + 1].bytes[c];
      points[i] = both;
    }
    points.resize(points.size() / 2);
  }
}

OrderedJson ReplayPicture::spans_json(const Replay& replay) const {
  std::vector<GpuRange> spans;
  GpuRanges ranges([&spans](const GpuRange& range) { spans.push_back(range); });
  std::vector<std::vector<std::uint32_t>> chains;
  for (std::size_t i = 0; i < layers().layers().size(); ++i) chains.push_back(layers().chain(i));
  chains.emplace_back();
  for (const Piece& piece : replay.pieces) {
    const std::size_t layer = std::min(layers().of(piece.path), chains.size() - 1);
    ranges.add(piece.stream, piece.start_ns, piece.end_ns, chains[layer]);
  }
  ranges.finish();
  const auto is_layer = [this](const GpuRange& span) {
    const std::size_t layer = layers().of(span.path);
    return layer != ShownLayers::kNone && layers().layers()[layer].path == span.path;
  };
  for (GpuRange& span : spans) span.level = is_layer(span) ? 1 : 0;
  std::sort(spans.begin(), spans.end(), [](const GpuRange& a, const GpuRange& b) {
    return std::pair(a.level, a.start_ns) < std::pair(b.level, b.start_ns);
  });
  // Those of one level that overlap, on several streams, have a lane each.
  std::map<std::uint32_t, std::vector<TimeNs>> lanes;  // ends, by level
  OrderedJson out = OrderedJson::array();
  for (const GpuRange& span : spans) {
    std::vector<TimeNs>& ends = lanes[span.level];
    const auto free =
        std::find_if(ends.begin(), ends.end(), [&](TimeNs end) { return end <= span.start_ns; });
    const auto lane = free - ends.begin();
    if (free == ends.end()) ends.push_back(0);
    ends[static_cast<std::size_t>(lane)] = span.end_ns;
    const std::size_t layer = layers().of(span.path);
    out.push_back({span.start_ns - replay.from_ns, span.end_ns - span.start_ns, span.level, lane,
                   span.level == 1 ? static_cast<std::int64_t>(layer) : -1, span.path});
  }
  return out;
}

OrderedJson ReplayPicture::lost_json(const Replay& replay) const {
  OrderedJson out = OrderedJson::array();
  TimeNs from_ns = replay.from_ns;
  const auto add = [&](TimeNs to_ns) {
    if (from_ns < to_ns && gaps_.lost_ns(gpu_, from_ns, to_ns) != 0)
      out.push_back(interval(from_ns - replay.from_ns, to_ns - replay.from_ns));
  };
  for (const Point& point : replay.points) {
    add(point.start_ns);
    from_ns = std::max(from_ns, point.end_ns);
  }
  add(replay.to_ns);
  return out;
}

/// Starts are relative to the one before, the first to the replay.
OrderedJson ReplayPicture::pieces_json(const Replay& replay, const PageIndices& indices) const {
  std::vector<std::int64_t> start, ns, kernel, layer, other;
  TimeNs before = replay.from_ns;
  for (const Piece& piece : replay.pieces) {
    if (piece.stream.gpu != gpu_) continue;
    if (!piece.is_kernel) other.push_back(static_cast<std::int64_t>(start.size()));
    start.push_back(piece.start_ns - std::exchange(before, piece.start_ns));
    ns.push_back(piece.end_ns - piece.start_ns);
    kernel.push_back(piece.name == 0 ? -1 : indices.kernel(piece.name));
    const std::size_t of = layers().of(piece.path);
    layer.push_back(of == ShownLayers::kNone ? -1 : static_cast<std::int64_t>(of));
  }
  return {{"start", start}, {"ns", ns}, {"kernel", kernel}, {"layer", layer}, {"other", other}};
}

OrderedJson ReplayPicture::points_json(const Replay& replay) {
  std::vector<std::int64_t> start, ns;
  std::array<std::vector<std::uint64_t>, kColumnsOfBytes> units;
  TimeNs before = replay.from_ns;
  for (const Point& point : replay.points) {
    start.push_back(point.start_ns - std::exchange(before, point.start_ns));
    ns.push_back(point.end_ns - point.start_ns);
    for (std::size_t c = 0; c < kColumnsOfBytes; ++c) units[c].push_back(point.bytes[c] / kSampleUnitBytes);
  }
  return {{"start", start},         {"ns", ns},         {"read", units[kRead]},
          {"write", units[kWrite]}, {"l2", units[kL2]}, {"unit_bytes", kSampleUnitBytes}};
}

OrderedJson ReplayPicture::replay_json(const Replay& replay, const PageIndices& indices) const {
  OrderedJson out{{"iteration", replay.iteration}, {"from", replay.from_ns}, {"to", replay.to_ns}};
  if (!replay.full) return out;
  OrderedJson held = OrderedJson::array();
  for (const SampleWindow& one : replay.held)
    held.push_back(interval(one.from_ns - replay.from_ns, one.to_ns - replay.from_ns));
  out["spans"] = spans_json(replay);
  out["pieces"] = pieces_json(replay, indices);
  out["points"] = points_json(replay);
  out["lost"] = lost_json(replay);
  out["held"] = std::move(held);
  out["bands"] = bytes_->bands_json(static_cast<std::size_t>(&replay - replays_.data()));
  if (replay.omitted != 0) out["omitted"] = replay.omitted;
  return out;
}

OrderedJson ReplayPicture::scales_json(const RowValues& values) const {
  const auto highest = [this](std::initializer_list<ByteColumn> columns) {
    double out = 1e9;
    for (const Replay& replay : replays_) {
      for (const Point& point : replay.points) {
        for (const ByteColumn column : columns)
          out = std::max(out, static_cast<double>(point.bytes[column]) /
                                  static_cast<double>(std::max<TimeNs>(point.end_ns - point.start_ns, 1)) *
                                  1e9);
      }
    }
    return out;
  };
  const auto scale = [](double peak, double most, const char* name) -> OrderedJson {
    const double full = peak > 0 ? peak : round_up(most);
    const std::string rate = rate_text(full);
    return {{"full_bytes_per_s", full},
            {"peak", peak > 0},
            {"text", peak > 0 ? "100 % of peak: " + rate : rate + " (" + name + " peak not measured)"}};
  };
  const auto dram = static_cast<double>(values.context().peaks.dram_bytes_per_s);
  return {{"dram", scale(dram, highest({kRead, kWrite}), "DRAM")}, {"l2", scale(0, highest({kL2}), "L2")}};
}

OrderedJson ReplayPicture::json(const TracePart& counted, const RunSummary& run, const PageCounts& counts,
                                const PageIndices& indices) {
  if (!bytes_ || layers().layers().empty()) return nullptr;
  for (Replay& replay : replays_) finish(replay);
  bytes_->finish(counted.values->context().peaks);
  if (exact_ && launches_.empty()) return nullptr;
  OrderedJson out{{"median", median_},
                  {"layers", bytes_->rows_json(*counted.values, run.count, indices)},
                  {"families", layers().families()},
                  {"scales", scales_json(*counted.values)},
                  {"heat", bytes_->heat_json()}};
  OrderedJson limits = OrderedJson::object(), paths = OrderedJson::object(), replays = OrderedJson::array();
  for (const auto& [name, key] : kernel_limits(counted.trace, *counted.values, counts.kernel_metrics)) {
    if (const std::int64_t at = indices.kernel(name); at >= 0) limits[std::to_string(at)] = key;
  }
  out["limits"] = std::move(limits);
  for (const char* const key : {"dram", "l2", "compute", "latency", "below_dram", ""})
    out["limit_texts"][key] = limit_text(key);
  for (const Replay& replay : replays_) {
    replays.push_back(replay_json(replay, indices));
    if (!replay.full) continue;
    for (const OrderedJson& span : replays.back()["spans"]) {
      const auto path = span[5].get<std::uint32_t>();
      paths[std::to_string(path)] = {counted.trace.own_name(path), indices.module(path)};
    }
  }
  out["paths"] = std::move(paths);
  out["replays"] = std::move(replays);
  return out;
}

}  // namespace rangefinder
