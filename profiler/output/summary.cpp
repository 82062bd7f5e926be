// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/summary.h"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

#include "profiler/attribution/sampled_rows.h"
#include "profiler/attribution/totals_json.h"
#include "profiler/guest/reserve_large.h"
#include "schema/json_text.h"
#include "schema/key_names.h"
#include "schema/write_line.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Replaces invalid bytes as the trace does, so that names can be compared.
std::string valid(std::string_view text) {
  std::string out;
  append_valid_utf8(out, text);
  return out;
}

void append(std::string& out, const OrderedJson& value) {
  out += value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// Writes members of the outermost object, and elements of its arrays, one per line.
class Document {
 public:
  explicit Document(std::string& out) : out_(out) {}

  void member(const char* key, const OrderedJson& value) {
    begin(key);
    append(out_, value);
  }
  template <typename Rows, typename ToJson>
  void array(const char* key, const Rows& rows, ToJson to_json) {
    begin(key);
    const char* separator = "[\n";
    for (const auto& row : rows) {
      out_ += separator;
      append(out_, to_json(row));
      separator = ",\n";
    }
    out_ += rows.empty() ? "[]" : "\n]";
  }
  void close() { out_ += "\n}\n"; }

 private:
  void begin(const char* key) {
    out_ += first_ ? "{\n\"" : ",\n\"";
    first_ = false;
    out_ += key;
    out_ += "\": ";
  }

  std::string& out_;
  bool first_ = true;
};

// The keys of a trace line without `exclude`. write_line is their only definition.
template <typename Record>
OrderedJson line_keys(const Record& record, std::initializer_list<const char*> exclude) {
  std::string line;
  write_line(line, record);
  OrderedJson keys = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
  for (const char* const key : exclude) keys.erase(key);
  return keys;
}

OrderedJson totals_row(const PathTotals& totals, const RowBytes& bytes, const RowContext& context) {
  OrderedJson row;
  row["depth"] = totals.depth;
  row["calls"] = totals.calls;
  add_totals(row, totals, bytes, context);
  return row;
}

std::string path_text(const SummaryInput& input, std::uint32_t path) {
  return valid(join_path(path, input.path_name, input.path_parent));
}

OrderedJson module_row(const SummaryInput& input, const PathTotals& totals, const RowBytes& bytes,
                       const RowContext& context) {
  OrderedJson row;
  row["path"] = path_text(input, totals.path);
  row.update(totals_row(totals, bytes, context));
  return row;
}

// Exact bytes where they were measured, else sampled bytes.
std::vector<RowBytes> bytes_of(const SummaryInput& input, const std::vector<PathTotals>& rows,
                               const RowContext& context) {
  std::vector<RowBytes> out(rows.size());
  if (input.samples != nullptr) out = live_sampled_bytes(rows, *input.samples);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowBytes exact = exact_bytes(rows[i], context.peaks);
    if (exact.source != RowBytes::Source::none) out[i] = exact;
  }
  return out;
}

CopyTruth truth_of(const SummaryInput& input) {
  const CopyTruth& exact = input.totals.truth();
  return exact.copies != 0 || input.samples == nullptr ? exact : input.samples->truth();
}

// All sampled bytes, and the unattributed part of them.
OrderedJson samples_object(const SampleSharing& samples) {
  const SampleTotals& totals = samples.totals();
  const auto columns = [](const std::array<std::uint64_t, kSharedColumns>& bytes) {
    return OrderedJson{{"dram_read_bytes", bytes[kSharedDramRead]},
                       {"dram_write_bytes", bytes[kSharedDramWrite]},
                       {"l2_bytes", bytes[kSharedL2]}};
  };
  OrderedJson method;
  for (const char* const key : {"dram_read_bytes", "dram_write_bytes", "l2_bytes"}) method[key] = "live";
  return {{"method", std::move(method)},
          {"count", totals.samples},
          {"idle", totals.idle_samples},
          {"all", columns(totals.bytes)},
          {"unattributed", columns(totals.unattributed)}};
}

OrderedJson monitor_of(const SummaryInput& input) {
  OrderedJson out = monitor_object(*input.monitor);
  OrderedJson& paths = out["paths"] = OrderedJson::array();
  for (const MonitorRow& rates : input.monitor->rows()) {
    OrderedJson row;
    row["path"] = rates.path == 0 ? "" : path_text(input, rates.path);
    row.update(monitor_row(rates));
    paths.push_back(std::move(row));
  }
  return out;
}

OrderedJson kernel_row(const KernelTotals& totals, std::string_view name, std::string_view library) {
  OrderedJson row;
  row["name"] = valid(name);
  row["library"] = valid(library);
  row["count"] = totals.count;
  if (totals.timed != 0) {
    row["total_ns"] = totals.total_ns;
    row["min_ns"] = totals.min_ns;
    row["max_ns"] = totals.max_ns;
  }
  add_kernel_bytes(row, totals, exact_bytes(kernel_as_path(totals), {}));
  return row;
}

OrderedJson copy_row(const MemcpyTotals& totals) {
  OrderedJson row;
  row["kind"] = to_text(totals.kind);
  row["src"] = to_text(totals.source);
  row["dst"] = to_text(totals.destination);
  row["count"] = totals.count;
  row["bytes"] = totals.bytes;
  if (totals.timed != 0) row["total_ns"] = totals.total_ns;
  return row;
}

