// SPDX-License-Identifier: Apache-2.0
#include "tools/page/iteration_bars.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::uint32_t kNoBar = UINT32_MAX;
constexpr std::size_t kMaxNameLevels = 4;

/// The last levels of each path that distinguish it from the others, as many for all of a family; a number
/// alone says nothing.
std::vector<std::string> names_of(const ShownLayers& layers, const TraceNames& names) {
  const std::vector<ShownLayers::Layer>& all = layers.layers();
  const auto suffix = [&names](std::uint32_t path, std::size_t levels) {
    std::string out = names.own_name(path);
    for (path = names.parent_of(path); path != 0 && levels > 1; path = names.parent_of(path), --levels)
      out = names.own_name(path) + "/" + out;
    return out;
  };
  const auto is_number = [](const std::string& name) {
    return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  std::vector<std::size_t> levels(layers.families().size(), 1);
  for (std::size_t level = 1; level < kMaxNameLevels; ++level) {
    std::vector<std::string> shown;
    for (const ShownLayers::Layer& layer : all) shown.push_back(suffix(layer.path, levels[layer.family]));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_clear = std::count(shown.begin(), shown.end(), shown[i]) == 1 && !is_number(shown[i]);
      if (!is_clear) levels[all[i].family] = level + 1;
    }
  }
  std::vector<std::string> out;
  for (const ShownLayers::Layer& layer : all) out.push_back(suffix(layer.path, levels[layer.family]));
  return out;
}

}  // namespace

OrderedJson layers_json(const ShownLayers& layers, const TraceNames& names, const PageIndices& indices) {
  OrderedJson out = OrderedJson::array();
  const std::vector<std::string> shown = names_of(layers, names);
  for (const ShownLayers::Layer& layer : layers.layers()) {
    out.push_back({{"module", indices.module(layer.path)},
                   {"name", shown[out.size()]},
                   {"path", names.path_text(layer.path)},
                   {"family", layer.family},
                   {"member", layer.member},
                   {"members", layers.members(layer.family)},
                   {"gpu_ns", layer.gpu_ns}});
  }
  return out;
}

IterationBars::IterationBars(const IterationLog& log, const ShownLayers& layers)
    : log_(log), layers_(layers), bar_(log.rows().size(), kNoBar) {
  const std::vector<std::size_t>& seen = log.seen();
  group_ = (seen.size() + kMaxBars - 1) / kMaxBars;
  const auto wall = [&log](std::size_t i) { return log.rows()[i].wall_ns.value_or(0); };
  for (std::size_t at = 0; at < seen.size(); at += group_) {
    const auto first = seen.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = seen.begin() + static_cast<std::ptrdiff_t>(std::min(at + group_, seen.size()));
    const std::size_t slowest =
        *std::max_element(first, last, [&](std::size_t a, std::size_t b) { return wall(a) < wall(b); });
    bar_[slowest] = static_cast<std::uint32_t>(bars_.size());
    bars_.push_back(slowest);
  }
  parts_.resize(bars_.size() * (layers.layers().size() + 1));
}

void IterationBars::add(const SelectedRows& rows) {
  const std::size_t width = layers_.layers().size() + 1;
  rows.work(kColumns, [&](const auto& record, bool) {
    if (!is_kernel(record) && !is_graph(record)) return;
    if (!is_timed(record.work)) return;
    const std::size_t of = log_.iterations().of(record.work);
    if (of >= bar_.size() || bar_[of] == kNoBar) return;
    const std::size_t layer = std::min(layers_.of(record.work.path), width - 1);
    parts_[bar_[of] * width + layer] += duration_ns(record.work.start_ns, record.work.end_ns);
  });
}

OrderedJson IterationBars::json(const TraceNames& names, const PageIndices& indices,
                                std::size_t median) const {
  OrderedJson out{
      {"count", log_.seen().size()}, {"group", group_}, {"layers", layers_json(layers_, names, indices)}};
  OrderedJson bars = OrderedJson::array();
  const std::size_t width = layers_.layers().size() + 1;
  for (std::size_t bar = 0; bar < bars_.size(); ++bar) {
    const IterationTotals& row = log_.rows()[bars_[bar]];
    OrderedJson one{{"iteration", bars_[bar]}, {"from", row.from_ns}, {"to", row.to_ns}};
    if (row.wall_ns) one["wall_ns"] = *row.wall_ns;
    one["gpu_ns"] = row.gpu_ns;
    const auto first = parts_.begin() + static_cast<std::ptrdiff_t>(bar * width);
    one["parts"] = std::vector<std::uint64_t>(first, first + static_cast<std::ptrdiff_t>(width));
    if (!log_.counts(bars_[bar])) one["excluded"] = row.gap_ns != 0 ? "no CUPTI" : "warm-up";
    if (bars_[bar] == median) out["median"] = bar;
    bars.push_back(std::move(one));
  }
  out["bars"] = std::move(bars);
  return out;
}

}  // namespace rangefinder
