// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_tables.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <variant>

#include "profiler/attribution/totals_json.h"
#include "profiler/base/iteration_names.h"
#include "profiler/base/number_text.h"
#include "schema/key_names.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/queries/kernel_table.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/report/run_summary.h"
#include "tools/page/finding_links.h"
#include "tools/page/limit_points.h"
#include "tools/page/page_columns.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

double five_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.5g", value);
  return std::strtod(text.data(), nullptr);
}

/// Counters are most of a page with all metric sets: their last digits, which differ everywhere, do not
/// deflate.
void round_counters(OrderedJson& row) {
  const auto metrics = row.find("metrics");
  if (metrics == row.end()) return;
  for (OrderedJson& metric : *metrics) {
    for (OrderedJson& value : metric) {
      if (value.is_number_float()) value = five_digits(value.get<double>());
    }
  }
}

void add_top_stall(OrderedJson& row, const NamedValues& values) {
  const Cell stall = named_cells(values, 0).back();
  if (stall.empty()) return;
  row["top_stall"] = std::get<std::string>(stall.value);
  row["texts"]["top_stall"] = stall.shown.text();
}

/// Rows of modules with what the module table shows of them.
class ModuleRows {
 public:
  ModuleRows(const TraceTotals& trace, const RowValues& values, const ModuleView& view)
      : trace_(trace), values_(values), table_(module_rows(trace, values, view)) {
    std::size_t at = 0;
    for (const PathTotals& row : select_modules(trace, values, view)) places_.emplace(row.path, at++);
  }

  [[nodiscard]] OrderedJson json(const PathTotals& row) const {
    OrderedJson out = module_row(row, trace_, values_);
    round_counters(out);
    if (const auto at = places_.find(row.path); at != places_.end()) {
      add_cells(out, table_, table_.rows[at->second]);
      // The report's tables have no rate of L2; its sign is that of the bytes.
      const auto texts = out.find("texts");
      if (texts != out.end() && texts->value("l2_bytes", "") == kNoNumber)
        for (const char* const key : {"l2_bytes_per_s", "l2_peak_share"}) (*texts)[key] = kNoNumber;
    }
    if (const std::string signs = module_signs(row); !signs.empty() && row.path != 0)
      out["texts"]["path"] = trace_.own_name(row.path) + " " + signs;
    add_top_stall(
        out, NamedValues(values_.context().metrics_of(row.path), values_.derived(row), row.missing_sets));
    return out;
  }
  [[nodiscard]] const std::string& remarks() const { return table_.remarks; }

 private:
  const TraceTotals& trace_;
  const RowValues& values_;
  Table table_;
  std::unordered_map<std::uint32_t, std::size_t> places_;  // in table_.rows, by path
};

void add_modules(OrderedJson& out, const TraceTotals& trace, const RowValues& values,
                 const PageLimits& limits, PageIndices& indices, OrderedJson& omitted) {
  const std::vector<PathTotals> all = trace.totals.paths();
  const bool too_many = all.size() > limits.modules + 1;
  ModuleView view;
  if (too_many) view.top = limits.modules;
  const ModuleRows made(trace, values, view);
  OrderedJson rows = OrderedJson::array();
  for (const PathTotals& row : too_many ? select_modules(trace, values, view) : all) {
    if (row.path == 0) continue;
    OrderedJson object = made.json(row);
    object["name"] = trace.own_name(row.path);
    object["parent"] = indices.module(trace.parent_of(row.path));
    indices.add_module(row.path);
    rows.push_back(std::move(object));
  }
  omitted["modules"] = all.size() - 1 - std::min(all.size() - 1, rows.size());
  out["modules"] = std::move(rows);
  out["module_remarks"] = made.remarks();
  out["outside"] = made.json(all.back());
}

/// Of a generated kernel: operators, line of the program, number of modules.
OrderedJson origins_json(const KernelOrigins& origins, std::uint32_t kernel) {
  OrderedJson out = OrderedJson::array();
  for (const OriginLine& one : origins.of(kernel))
    out.push_back(
        {{"operators", one.operators}, {"source", one.source.of_call}, {"paths", one.paths.size()}});
  return out;
}

