// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/kernel_comparison.h"

#include <map>
#include <unordered_map>

#include "profiler/base/name_pattern.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/diff/welch.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

constexpr double kMaxP = 0.01;

struct ComparedKernel {
  std::string name;
  DurationHistogram durations;
  Moments ns, dram_read, dram_write, l2;
  std::map<std::uint32_t, std::uint64_t> configs;  // launches by LaunchConfigRecord
};

constexpr Columns kColumns = Column::work_times | Column::work_name | Column::work_config | Column::exact;

using ComparedKernels = std::unordered_map<std::uint32_t, ComparedKernel>;  // by name

void add(ComparedKernels& kernels, const KernelRecord& kernel) {
  ComparedKernel& facts = kernels[kernel.name];
  ++facts.configs[kernel.config];
  if (kernel.work.start_ns == kNoTime || kernel.work.end_ns < kernel.work.start_ns) return;
  const auto ns = static_cast<std::uint64_t>(kernel.work.end_ns - kernel.work.start_ns);
  facts.durations.add(ns);
  facts.ns.add(static_cast<double>(ns));
}

void add(ComparedKernels& kernels, const ExactRecord& exact) {
  if (!exact.measured || !exact.has_bytes || exact.is_counter_range || shares_counter_range(exact)) return;
  ComparedKernel& facts = kernels[exact.name];
  facts.dram_read.add(static_cast<double>(exact.dram_read_bytes));
  facts.dram_write.add(static_cast<double>(exact.dram_write_bytes));
  facts.l2.add(static_cast<double>(exact.l2_bytes));
}

void add(ComparedKernels& kernels, const Chunk& chunk) {
  for (const Chunk::OtherLine& other : chunk.others) {
    if (const auto* const name = std::get_if<KernelNameRecord>(&other.line))
      kernels[name->id].name = name->demangled;
  }
  chunk.work(kColumns, [&kernels](const auto& record) {
    if constexpr (is_kernel_record<decltype(record)>) add(kernels, record);
  });
  chunk.exact([&kernels](const ExactRecord& exact) { add(kernels, exact); });
}

const ComparedKernel& named(const ComparedKernels& kernels, const std::string& pattern) {
  const NamePattern regex(pattern);
  const ComparedKernel* found = nullptr;
  std::string several;
  for (const auto& [id, facts] : kernels) {
    if (facts.name.empty() || facts.configs.empty()) continue;
    if (facts.name == pattern) return facts;
    if (!regex.is_in(facts.name)) continue;
    several += "\n  " + printable(facts.name);
    found = found == nullptr ? &facts : found;
  }
  if (found == nullptr) throw Missing("no kernel of the trace has a name that matches " + printable(pattern));
  if (several.find('\n', 1) != std::string::npos) {
    throw Missing("several kernels have a name that matches " + printable(pattern) +
                  ", use a longer expression:" + several);
  }
  return *found;
}

std::string dim_text(const Dim3& dim) {
  return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
}

/// The configuration with most launches.
const LaunchConfigRecord* usual_config(const TraceNames& trace, const ComparedKernel& facts) {
  std::uint32_t best = 0;
  std::uint64_t launches = 0;
  for (const auto& [id, n] : facts.configs) {
    if (n > launches) best = id, launches = n;
  }
  const auto at = trace.configs.find(best);
  return at == trace.configs.end() ? nullptr : &at->second;
}

void add_number(Table& table, const char* key, const char* title, Unit unit, std::optional<double> x,
                std::optional<double> y, const std::optional<WelchResult>& test = {}) {
  if (!x && !y) return;
  const auto cell = [unit](const std::optional<double>& value) {
    return value ? Cell(CellValue(*value), cell_text(Cell(CellValue(*value)), unit, false)) : Cell();
  };
  Cell change, verdict;
  if (x && y && *x != 0) change = Cell(CellValue((*y - *x) / *x));
  if (test) verdict = Cell(test->p < kMaxP ? "differ" : "no difference shown");
  table.add(
      {Cell(CellValue(std::string(key)), title), cell(x), cell(y), std::move(change), std::move(verdict)});
}

