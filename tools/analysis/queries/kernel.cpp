// SPDX-License-Identifier: Apache-2.0
//
// `--section kernel --kernel NAME`: all data of one kernel, or of all kernels that match.
//
//   kernel                  time, bytes, limiter
//   kernel_configurations   grid, block, resources, theoretical occupancy (occupancy.h), time of each
//   kernel_speed_of_light   compute, memory, L1, L2, DRAM: share of the peak, busiest part
//   kernel_memory           L1, shared memory, L2, DRAM: bytes, hit rate, throughput
//   kernel_accesses         sectors per request, bytes used, bank conflicts
//   kernel_occupancy        achieved occupancy, issue slots, IPC, divergence
//   kernel_pipes            tensor cores and arithmetic pipes
//   kernel_stalls           stall reasons, as shares of the warps' time
//   kernel_paths            time by path
//   kernel_metrics          each measured metric of CUPTI: n, mean, standard deviation; in the text only
//   those
//                           that were requested by name
//
// NAME is the mangled name, a part of the demangled name, or a regular expression.
#include <optional>

#include "profiler/base/name_pattern.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/queries/factories.h"
#include "tools/analysis/queries/kernel_details.h"
#include "tools/analysis/tables/cells.h"
#include "tools/analysis/tables/kernel_labels.h"

namespace rangefinder {
namespace {

class KernelPattern {
 public:
  explicit KernelPattern(std::string text) : text_(std::move(text)) {
    try {
      regex_.emplace(text_);
    } catch (const NamePattern::Invalid&) {
      // A name such as "gemm<float>(" is no regular expression: it matches literally.
    }
  }
  [[nodiscard]] bool matches(const KernelNameRecord& name) const {
    if (name.mangled == text_ || name.demangled.find(text_) != std::string::npos) return true;
    return regex_ && regex_->is_in(name.demangled);
  }

 private:
  std::string text_;
  std::optional<NamePattern> regex_;
};

class KernelSection final : public Section {
 public:
  explicit KernelSection(const SectionView& view) : pattern_(view.name) { details_.pattern = view.name; }

  void add(const SelectedRows& rows) override {
    rows.lines<KernelNameRecord>([this](const KernelNameRecord& name) { learn(name); });
    rows.lines<MetricSetRecord>([this](const MetricSetRecord& set) { measured_.add(set); });
    rows.exact([this](const ExactRecord& exact, bool) { put(exact); });
    rows.work(kKernelColumns, [this](const auto& record, bool begins) {
      if constexpr (is_kernel_record<decltype(record)>) {
        if (begins) put(record);
      }
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    std::vector<std::string_view> names;
    for (const KernelDetail& kernel : details_.kernels) names.push_back(kernel.name.demangled);
    const std::vector<std::string> labels = kernel_labels(names);
    auto measured = measured_.all(input.trace.selected().kernels(), input.values.context().peaks);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      KernelDetail& kernel = details_.kernels[i];
      kernel.label = labels[i];
      kernel.measured = std::move(measured[kernel.name.id]);
    }
    Table missing;
    missing.in = kOnlyText;
    if (!details_.kernels.empty()) missing.remarks = kernel_not_measured(details_);
    return {kernel_summary(details_, input),
            kernel_configurations(details_, input),
            kernel_speed_of_light(details_),
            kernel_memory(details_),
            kernel_accesses(details_),
            kernel_occupancy(details_),
            kernel_pipes(details_),
            in(kOnlyText, kernel_stalls(details_, false)),
            in(kNotInText, kernel_stalls(details_, true)),
            kernel_paths(details_, input),
            in(kOnlyText, kernel_metrics(details_, false)),
            in(kNotInText, kernel_metrics(details_, true)),
            std::move(missing)};
  }

 private:
  static Table in(const Outputs& outputs, Table table) {
    table.in = outputs;
    return table;
  }

  void learn(const KernelNameRecord& name) {
    if (positions_.count(name.id) != 0 || !pattern_.matches(name)) return;
    positions_.emplace(name.id, static_cast<std::uint32_t>(details_.kernels.size()));
    details_.kernels.emplace_back().name = name;
  }

  KernelDetail* find(std::uint32_t name) {
    const auto at = positions_.find(name);
    return at == positions_.end() ? nullptr : &details_.kernels[at->second];
  }

  void put(const KernelRecord& record) {
    KernelDetail* const kernel = find(record.name);
    if (kernel == nullptr) return;
    const bool timed = is_timed(record.work);
    const std::uint64_t ns = duration_ns(record.work.start_ns, record.work.end_ns);
    kernel->all.add(ns, timed);
    kernel->configurations[{record.config, record.work.gpu}].add(ns, timed);
    kernel->paths[record.work.path].add(ns, timed);
  }

  void put(const ExactRecord& exact) {
    KernelDetail* const kernel = is_of_one_kernel(exact) ? find(exact.name) : nullptr;
    if (kernel == nullptr) return;
    measured_.add(exact);
    kernel->gpu_ns.add(static_cast<double>(exact.gpu_ns));
    if (!exact.has_bytes) return;
    kernel->read.add(static_cast<double>(exact.dram_read_bytes));
    kernel->write.add(static_cast<double>(exact.dram_write_bytes));
    kernel->l2.add(static_cast<double>(exact.l2_bytes));
  }

  KernelPattern pattern_;
  KernelDetails details_;
  MeasuredKernels measured_;
  std::unordered_map<std::uint32_t, std::uint32_t> positions_;  // name id to position in details_.kernels
};

}  // namespace

std::unique_ptr<Section> make_kernel_section(const SectionView& view) {
  return std::make_unique<KernelSection>(view);
}

}  // namespace rangefinder
