// SPDX-License-Identifier: Apache-2.0
//
// `--section kernel --kernel NAME`: all data of one kernel, or of all kernels that match.
//
//   kernel                  time, bytes, limiter
//   kernel_origin           of generated kernels: the program's operators and their lines
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
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "profiler/base/name_pattern.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/kernel_details.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/queries/kernel_table.h"
#include "tools/analysis/queries/occupancy.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kKernelSectionColumns = kKernelsColumns | Column::work_path | Column::exact;

Cell name_cell(const KernelDetail& kernel) {
  return Cell(CellValue(kernel.name.demangled), kernel.label);
}

std::vector<Cell> summary_row(const KernelDetail& kernel, const RowBytes& bytes, const Derived& derived) {
  const DurationHistogram& durations = kernel.all.durations;
  const bool timed = durations.count() != 0;
  const bool moved = bytes.source != RowBytes::Source::none;
  std::vector<Cell> row{name_cell(kernel),
                        number_cell(kernel.all.count),
                        cell_if(timed, durations.total_ns()),
                        timed ? number_cell(durations.mean_ns()) : Cell(),
                        quantile_cell(durations, 0.5),
                        quantile_cell(durations, 0.95),
                        cell_if(timed, durations.min_ns()),
                        cell_if(timed, durations.max_ns()),
                        cell_if(moved, bytes.read),
                        cell_if(moved, bytes.write),
                        cell_if(moved, bytes.l2),
                        optional_cell(derived.dram_bytes_per_s),
                        optional_cell(derived.dram_peak_share),
                        derived.limiter ? text_cell(std::string(limiter_name(*derived.limiter))) : Cell(),
                        text_cell(kernel.name.from_library)};
  if (bytes.partial()) {
    for (std::size_t i = 8; i < 11; ++i) row[i].sign = "+";
  }
  return row;
}

std::string dim_text(const Dim3& size) {
  return std::to_string(size.x) + "x" + std::to_string(size.y) + "x" + std::to_string(size.z);
}

std::vector<Cell> configuration_row(const TraceTotals& trace,
                                    const std::pair<std::uint32_t, std::uint32_t>& key,
                                    const KernelLaunches& use) {
  const auto at = trace.configs.find(key.first);
  const LaunchConfigRecord config = at == trace.configs.end() ? LaunchConfigRecord{} : at->second;
  const GpuRecord* const gpu = trace.gpu(key.second);
  const std::optional<Occupancy> occupancy = gpu == nullptr ? std::nullopt : occupancy_of(*gpu, config);
  const bool timed = use.durations.count() != 0;
  return {text_cell(dim_text(config.grid)),
          text_cell(dim_text(config.block)),
          config.cluster == Dim3{} ? Cell() : text_cell(dim_text(config.cluster)),
          number_cell(use.count),
          cell_if(timed, use.durations.total_ns()),
          timed ? number_cell(use.durations.mean_ns()) : Cell(),
          number_cell(std::uint64_t{config.registers}),
          number_cell(std::uint64_t{config.static_shared_bytes}),
          number_cell(std::uint64_t{config.dynamic_shared_bytes}),
          cell_if(config.local_bytes_per_thread != 0, config.local_bytes_per_thread),
          occupancy ? number_cell(occupancy->share()) : Cell(),
          occupancy && !occupancy->limiter().empty() ? text_cell(occupancy->limiter()) : Cell(),
          occupancy ? number_cell(std::uint64_t{occupancy->blocks_per_sm}) : Cell(),
          occupancy ? number_cell(occupancy->waves) : Cell()};
}

struct MetricRow {
  std::string_view name;
  const Spread* values;
};

std::vector<MetricRow> metrics_of(const KernelDetail& kernel, bool all) {
  std::vector<MetricRow> out;
  for (const MetricRow& row :
       {MetricRow{"GPU time by counters, ns", &kernel.gpu_ns},
        MetricRow{"dram__bytes_read.sum", &kernel.read}, MetricRow{"dram__bytes_write.sum", &kernel.write},
        MetricRow{"lts__t_bytes.sum", &kernel.l2}}) {
    if (row.values->n != 0 && all) out.push_back(row);
  }
  const MetricsByName& metrics = kernel.measured.metrics;
  for (const auto& [name, value] : metrics.all()) {
    // Of sets, other tables show the named metrics.
    const bool requested_by_name = metrics.set_name(value).starts_with("metrics");
    if (value.launches.n != 0 && (all || requested_by_name)) out.push_back({name, &value.launches});
  }
  return out;
}

