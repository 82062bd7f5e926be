// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "tools/analysis/queries/table_sections.h"
#include "tools/analysis/tables/kernel_table.h"
#include "tools/analysis/tables/rows_json.h"
#include "tools/analysis/timeline/duration_histogram.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

class KernelsSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.work(kKernelsColumns, [this](const auto& record, bool begins) {
      if constexpr (is_kernel_record<decltype(record)>) {
        if (begins) put(record);
      }
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    const KernelSpreads known = spreads(input.trace);
    Table table = kernel_rows(input.trace, input.values, kernel_view(input.view), known);
    table.records = std::make_shared<const OrderedJson>(rows(input, known));
    return {std::move(table)};
  }

  [[nodiscard]] std::vector<std::string> sort_keys() const override { return kernel_sort_columns(); }

 private:
  /// As in summary.json, and with what its totals do not have.
  static OrderedJson rows(const SectionInput& input, const KernelSpreads& known) {
    OrderedJson out = OrderedJson::array();
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
      out.push_back(std::move(object));
    }
    return out;
  }

  static KernelView kernel_view(const SectionView& view) { return {view.top, view.sort}; }

  using Place = std::pair<std::uint32_t, std::uint32_t>;  // GPU, LaunchConfigRecord
  struct Seen {
    DurationHistogram durations;
    std::map<Place, std::uint64_t> ns_by_place;
  };

  void put(const KernelRecord& kernel) {
    if (kernel.work.start_ns == kNoTime) return;
    const auto ns = static_cast<std::uint64_t>(kernel.work.end_ns - kernel.work.start_ns);
    Seen& seen = kernels_[kernel.name];
    seen.durations.add(ns);
    seen.ns_by_place[{kernel.work.gpu, kernel.config}] += ns;
  }

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
    const auto config = trace.configs.find(config_id);
    const GpuRecord* const gpu = trace.gpu(gpu_id);
    if (config == trace.configs.end() || gpu == nullptr) return {};
    return occupancy_of(*gpu, config->second);
  }

  std::unordered_map<std::uint32_t, Seen> kernels_;
};

}  // namespace

std::unique_ptr<Section> make_kernels_section(const SectionView&) {
  return std::make_unique<KernelsSection>();
}

}  // namespace rangefinder