/// [{key, title, bytes_per_launch, hit_rate, throughput}] of each level of the memory; nothing: not measured.
OrderedJson levels_json(const KernelTotals& kernel, const RowBytes& all, const MeasuredKernel& measured) {
  const CounterTotals& counters = kernel.counters;
  const auto each = [&](std::uint64_t measured_bytes, std::uint64_t sampled_bytes) {
    if (counters.with_bytes == 0 && sampled_bytes == 0) return std::optional<double>();
    const bool exact = counters.with_bytes != 0;
    return std::optional(static_cast<double>(exact ? measured_bytes : sampled_bytes) /
                         static_cast<double>(exact ? counters.with_bytes : kernel.count));
  };
  OrderedJson out = OrderedJson::array();
  for (const MemoryLevel& level :
       memory_levels(measured, each(counters.l2_bytes, all.l2),
                     each(counters.dram_read_bytes + counters.dram_write_bytes, all.dram()))) {
    const std::string_view key = level.key;
    if (!level.measured() && (key == "shared" || key == "local")) continue;
    OrderedJson& row = out.emplace_back(OrderedJson{{"key", level.key}, {"title", level.title}});
    if (level.bytes_per_launch) row["bytes_per_launch"] = *level.bytes_per_launch;
    if (level.hit_rate) row["hit_rate"] = *level.hit_rate;
    if (level.throughput) row["throughput"] = *level.throughput;
  }
  return out;
}

void add_kernels(OrderedJson& out, const SectionInput& input, PageCounts& counts, const PageLimits& limits,
                 PageIndices& indices, OrderedJson& omitted) {
  const Table table = std::move(counts.kernels->tables(input).front());
  OrderedJson rows = *table.records;
  const std::vector<KernelTotals> order = select_kernels(input.trace, input.values, {});
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < rows.size() && i < order.size() && i < limits.kernels; ++i) {
    const auto name = input.trace.kernel_names.find(order[i].name);
    names.push_back(name == input.trace.kernel_names.end() ? std::string_view() : name->second.demangled);
  }
  const std::vector<std::string> labels = kernel_labels(names);
  const auto measured = counts.kernel_metrics.all(order, input.values.context().peaks);
  omitted["kernels"] = rows.size() - names.size();
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(names.size()), rows.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    indices.add_kernel(order[i].name);
    OrderedJson buckets = OrderedJson::array();
    for (const auto& [bucket, count] : counts.breakdown.durations[order[i].name]) {
      buckets.push_back({bucket, count});
    }
    if (!names[i].empty()) rows[i]["short"] = labels[i];
    rows[i]["durations"] = std::move(buckets);
    add_cells(rows[i], table, table.rows[i]);
    const auto at = measured.find(order[i].name);
    static const MeasuredKernel kNothing;
    const RowBytes bytes = input.values.bytes(order[i]);
    rows[i]["memory"] = levels_json(order[i], bytes, at == measured.end() ? kNothing : at->second);
    if (OrderedJson origins = origins_json(input.trace.origins, order[i].name); !origins.empty())
      rows[i]["origins"] = std::move(origins);
    if (at == measured.end()) continue;
    add_named(rows[i], at->second.values);
    add_top_stall(rows[i], at->second.values);
  }
  out["kernels"] = std::move(rows);
  add_roofline(out, input, order, measured, indices);
  out["kernel_remarks"] = table.remarks.substr(0, table.remarks.find(kShortNamesRemark));
}

/// The amounts of the report, and more of their breakdown.
OrderedJson copies_json(const SectionInput& input, PageCounts& counts, const PageLimits& limits,
                        OrderedJson& omitted) {
  const std::vector<std::string_view> bars{"bytes", "bytes_per_s"};
  OrderedJson out = OrderedJson::object();
  for (const Table& table : counts.copies->tables(input)) out[table.name] = table_json(table, bars);
  Table modules = counts.breakdown.copies_of_modules(input.trace);
  omitted["copy_modules"] = modules.rows.size() - std::min(modules.rows.size(), limits.kernel_modules);
  keep_first(modules, limits.kernel_modules);
  out["modules"] = table_json(modules, bars);
  out["sizes"] = table_json(counts.breakdown.copy_sizes(), bars);
  return out;
}

/// The tables of `report --section memory`.
OrderedJson memory_json(const SectionInput& input, PageCounts& counts, const PageLimits& limits,
                        OrderedJson& omitted) {
  OrderedJson out = OrderedJson::object();
  for (Table& table : counts.memory->tables(input)) {
    omitted[table.name] = table.rows.size() - std::min(table.rows.size(), limits.modules);
    keep_first(table, limits.modules);
    out[table.name] = table_json(table, {"live_at_peak_bytes", "peak_bytes", "bytes"});
  }
  return out;
}