std::optional<double> mean_of(const Moments& moments) {
  return moments.n() == 0 ? std::nullopt : std::optional(moments.mean());
}

void add_configs(Table& table, const LaunchConfigRecord* x, const LaunchConfigRecord* y) {
  if (x == nullptr || y == nullptr) return;
  const auto add_text = [&table](const char* key, const std::string& of_x, const std::string& of_y) {
    table.add({Cell(key), Cell(CellValue(of_x)), Cell(CellValue(of_y))});
  };
  add_text("grid", dim_text(x->grid), dim_text(y->grid));
  add_text("block", dim_text(x->block), dim_text(y->block));
  const auto add_count = [&table](const char* key, const char* title, Unit unit, double of_x, double of_y) {
    add_number(table, key, title, unit, of_x, of_y);
  };
  add_count("registers", "registers per thread", Unit::count, x->registers, y->registers);
  add_count("shared_bytes", "shared memory per block", Unit::bytes,
            x->static_shared_bytes + x->dynamic_shared_bytes,
            y->static_shared_bytes + y->dynamic_shared_bytes);
  add_count("local_bytes", "local memory per thread", Unit::bytes, x->local_bytes_per_thread,
            y->local_bytes_per_thread);
}

}  // namespace

Table compare_kernels(const TraceFolder& files, const std::string& x_name, const std::string& y_name,
                      const ReadLimits& limits) {
  Trace trace(files, {kColumns, {}, {}, Keep::no, limits});
  ComparedKernels kernels;
  trace.each_chunk([&kernels](const Chunk& chunk) { add(kernels, chunk); });
  const ComparedKernel& x = named(kernels, x_name);
  const ComparedKernel& y = named(kernels, y_name);
  Table out;
  out.name = "kernel_comparison";
  out.title = "X: " + printable(short_kernel_name(x.name)) + "\nY: " + printable(short_kernel_name(y.name));
  out.sortable = false;
  out.columns = {{"quantity", "per launch", Unit::text},
                 {"x", "X", Unit::number},
                 {"y", "Y", Unit::number},
                 {"relative", "change", Unit::share},
                 {"verdict", "verdict", Unit::text}};
  const auto count = [](const ComparedKernel& facts) {
    double launches = 0;
    for (const auto& [config, n] : facts.configs) launches += static_cast<double>(n);
    return launches;
  };
  const auto quantile = [](const ComparedKernel& facts, double part) -> std::optional<double> {
    if (facts.durations.count() == 0) return {};
    return static_cast<double>(facts.durations.quantile_ns(part));
  };
  add_number(out, "launches", "number of launches", Unit::count, count(x), count(y));
  add_number(out, "mean_ns", "mean time", Unit::ns, mean_of(x.ns), mean_of(y.ns), welch(x.ns, y.ns));
  add_number(out, "median_ns", "median time", Unit::ns, quantile(x, 0.5), quantile(y, 0.5));
  add_number(out, "p95_ns", "95th percentile", Unit::ns, quantile(x, 0.95), quantile(y, 0.95));
  add_number(out, "dram_read_bytes", "DRAM read", Unit::bytes, mean_of(x.dram_read), mean_of(y.dram_read),
             welch(x.dram_read, y.dram_read));
  add_number(out, "dram_write_bytes", "DRAM write", Unit::bytes, mean_of(x.dram_write), mean_of(y.dram_write),
             welch(x.dram_write, y.dram_write));
  add_number(out, "l2_bytes", "L2", Unit::bytes, mean_of(x.l2), mean_of(y.l2), welch(x.l2, y.l2));
  add_configs(out, usual_config(trace.names(), x), usual_config(trace.names(), y));
  return out;
}

}  // namespace rangefinder
