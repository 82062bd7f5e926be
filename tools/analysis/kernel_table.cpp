// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kernel_table.h"

#include <algorithm>
#include <map>

#include "profiler/attribution/number_text.h"
#include "profiler/attribution/text_table.h"
#include "tools/analysis/kernel_text.h"

namespace rangefinder {
namespace {

using SortKey = std::uint64_t (*)(const KernelTotals&);

std::uint64_t mean_ns(const KernelTotals& row) {
  return row.timed == 0 ? 0 : row.total_ns / row.timed;
}

const std::map<std::string, SortKey>& sort_keys() {
  static const std::map<std::string, SortKey> kKeys{
      {"count", [](const KernelTotals& row) { return row.count; }},
      {"total", [](const KernelTotals& row) { return row.total_ns; }},
      {"mean", mean_ns},
      {"min", [](const KernelTotals& row) { return row.min_ns; }},
      {"max", [](const KernelTotals& row) { return row.max_ns; }},
      {"read", [](const KernelTotals& row) { return row.counters.dram_read_bytes; }},
      {"write", [](const KernelTotals& row) { return row.counters.dram_write_bytes; }},
      {"l2", [](const KernelTotals& row) { return row.counters.l2_bytes; }},
  };
  return kKeys;
}

const KernelNameRecord* name_of(const TraceTotals& trace, std::uint32_t id) {
  const auto it = trace.kernel_names.find(id);
  return it == trace.kernel_names.end() ? nullptr : &it->second;
}

std::string short_name(const TraceTotals& trace, std::uint32_t id) {
  const KernelNameRecord* const name = name_of(trace, id);
  return name != nullptr ? printable(short_kernel_name(name->demangled)) : "(unknown)";
}

/// Instances of one template get numbers, heaviest first, so that rows can be told apart.
std::vector<std::string> distinct_names(const TraceTotals& trace, const std::vector<KernelTotals>& rows,
                                        bool& numbered) {
  std::map<std::string, std::size_t> uses;
  for (const KernelTotals& row : rows) ++uses[short_name(trace, row.name)];
  std::map<std::string, std::size_t> next;
  std::vector<std::string> out;
  for (const KernelTotals& row : rows) {
    std::string name = short_name(trace, row.name);
    if (uses[name] > 1) {
      numbered = true;
      name += " #" + std::to_string(++next[name]);
    }
    out.push_back(std::move(name));
  }
  return out;
}

/// Of counters, or of samples, which can only be told from none by not being 0.
bool has_bytes(const KernelTotals& row) {
  const CounterTotals& counters = row.counters;
  return counters.with_bytes != 0 ||
         counters.dram_read_bytes + counters.dram_write_bytes + counters.l2_bytes != 0;
}

std::vector<std::string> cells(const TraceTotals& trace, const KernelTotals& row, double all_ns, bool bytes) {
  const KernelNameRecord* const name = name_of(trace, row.name);
  std::vector<std::string> out{count_text(row.count)};
  if (row.timed > 0) {
    out.insert(out.end(),
               {duration_text(row.total_ns), percent_text(static_cast<double>(row.total_ns) / all_ns),
                duration_text(mean_ns(row)), duration_text(row.min_ns), duration_text(row.max_ns)});
  } else {
    out.resize(out.size() + 5);  // no time is known
  }
  if (bytes) {
    const bool partial = row.counters.with_bytes != 0 && row.counters.with_bytes < row.count;
    const std::string more = partial ? "+" : "";
    for (const std::uint64_t n :
         {row.counters.dram_read_bytes, row.counters.dram_write_bytes, row.counters.l2_bytes}) {
      out.push_back(has_bytes(row) ? bytes_text(n) + more : "");
    }
  }
  out.push_back(name == nullptr ? "" : printable(name->library));
  return out;
}

}  // namespace

const std::vector<std::string>& kernel_sort_columns() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, key] : sort_keys()) names.push_back(name);
    return names;
  }();
  return kNames;
}

std::vector<KernelTotals> select_kernels(const TraceTotals& trace, const RowValues& values,
                                         const KernelView& view) {
  std::vector<KernelTotals> rows = trace.totals.kernels();
  for (KernelTotals& row : rows) {
    const SampledKernel* const sampled = values.sampled_kernel(row.name);
    if (sampled == nullptr || row.counters.with_bytes != 0) continue;
    row.counters.dram_read_bytes = sampled->bytes[kSharedDramRead];
    row.counters.dram_write_bytes = sampled->bytes[kSharedDramWrite];
    row.counters.l2_bytes = sampled->bytes[kSharedL2];
  }
  const SortKey key = sort_keys().at(view.sort.empty() ? "total" : view.sort);
  std::stable_sort(rows.begin(), rows.end(),
                   [key](const KernelTotals& a, const KernelTotals& b) { return key(a) > key(b); });
  if (view.top != 0 && rows.size() > view.top) rows.resize(view.top);
  return rows;
}

std::string kernel_table(const TraceTotals& trace, const RowValues& values, const KernelView& view,
                         const TextStyle& style) {
  const std::vector<KernelTotals> rows = select_kernels(trace, values, view);
  if (rows.empty()) return "No kernel in this trace.\n";
  std::uint64_t all_ns = 0;
  for (const KernelTotals& row : trace.totals.kernels()) all_ns += row.total_ns;
  const bool bytes = std::any_of(rows.begin(), rows.end(), has_bytes);
  TextTable table("kernel", CutSide::front);
  table.add_column("count");
  table.add_column("total");
  table.add_column("share", 60);
  table.add_column("mean", 50);
  table.add_column("min", 20);
  table.add_column("max", 30);
  if (bytes) {
    table.add_column("DRAM read", 45);
    table.add_column("DRAM write", 44);
    table.add_column("L2", 40);
  }
  table.add_column("library", 10);
  bool numbered = false;
  const std::vector<std::string> names = distinct_names(trace, rows, numbered);
  const double total = static_cast<double>(std::max<std::uint64_t>(all_ns, 1));
  for (std::size_t i = 0; i < rows.size(); ++i) table.add_row(names[i], cells(trace, rows[i], total, bytes));
  std::string out = table.render(style.width, style.colour ? "\033[1m" : "", style.colour ? "\033[0m" : "");
  const auto partial = [](const KernelTotals& row) {
    return row.counters.with_bytes != 0 && row.counters.with_bytes < row.count;
  };
  if (std::any_of(rows.begin(), rows.end(), partial)) {
    out += "+: at least; some launches of that kernel have no bytes of their own.\n";
  }
  if (numbered) out += "#n: instances of one template; --json has the full names.\n";
  out += table.left_out_line();
  return out;
}

}  // namespace rangefinder