KernelTotals sum_of(const std::vector<KernelTotals>& rows, std::size_t first) {
  KernelTotals sum;
  BytesEstimate all;
  bool any_estimate = false;
  for (std::size_t i = first; i < rows.size(); ++i) {
    const KernelTotals& row = rows[i];
    if (row.timed != 0) {
      sum.min_ns = sum.timed == 0 ? row.min_ns : std::min(sum.min_ns, row.min_ns);
      sum.max_ns = std::max(sum.max_ns, row.max_ns);
    }
    sum.count += row.count;
    sum.timed += row.timed;
    sum.total_ns += row.total_ns;
    sum.counters += row.counters;
    const CounterTotals& measured = row.counters;
    const auto plain = [](std::uint64_t bytes) { return static_cast<double>(bytes); };
    all += row.estimate.value_or(BytesEstimate{row.launches_without_bytes() == 0,
                                               plain(measured.dram_read_bytes),
                                               plain(measured.dram_write_bytes), plain(measured.l2_bytes)});
    any_estimate = any_estimate || row.estimate;
  }
  if (any_estimate) sum.estimate = all;
  return sum;
}

void add_kernels(Document& document, const SummaryInput& input) {
  std::vector<KernelTotals> rows = input.totals.kernels();
  const bool capped = rows.size() > kSummaryKernels;
  if (capped) {
    rows[kSummaryKernels] = sum_of(rows, kSummaryKernels);
    rows.resize(kSummaryKernels + 1);
  }
  const KernelTotals* const other = capped ? &rows.back() : nullptr;
  document.array("kernels", rows, [&](const KernelTotals& row) {
    if (&row == other) return kernel_row(row, "(other)", "");
    const KernelNameRecord* const name = input.kernel_name(row.name);
    return name ? kernel_row(row, name->demangled, name->from_library) : kernel_row(row, "(unknown)", "");
  });
}

}  // namespace

std::string summary_json(const SummaryInput& input) {
  OrderedJson loss = OrderedJson::object(), cost = OrderedJson::object();
  for (std::size_t i = 0; i < input.loss.size(); ++i) {
    if (input.loss[i] != 0) loss[kLossCauses[i].name] = input.loss[i];
  }
  for (const auto& [key, member] : kOwnCostKeys) cost[std::string(key)] = input.own_cost.*member;

  const std::vector<PathTotals> paths = input.totals.paths();
  const RowContext context(input.gpus, input.totals);
  const std::vector<RowBytes> bytes = bytes_of(input, paths, context);
  std::vector<std::size_t> modules(paths.size() - 1);  // the last row: work outside of any range
  std::iota(modules.begin(), modules.end(), std::size_t{0});

  std::string out;
  reserve_large(out);
  Document document(out);
  document.member("schema", kSummarySchema);
  document.member("version", kSummaryVersion);
  document.member("final", input.final);
  document.member("live", true);  // removed by the tools, which compute modules again from the whole trace
  document.member("process", line_keys(input.header, {"t", "schema", "version", "segment"}));
  document.member("duration_ns", input.duration_ns);
  document.member("records", input.records);
  document.array("gpus", input.gpus, [](const GpuRecord& gpu) { return line_keys(gpu, {"t"}); });
  document.array("modules", modules,
                 [&](std::size_t i) { return module_row(input, paths[i], bytes[i], context); });
  document.member("outside", totals_row(paths.back(), bytes.back(), context));
  if (const OrderedJson sets = metric_sets_array(input.totals.groups()); !sets.empty()) {
    document.member("metric_sets", sets);
  }
  if (input.samples != nullptr && input.samples->any()) {
    document.member("samples", samples_object(*input.samples));
  }
  if (input.monitor != nullptr) document.member("monitor", monitor_of(input));
  if (input.conditions != nullptr && !input.conditions->subjects().empty())
    document.member("conditions", conditions_object(*input.conditions));
  add_kernels(document, input);
  document.array("memcpy", input.totals.copies(), copy_row);
  document.member("findings", OrderedJson::array());
  if (const OrderedJson truth = truth_object(truth_of(input)); !truth.is_null())
    document.member("truth", truth);
  document.member("loss", loss);
  document.member("own_cost", cost);
  document.close();
  return out;
}

LayerSummary layer_summary(const SummaryInput& input) {
  LayerSummary out;
  const std::vector<PathTotals> paths = input.totals.paths();
  const RowContext context(input.gpus, input.totals);
  const std::vector<RowBytes> bytes = bytes_of(input, paths, context);
  for (std::size_t i = 0; i + 1 < paths.size(); ++i) {
    out.modules.push_back(layer_row(paths[i], bytes[i], context));
    out.modules.back().path = path_text(input, paths[i].path);
  }
  out.outside = layer_row(paths.back(), bytes.back(), context);
  if (input.samples != nullptr && input.samples->any()) {
    const SampleTotals& samples = input.samples->totals();
    LayerSummary::Samples& shared = out.samples.emplace();
    shared.count = samples.samples;
    shared.unattributed.dram_read_bytes = samples.unattributed[kSharedDramRead];
    shared.unattributed.dram_write_bytes = samples.unattributed[kSharedDramWrite];
    shared.unattributed.l2_bytes = samples.unattributed[kSharedL2];
  }
  out.truth = truth_of(input);
  out.counters_reason = valid(input.header.counters_reason);
  if (input.monitor != nullptr) {
    out.monitor_windows = input.monitor->windows();
    out.monitor_window_ns = input.monitor->window_ns();
    out.monitor_observed_ns = input.monitor->observed_ns();
  }
  for (const MemcpyTotals& row : input.totals.copies()) out.copies += row.count;
  out.loss = loss_counts(input.loss);
  out.final = input.final;
  return out;
}

}  // namespace rangefinder