OrderedJson iterations_json(const SectionInput& input, PageCounts& counts, const PageLimits& limits,
                            OrderedJson& omitted) {
  OrderedJson out{{"path", counts.found.path}};
  for (Table& table : counts.iterations->tables(input)) {
    if (!table.in.text) continue;
    omitted[table.name] = table.rows.size() - std::min(table.rows.size(), limits.iterations);
    keep_first(table, limits.iterations);
    out[table.name] = table_json(table);
  }
  return out;
}

/// Those of `report --section findings`, each with the texts of its saving and evidence, and links.
void add_findings(OrderedJson& out, const TraceTotals& trace, const RunSummary& run,
                  const PageIndices& indices) {
  out["findings"] = findings_json(run.findings);
  const FindingLinks links(trace, indices);
  const std::string folder = quoted_for_shell(trace.files.folder.string());
  for (std::size_t i = 0; i < run.findings.size(); ++i) {
    const Finding& finding = run.findings[i];
    OrderedJson facts = OrderedJson::array();
    for (const Evidence& one : finding.evidence)
      facts.push_back({one.text, cell_text(Cell(one.value), one.unit, false)});
    if (finding.saving_ns) {
      const std::uint64_t ns = finding.saving_each_ns.value_or(*finding.saving_ns);
      out["findings"][i]["saving"] = cell_text(Cell(ns), Unit::ns, false);
    }
    for (const char* const key : {"why", "code"}) {
      if (const auto text = out["findings"][i].find(key); text != out["findings"][i].end())
        *text = typed_command(text->get<std::string>(), folder);
    }
    out["findings"][i]["facts"] = std::move(facts);
    out["findings"][i]["links"] = links.of(finding);
  }
  out["not_checked"] = cannot_tell_text(run.cannot_tell, {.width = 0});
}

/// What a fix saves at most, an iteration: by module, numbers folded. Findings may be about the same time:
/// the largest counts.
std::map<std::string, double> savings_of(const OrderedJson& findings) {
  std::map<std::string, double> out;
  for (const OrderedJson& finding : findings) {
    if (!finding.contains("prize_ns") || finding.contains("outside_of_iterations")) continue;
    const double ns = finding.value("saving_per_iteration_ns", finding["prize_ns"].get<double>());
    const auto put = [&out](const std::string& where, double part) {
      out[where] = std::max(out[where], part);
    };
    if (!finding.contains("modules")) put(finding.value("where", ""), ns);
    for (const OrderedJson& part : finding.value("modules", OrderedJson::array()))
      put(part["where"], ns * part["share"].get<double>());
  }
  return out;
}

/// Numbers the families of modules whose paths differ by numbers only, level by level, so that siblings have
/// numbers near each other. Divides their savings by GPU time.
void add_families(OrderedJson& modules, const std::map<std::string, double>& savings) {
  struct Family {
    std::size_t number = 0;
    double gpu_ns = 0;
    std::size_t modules = 0;
  };
  std::unordered_map<std::string, Family> families;
  const auto gpu_ns = [](const OrderedJson& row) { return row.value("gpu_ns", 0.0); };
  std::vector<const OrderedJson*> levels;
  for (const OrderedJson& row : modules) levels.push_back(&row);
  std::stable_sort(levels.begin(), levels.end(),
                   [](const auto* a, const auto* b) { return a->at("depth") < b->at("depth"); });
  for (const OrderedJson* const row : levels) {
    const std::string name = numbers_folded(row->at("path").get<std::string>());
    Family& family = families.try_emplace(name, Family{families.size()}).first->second;
    family.gpu_ns += gpu_ns(*row);
    ++family.modules;
  }
  for (OrderedJson& row : modules) {
    const std::string name = numbers_folded(row["path"].get<std::string>());
    const Family& family = families.at(name);
    row["family"] = family.number;
    const auto saving = savings.find(name);
    if (saving == savings.end()) continue;
    const double part =
        family.gpu_ns > 0 ? gpu_ns(row) / family.gpu_ns : 1.0 / static_cast<double>(family.modules);
    row["saving_ns"] = static_cast<std::uint64_t>(saving->second * part);
  }
}

OrderedJson gpu_json(const GpuRecord& gpu) {
  OrderedJson out = gpu_object(gpu);
  for (const auto& [type, flops] : gpu.peak_flops) out["peak_flops"][type] = flops;
  if (gpu.sm_clock_khz != 0) out["sm_clock_khz"] = gpu.sm_clock_khz;
  if (gpu.memory_clock_khz != 0) out["memory_clock_khz"] = gpu.memory_clock_khz;
  return out;
}

