// SPDX-License-Identifier: Apache-2.0
#include "tools/page/layer_bytes.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/page/iteration_bars.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Exact bytes agree with other tools to that part.
constexpr double kExactError = 0.01;

bool has_bytes(const RowBytes& bytes) {
  return bytes.source != RowBytes::Source::none;
}

double bound_of(const RowBytes& bytes) {
  if (bytes.is_bounded()) return bytes.dram_error().value_or(0);
  return kExactError * static_cast<double>(bytes.dram()) + static_cast<double>(bytes.carry_over.value_or(0));
}

std::uint64_t divided(std::uint64_t sum, std::size_t calls) {
  return sum / std::max<std::size_t>(calls, 1);
}

}  // namespace

LayerBytes::LayerBytes(const TraceTotals& part, const Iterations& iterations, std::size_t replays)
    : part_(part),
      layers_(part, iterations.by_range() ? iterations.paths : std::unordered_set<std::uint32_t>(),
              kMaxLayers),
      bytes_(replays),
      exact_(replays) {
  for (const PathTotals& row : part.totals.paths()) rows_.emplace(row.path, row);
}

void LayerBytes::measure(std::size_t replay, const RowValues& values) {
  for (const ShownLayers::Layer& layer : layers_.layers())
    bytes_[replay].push_back(values.bytes(rows_.at(layer.path)));
}

void LayerBytes::add(std::size_t replay, const ExactRecord& exact) {
  std::vector<PathTotals>& sums = exact_[replay];
  sums.resize(layers_.layers().size());
  const std::size_t layer = layers_.of(values_path(exact));
  if (layer == ShownLayers::kNone) return;
  CounterTotals& counters = sums[layer].counters;
  ++counters.with_bytes;
  ++counters.measured;
  ++counters.launches;
  counters.dram_read_bytes += exact.dram_read_bytes;
  counters.dram_write_bytes += exact.dram_write_bytes;
  counters.l2_bytes += exact.l2_bytes;
}

void LayerBytes::finish(const GpuPeaks& peaks) {
  for (std::size_t replay = 0; replay < exact_.size(); ++replay) {
    for (const PathTotals& sums : exact_[replay]) bytes_[replay].push_back(exact_bytes(sums, peaks));
  }
  exact_.clear();
}

OrderedJson LayerBytes::heat_json() const {
  OrderedJson cells = OrderedJson::array(), medians = OrderedJson::array();
  for (std::size_t layer = 0; layer < layers_.layers().size(); ++layer) {
    OrderedJson row = OrderedJson::array();
    std::vector<double> shown;
    for (const auto& replay : bytes_) {
      if (!replay.empty() && has_bytes(replay[layer]) && replay[layer].shows_dram())
        shown.push_back(static_cast<double>(replay[layer].dram()));
    }
    const double median = shown.empty() ? 0 : median_of(shown);
    medians.push_back(std::llround(median));
    for (const auto& replay : bytes_) {
      if (replay.empty() || !has_bytes(replay[layer])) {
        row.push_back(nullptr);
        continue;
      }
      const RowBytes& bytes = replay[layer];
      const double error = bound_of(bytes);
      const bool beyond = bytes.shows_dram() && std::abs(static_cast<double>(bytes.dram()) - median) > error;
      row.push_back({bytes.dram(), std::llround(error), bytes.shows_dram() ? 1 : 0, beyond ? 1 : 0});
    }
    cells.push_back(std::move(row));
  }
  return {{"cells", std::move(cells)}, {"medians", std::move(medians)}};
}

OrderedJson LayerBytes::bands_json(std::size_t replay) const {
  const auto part = [](std::uint64_t value, const std::optional<double>& error) {
    const bool known = error && *error <= static_cast<double>(value) && value != 0;
    return known ? OrderedJson{value, std::llround(*error)} : OrderedJson();
  };
  OrderedJson out = OrderedJson::array();
  for (const RowBytes& bytes : bytes_[replay]) {
    out.push_back({{"read", part(bytes.read, bytes.read_error)},
                   {"write", part(bytes.write, bytes.write_error)},
                   {"l2", part(bytes.l2, bytes.l2_error)}});
  }
  return out;
}

OrderedJson LayerBytes::rows_json(const RowValues& values, std::size_t calls,
                                  const PageIndices& indices) const {
  OrderedJson out = layers_json(layers_, part_, indices);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const PathTotals& row = rows_.at(layers_.layers()[i].path);
    const RowBytes bytes = values.bytes(row);
    const Derived shown = values.shown(row);
    const BoundedText text =
        bounded_text(bytes.dram(), bytes.is_bounded() ? bytes.dram_error() : std::nullopt);
    const bool known = has_bytes(bytes) && text.value != kNoNumber;
    out[i].update({{"gpu_ns", row.gpu_ns},
                   {"dram_read_bytes", bytes.read},
                   {"dram_write_bytes", bytes.write},
                   {"l2_bytes", bytes.l2},
                   {"shown", known},
                   {"each_bytes", divided(bytes.dram(), calls)},
                   {"text", known ? bytes_text(divided(bytes.dram(), calls)) : std::string(kNoNumber)}});
    if (!text.error.empty()) out[i]["error"] = text.error;
    if (row.declared_bytes != 0) out[i]["declared_each_bytes"] = divided(row.declared_bytes, calls);
    if (shown.dram_amplification) {
      out[i]["ratio"] = *shown.dram_amplification;
      out[i]["ratio_text"] = factor_text(*shown.dram_amplification);
    }
    if (shown.dram_peak_share) out[i]["peak_text"] = percent_text(*shown.dram_peak_share);
  }
  return out;
}

}  // namespace rangefinder
