// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/summary_rewrite.h"

#include <array>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "tools/analysis/findings/findings.h"
#include "tools/analysis/model/regular_file.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/report/run_summary.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::array kSampledKeys{"dram_read_bytes", "dram_write_bytes", "l2_bytes"};

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

/// Matches by demangled name, as in the summary; several kernels may share one.
void put_kernels(OrderedJson& kernels, const TraceTotals& trace, const RowValues& values) {
  std::unordered_map<std::string, std::array<std::uint64_t, kSharedColumns>> by_name;
  for (const SampledKernel& kernel : values.sampled()->kernels) {
    const auto name = trace.kernel_names.find(kernel.name);
    if (name == trace.kernel_names.end()) continue;
    auto& sum = by_name[name->second.demangled];
    for (std::size_t i = 0; i < kSharedColumns; ++i) sum[i] += kernel.bytes[i];
  }
  for (OrderedJson& row : kernels) {
    const auto bytes = by_name.find(row.value("name", ""));
    if (bytes == by_name.end() || row.value("bytes_source", "") == "exact") continue;
    for (std::size_t i = 0; i < kSharedColumns; ++i) row[kSampledKeys[i]] = bytes->second[i];
    row["bytes_source"] = "sampled";
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
  if (values.sampled() == nullptr) return;
  if (summary.contains("kernels")) put_kernels(summary["kernels"], trace, values);
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