OrderedJson end_json(const EndRecord& end) {
  OrderedJson cost = OrderedJson::object(), launches = OrderedJson::object();
  for (const auto& [key, member] : kOwnCostKeys) cost[std::string(key)] = end.own_cost.*member;
  for (std::size_t i = 0; i < end.balance.size(); ++i) {
    const LaunchBalance& kind = end.balance[i];
    launches[std::string(kWorkKindNames[i])] = {
        {"launched", kind.launched}, {"recorded", kind.recorded}, {"exact", kind.exact}, {"lost", kind.lost}};
  }
  return {{"reason", end.reason}, {"own_cost", std::move(cost)}, {"launches", std::move(launches)}};
}

OrderedJson head(const TraceTotals& trace, const RowValues& values) {
  OrderedJson out{{"folder", trace.files.folder.string()},
                  {"process", process_object(trace.header)},
                  {"started_unix_ns", std::to_string(trace.header.base_unix_ns)},
                  {"cupti_version", trace.header.cupti_version},
                  {"duration_ns", trace.last_ns},
                  {"gpus", OrderedJson::array()},
                  {"counts",
                   {{"kernels", trace.kernels},
                    {"copies", trace.copies},
                    {"memsets", trace.memsets},
                    {"ranges", trace.ranges},
                    {"lines", trace.read.lines}}}};
  for (const GpuRecord& gpu : trace.gpus) out["gpus"].push_back(gpu_json(gpu));
  out["sample_intervals_ns"] = OrderedJson::array();
  for (const std::uint32_t ns : trace.sample_intervals_ns) out["sample_intervals_ns"].push_back(ns);
  if (values.sampled() != nullptr) out["samples"] = samples_object(trace, *values.sampled());
  if (OrderedJson truth = truth_object(values.truth()); !truth.is_null()) out["truth"] = std::move(truth);
  out["loss"] = loss_object(trace.loss);
  if (trace.end) out["end"] = end_json(*trace.end);
  out["torn"] = trace.read.torn;
  out["broken_lines"] = trace.read.broken;
  if (!trace.first_broken.empty()) out["first_broken"] = trace.first_broken;
  return out;
}

bool any_row_has(const OrderedJson& tables, const char* metric) {
  const auto has = [metric](const OrderedJson& row) {
    const auto named = row.find("named");
    return named != row.end() && named->contains(metric);
  };
  const auto any = [&has](const OrderedJson& rows) { return std::any_of(rows.begin(), rows.end(), has); };
  return has(tables.at("outside")) || any(tables.at("modules")) || any(tables.at("kernels"));
}

}  // namespace

OrderedJson page_tables(const SectionInput& input, const RunSummary& run, PageCounts& counts,
                        const PageLimits& limits, PageIndices& indices) {
  const TraceTotals& trace = input.trace;
  const RowValues& values = input.values;
  OrderedJson omitted = OrderedJson::object();
  OrderedJson out = head(trace, values);
  add_modules(out, trace, values, limits, indices, omitted);
  out["byte_fit"] = byte_fit_json(input, indices, omitted);
  if (OrderedJson sets = metric_sets_array(trace.totals.groups()); !sets.empty()) out["metric_sets"] = sets;
  add_kernels(out, input, counts, limits, indices, omitted);
  out["copies"] = copies_json(input, counts, limits, omitted);
  out["memory"] = memory_json(input, counts, limits, omitted);
  add_breakdown_tables(out, trace, counts.breakdown, limits, indices, omitted);
  out["iterations"] = iterations_json(input, counts, limits, omitted);
  out["summary"] = run_summary_text(trace, run, {.width = 0});
  add_findings(out, trace, run, indices);
  add_families(out["modules"], savings_of(out["findings"]));
  out["left_out"] = std::move(omitted);
  return out;
}

OrderedJson named_metrics_json(const OrderedJson& traces) {
  OrderedJson out = OrderedJson::array();
  for (const NamedMetric& metric : named_metrics()) {
    const auto has = [&metric](const OrderedJson& tables) { return any_row_has(tables, metric.name); };
    if (std::none_of(traces.begin(), traces.end(), has)) continue;
    out.push_back({{"name", metric.name},
                   {"title", metric.title},
                   {"column", metric.column},
                   {"unit", metric.unit},
                   {"topic", topic_name(metric.topic)},
                   {"tip", metric_tip(metric)}});
  }
  return out;
}

OrderedJson metric_topics_json() {
  OrderedJson out = OrderedJson::array();
  for (const NamedMetric& metric : named_metrics()) {
    const char* const topic = topic_name(metric.topic);
    if (std::find(out.begin(), out.end(), topic) == out.end()) out.push_back(topic);
  }
  return out;
}

}  // namespace rangefinder