Table kernel_summary(const KernelDetails& details, const SectionInput& input) {
  Table table;
  table.name = "kernel";
  table.cut = CutSide::back;
  table.min_first_width = kKernelLabelWidth;
  table.empty = "No kernel of this trace has a name that matches " + printable(details.pattern) + ".";
  table.columns = {{"name", "kernel"},
                   {"count", "count", Unit::count},
                   {"total_ns", "total", Unit::ns},
                   {"mean_ns", "mean", Unit::ns},
                   {"median_ns", "median", Unit::ns},
                   {"p95_ns", "95th perc.", Unit::ns, 40},
                   {"min_ns", "min", Unit::ns, 30},
                   {"max_ns", "max", Unit::ns, 35},
                   {"dram_read_bytes", "DRAM read", Unit::bytes, 70},
                   {"dram_write_bytes", "DRAM write", Unit::bytes, 69},
                   {"l2_bytes", "L2", Unit::bytes, 60},
                   {"dram_bytes_per_s", "DRAM rate", Unit::bytes_per_s, 65},
                   {"dram_peak_share", "of peak", Unit::share, 64},
                   {"limiter", "limiter", Unit::text, 80},
                   {"library", "library", Unit::text, 20}};
  const GpuPeaks& peaks = input.values.context().peaks;
  const std::vector<KernelTotals> all = input.trace.selected().kernels();
  bool partial = false;
  EstimateRemark estimate;
  for (const KernelDetail& kernel : details.kernels) {
    if (kernel.all.count == 0) continue;  // matches, but none of its launches was selected
    const auto totals_of = std::find_if(all.begin(), all.end(), [&kernel](const KernelTotals& totals) {
      return totals.name == kernel.name.id;
    });
    const KernelTotals totals = totals_of == all.end() ? KernelTotals{} : *totals_of;
    const RowBytes bytes = input.values.bytes(totals);
    partial = partial || bytes.partial();
    estimate.add(totals.total_ns, bytes);
    table.add(
        summary_row(kernel, bytes, derive(kernel_as_path(totals), bytes, peaks, kernel.measured.metrics)));
  }
  sort_rows(table, "total_ns");
  if (partial) table.remarks = "+: lower bound; some launches have no byte counts.\n";
  table.remarks += estimate.text("kernel");
  return without_empty_columns(std::move(table));
}

Table kernel_origin(const KernelDetails& details, const SectionInput& input) {
  Table table;
  table.name = "kernel_origin";
  table.title = "What it computes";
  table.columns = {{"operators", "operators"},
                   {"source", "line"},
                   {"paths", "paths", Unit::count, 40, "in which it computes them"},
                   {"kernel", "kernel", Unit::text, 90}};
  for (const KernelDetail& kernel : details.kernels) {
    for (const OriginLine& origin : input.trace.origins.of(kernel.name.id)) {
      const SourceLines& source = origin.source;
      table.add({text_cell(origin.operators),
                 source.known() ? Cell(CellValue(source.of_call), source.text()) : Cell(),
                 number_cell(std::uint64_t{origin.paths.size()}), owner_cell(details, kernel)});
    }
  }
  return without_empty_columns(std::move(table));
}

