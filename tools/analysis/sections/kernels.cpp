// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "tools/analysis/sections/table_sections.h"
#include "tools/analysis/tables/kernel_table.h"
#include "tools/analysis/tables/rows_json.h"
#include "tools/analysis/timeline/duration_histogram.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

class KernelsSection final : public Section {
 public:
  void line(const Line& line) override {
    if (const auto* const config = std::get_if<LaunchConfigRecord>(&line)) {
      configs_.emplace(config->id, *config);
      return;
    }
    const auto* const kernel = std::get_if<KernelRecord>(&line);
    if (kernel == nullptr || kernel->work.start_ns == kNoTime) return;
    const auto ns = static_cast<std::uint64_t>(kernel->work.end_ns - kernel->work.start_ns);
    Seen& seen = kernels_[kernel->name];
    seen.durations.add(ns);
    seen.ns_by_place[{kernel->work.gpu, kernel->config}] += ns;
  }

  std::vector<Table> tables(const SectionInput& input) override {
    return {kernel_rows(input.trace, input.values, kernel_view(input.view), spreads(input.trace))};
  }

  OrderedJson json(const SectionInput& input) override {
    const KernelSpreads known = spreads(input.trace);
    OrderedJson rows = OrderedJson::array();
    for (const KernelTotals& row : select_kernels(input.trace, input.values, kernel_view(input.view))) {
      const auto name = input.trace.kernel_names.find(row.name);
      OrderedJson object =
          kernel_row(row, name == input.trace.kernel_names.end() ? nullptr : &name->second, input.values);
      if (const auto at = known.find(row.name); at != known.end()) {
        object["median_ns"] = at->second.median_ns;
        object["p95_ns"] = at->second.p95_ns;
        if (const auto& occupancy = at->second.occupancy) {
          object["occupancy"] = occupancy->share();
          object["occupancy_limiter"] = occupancy->limiter();
          object["waves"] = occupancy->waves;
        }
      }
      rows.push_back(std::move(object));
    }
    return {{"kernels", std::move(rows)}};
  }

  std::vector<Table> plain_tables(const SectionInput& input) override {
    Table kernels = table_of_rows("kernels", json(input)["kernels"]);
    kernels.arranged = true;
    return {std::move(kernels)};
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return kernel_sort_columns(); }

 private:
  static KernelView kernel_view(const SectionView& view) { return {view.top, view.sort}; }

  using Place = std::pair<std::uint32_t, std::uint32_t>;  // GPU, LaunchConfigRecord
  struct Seen {
    DurationHistogram durations;
    std::map<Place, std::uint64_t> ns_by_place;
  };

  KernelSpreads spreads(const TraceTotals& trace) const {
    KernelSpreads out;
    for (const auto& [name, seen] : kernels_) {
      out.emplace(name, KernelSpread{seen.durations.quantile_ns(0.5), seen.durations.quantile_ns(0.95),
                                     occupancy(trace, seen)});
    }
    return out;
  }

  /// For the configuration with most GPU time.
  std::optional<Occupancy> occupancy(const TraceTotals& trace, const Seen& seen) const {
    const auto longest = std::max_element(seen.ns_by_place.begin(), seen.ns_by_place.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto [gpu_id, config_id] = longest->first;
    const auto config = configs_.find(config_id);
    const auto gpu = std::find_if(trace.gpus.begin(), trace.gpus.end(),
                                  [id = gpu_id](const GpuRecord& known) { return known.id == id; });
    if (config == configs_.end() || gpu == trace.gpus.end()) return {};
    return occupancy_of(*gpu, config->second);
  }

  std::unordered_map<std::uint32_t, Seen> kernels_;
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs_;
};

}  // namespace

std::unique_ptr<Section> make_kernels_section(const SectionView&) {
  return std::make_unique<KernelsSection>();
}

}  // namespace rangefinder
