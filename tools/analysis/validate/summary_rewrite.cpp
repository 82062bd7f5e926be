// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/summary_rewrite.h"

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "tools/analysis/findings/findings.h"
#include "tools/analysis/model/regular_file.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/report/run_summary.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::array kBytesKeys{"dram_read_bytes", "dram_write_bytes",  "l2_bytes",
                                "bytes_source",    "measured_launches", "bytes_estimated"};

/// One member per line, and one array element per line, as the application writes it.
std::string document_text(const OrderedJson& summary) {
  std::string out = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : summary.items()) {
    out += separator + compact_json(key) + ": ";
    separator = ",\n";
    if (!value.is_array() || value.empty()) {
      out += compact_json(value);
      continue;
    }
    const char* between = "[\n";
    for (const OrderedJson& element : value) {
      out += between + compact_json(element);
      between = ",\n";
    }
    out += "\n]";
  }
  return out + "\n}\n";
}

bool replace_file(const fs::path& file, const std::string& text) {
  fs::path temporary = file;
  temporary += ".tmp";
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  std::error_code error;
  if (stream) fs::rename(temporary, file, error);
  if (stream && !error) return true;
  fs::remove(temporary, error);
  return false;
}

/// Rows of the summary are those of kernels(), in the same order; the last may be the sum of the others.
void put_kernels(OrderedJson& rows, const TraceTotals& trace, const RowValues& values) {
  const std::vector<KernelTotals> kernels = trace.totals.kernels();
  for (std::size_t i = 0; i < std::min(rows.size(), kernels.size()); ++i) {
    const auto name = trace.kernel_names.find(kernels[i].name);
    if (name == trace.kernel_names.end() || rows[i].value("name", "") != name->second.demangled) continue;
    const OrderedJson row = kernel_row(kernels[i], &name->second, values);
    for (const char* const key : kBytesKeys) {
      if (const auto value = row.find(key); value != row.end())
        rows[i][key] = *value;
      else
        rows[i].erase(key);
    }
  }
}

void put_rows(OrderedJson& summary, const TraceTotals& trace, const RowValues& values) {
  OrderedJson modules = OrderedJson::array();
  for (const PathTotals& row : trace.totals.paths()) {
    if (row.path != 0) {
      modules.push_back(module_row(row, trace, values));
      continue;
    }
    OrderedJson outside{{"depth", row.depth}, {"calls", row.calls}};
    outside.update(module_row(row, trace, values));
    summary["outside"] = std::move(outside);
  }
  summary["modules"] = std::move(modules);
  if (summary.contains("kernels")) put_kernels(summary["kernels"], trace, values);
  if (values.sampled() == nullptr) return;
  summary["samples"] = samples_object(trace, *values.sampled());
  if (OrderedJson truth = truth_object(values.truth()); !truth.is_null()) summary["truth"] = std::move(truth);
}

std::string complete(const fs::path& folder, std::uint64_t max_bytes, const SeeRunSummary& see) {
  const fs::path file = folder / "summary.json";
  auto summary = read_json_file<OrderedJson>(file);
  if (!summary.is_object()) return {};
  const std::vector<TraceFolder> traces = find_traces(folder.string());
  if (traces.size() != 1 || traces.front().segments.empty()) return {};
  if (bytes_of(traces.front()) > max_bytes) {
    return "the trace is large, so summary.json keeps what the program wrote last, without findings; "
           "`rangefinder report` computes them";
  }
  WholeTrace whole(traces.front(), RunSummaryReader::kColumns);
  const TraceTotals& trace = whole.totals();
  const RunSummary run = run_summary_of(whole);
  if (see) see(whole, run);
  const auto lost = [&](Loss cause) { return trace.loss[static_cast<std::size_t>(cause)]; };
  if (!trace.end || lost(Loss::lines_not_written) + lost(Loss::lines_over_max_size) != 0)
    return "the trace is not complete, so summary.json keeps what the program wrote last";
  summary["findings"] = findings_json(run.findings);
  if (auto by_iteration = iteration_conditions_json(run);
      !by_iteration.is_null() && summary.contains("conditions"))
    summary["conditions"]["iterations"] = std::move(by_iteration);
  put_rows(summary, trace, whole.values());
  summary["version"] = kSummaryVersion;
  summary.erase("live");
  if (!replace_file(file, document_text(summary))) return "summary.json could not be replaced";
  return {};
}

}  // namespace

std::string complete_summary(const fs::path& folder, std::uint64_t max_bytes, const SeeRunSummary& see) {
  try {
    return complete(folder, max_bytes, see);
  } catch (const std::exception& error) {
    return std::string("the summary was not completed: ") + error.what();
  }
}

}  // namespace rangefinder