Table kernel_configurations(const KernelDetails& details, const SectionInput& input) {
  Table table;
  table.name = "kernel_configurations";
  table.title = "Launch configurations";
  table.columns = {{"grid", "grid"},
                   {"block", "block"},
                   {"cluster", "cluster", Unit::text, 60},
                   {"count", "count", Unit::count},
                   {"total_ns", "total", Unit::ns},
                   {"mean_ns", "mean", Unit::ns},
                   {"registers", "registers", Unit::count},
                   {"static_shared_bytes", "static", Unit::bytes, 50},
                   {"dynamic_shared_bytes", "dynamic", Unit::bytes, 51},
                   {"local_bytes_per_thread", "local", Unit::bytes, 45},
                   {"occupancy", "occupancy", Unit::share},
                   {"occupancy_limiter", "limited by"},
                   {"blocks_per_sm", "blocks/SM", Unit::count, 55},
                   {"waves", "waves", Unit::number, 70},
                   {"kernel", "kernel", Unit::text, 30}};
  for (const KernelDetail& kernel : details.kernels) {
    for (const auto& [key, use] : kernel.configurations) {
      std::vector<Cell> row = configuration_row(input.trace, key, use);
      row.push_back(owner_cell(details, kernel));
      table.add(std::move(row));
    }
  }
  sort_rows(table, "total_ns");
  table.remarks =
      "static, dynamic: shared memory per block. local: local memory per thread. occupancy: theoretical.\n"
      "waves: blocks of the grid / blocks that run at once; under 1 the grid does not fill all SMs.\n";
  return without_empty_columns(std::move(table));
}

Table kernel_paths(const KernelDetails& details, const SectionInput& input) {
  Table table;
  table.name = "kernel_paths";
  table.title = "By path";
  table.columns = {{"path", "path"},
                   {"count", "count", Unit::count},
                   {"total_ns", "total", Unit::ns},
                   {"share", "of kernel", Unit::share},
                   {"mean_ns", "mean", Unit::ns},
                   {"median_ns", "median", Unit::ns, 60},
                   {"max_ns", "max", Unit::ns, 50},
                   {"kernel", "kernel", Unit::text, 30}};
  for (const KernelDetail& kernel : details.kernels) {
    std::map<std::uint32_t, KernelLaunches> folded;
    for (const auto& [path, use] : kernel.paths) {
      KernelLaunches& shown = folded[path_at_depth(input.trace, path, input.view.depth)];
      shown.count += use.count;
      shown.durations.add(use.durations);
    }
    for (const auto& [path, use] : folded) {
      const bool timed = use.durations.count() != 0;
      table.add({text_cell(path_title(input.trace, path)), number_cell(use.count),
                 cell_if(timed, use.durations.total_ns()),
                 ratio_cell(use.durations.total_ns(), kernel.all.durations.total_ns()),
                 timed ? number_cell(use.durations.mean_ns()) : Cell(), quantile_cell(use.durations, 0.5),
                 cell_if(timed, use.durations.max_ns()), owner_cell(details, kernel)});
    }
  }
  sort_rows(table, "total_ns");
  return without_empty_columns(std::move(table));
}

/// Each metric of CUPTI: number of launches, mean, standard deviation. For JSON and CSV; not `all`: of
/// metrics that were requested by name.
Table kernel_metrics(const KernelDetails& details, bool all) {
  Table table;
  table.name = "kernel_metrics";
  table.title = all ? "Metrics per launch" : "Other metrics per launch";
  table.columns = {{"metric", "metric"},
                   {"n", "launches", Unit::count},
                   {"mean", "mean", Unit::number},
                   {"stddev", "stddev", Unit::number},
                   {"kernel", "kernel", Unit::text, 30}};
  for (const KernelDetail& kernel : details.kernels) {
    for (const MetricRow& row : metrics_of(kernel, all)) {
      table.add({text_cell(std::string(row.name)), number_cell(row.values->n), number_cell(row.values->mean),
                 row.values->n > 1 ? number_cell(row.values->deviation()) : Cell(),
                 owner_cell(details, kernel)});
    }
  }
  return without_empty_columns(std::move(table));
}

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
    rows.work(kKernelSectionColumns, [this](const auto& record, bool begins) {
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
    if (!details_.kernels.empty())
      missing.remarks = kernel_not_measured(details_, RecordedCounters(input.trace));
    return {kernel_summary(details_, input),
            kernel_origin(details_, input),
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

Cell owner_cell(const KernelDetails& details, const KernelDetail& kernel) {
  return details.kernels.size() < 2 ? Cell() : name_cell(kernel);
}

const SectionKind kKernelSection{"kernel", "all data of one kernel, named by --kernel",
                                 make_section<KernelSection>, kKernelSectionColumns, true};

}  // namespace rangefinder
