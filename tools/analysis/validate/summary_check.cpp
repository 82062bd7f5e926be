// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/summary_check.h"

#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "schema/key_names.h"
#include "tools/analysis/tables/rows_json.h"
#include "tools/analysis/validate/sampled_summary_check.h"

namespace rangefinder {
namespace {

using nlohmann::json;
using Values = std::map<std::string, std::uint64_t>;
using Rows = std::map<std::string, Values>;  // by path or kernel name

constexpr std::array kModuleFields{"calls",         "kernels",         "gpu_ns",           "gpu_ns_exclusive",
                                   "host_ns",       "dram_read_bytes", "dram_write_bytes", "l2_bytes",
                                   "declared_bytes"};
constexpr std::array kKernelFields{"count", "total_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"};

constexpr std::array kCopyFields{"count", "bytes", "total_ns"};

bool is_bytes(std::string_view field) {
  return field == "dram_read_bytes" || field == "dram_write_bytes" || field == "l2_bytes";
}

/// Adds up rows with equal names: two domains may have ranges with the same path text.
template <typename Object, std::size_t N>
void add_row(Rows& rows, const std::string& name, const Object& row,
             const std::array<const char*, N>& fields) {
  Values& values = rows[name];
  const auto source = row.find("bytes_source");
  const bool sampled = source != row.end() && *source == "sampled";
  for (const char* const field : fields) {
    const auto it = row.find(field);
    if (sampled && is_bytes(field)) continue;  // sampled: check_sampled_summary() compares the sums
    values[field] += it != row.end() && it->is_number_integer() ? it->template get<std::uint64_t>() : 0;
  }
  const auto copies = row.find("memcpy_bytes");
  if (copies == row.end() || !copies->is_object()) return;
  for (const auto& [kind, bytes] : copies->items()) {
    if (bytes.is_number_integer()) values["memcpy_bytes." + kind] += bytes.template get<std::uint64_t>();
  }
}

template <std::size_t N>
void add_rows(Rows& rows, const json& list, const char* key, const std::array<const char*, N>& fields) {
  if (!list.is_array()) return;
  for (const json& row : list) {
    const auto name = row.is_object() ? row.find(key) : row.end();
    if (name != row.end() && name->is_string()) add_row(rows, name->get<std::string>(), row, fields);
  }
}

void compare_values(const std::string& file, const std::string& name, const Values& reported,
                    const Values& found, ProblemLog& problems) {
  Values all = reported;
  all.insert(found.begin(), found.end());
  for (const auto& [field, unused] : all) {
    const auto a = reported.find(field);
    const auto b = found.find(field);
    const std::uint64_t in_summary = a == reported.end() ? 0 : a->second;
    const std::uint64_t in_trace = b == found.end() ? 0 : b->second;
    if (in_summary == in_trace) continue;
    problems.add_at(file, "summary",
                    field + " of " + name + " is " + std::to_string(in_summary) + " in the summary, " +
                        std::to_string(in_trace) + " in the trace");
  }
}

void compare_rows(const std::string& file, const char* what, const Rows& reported, const Rows& found,
                  ProblemLog& problems) {
  for (const auto& [name, values] : found) {
    const auto it = reported.find(name);
    if (it == reported.end()) {
      problems.add_at(file, "summary",
                      std::string(what) + " " + name + " is in the trace but not in the summary");
    } else {
      compare_values(file, name, it->second, values, problems);
    }
  }
  for (const auto& [name, values] : reported) {
    if (found.count(name) == 0) {
      problems.add_at(file, "summary",
                      std::string(what) + " " + name + " is in the summary but not in the trace");
    }
  }
}

void compare_modules(const std::string& file, const TraceTotals& trace, const json& summary,
                     ProblemLog& problems) {
  Rows reported, found;
  add_rows(reported, summary.value("modules", json::array()), "path", kModuleFields);
  if (const auto outside = summary.find("outside"); outside != summary.end() && outside->is_object()) {
    add_row(reported, "(outside of any range)", *outside, kModuleFields);
  }
  const RowValues values(trace);
  for (const PathTotals& row : trace.totals.paths()) {
    const std::string name = row.path == 0 ? "(outside of any range)" : trace.path_text(row.path);
    add_row(found, name, module_row(row, name, values), kModuleFields);
  }
  reported["(outside of any range)"];  // a summary may omit it when it is empty
  compare_rows(file, "path", reported, found, problems);
}

void compare_kernels(const std::string& file, const TraceTotals& trace, const json& summary,
                     ProblemLog& problems) {
  Rows reported, found;
  add_rows(reported, summary.value("kernels", json::array()), "name", kKernelFields);
  const RowValues values(trace);
  for (const KernelTotals& row : trace.totals.kernels()) {
    const auto name = trace.kernel_names.find(row.name);
    if (name == trace.kernel_names.end()) continue;
    const auto object = kernel_row(row, &name->second, values);
    add_row(found, name->second.demangled, object, kKernelFields);
  }
  // The summary combines all but the heaviest kernels in one row.
  const bool capped = reported.erase("(other)") != 0;
  reported.erase("(unknown)");
  if (capped) return;  // kernels of one demangled name may be on both sides of the cut
  compare_rows(file, "kernel", reported, found, problems);
}

template <typename Object>
std::string copy_name(const Object& row) {
  std::string name = "copies";
  for (const char* const key : {"kind", "src", "dst"}) {
    const auto it = row.find(key);
    name += " " + (it != row.end() && it->is_string() ? it->template get<std::string>() : std::string("?"));
  }
  return name;
}

void compare_copies(const std::string& file, const TraceTotals& trace, const json& summary,
                    ProblemLog& problems) {
  Rows reported, found;
  if (const auto list = summary.find("memcpy"); list != summary.end() && list->is_array()) {
    for (const json& row : *list) {
      if (row.is_object()) add_row(reported, copy_name(row), row, kCopyFields);
    }
  }
  for (const MemcpyTotals& totals : trace.totals.copies()) {
    const auto row = copy_row(totals);
    add_row(found, copy_name(row), row, kCopyFields);
  }
  compare_rows(file, "row of", reported, found, problems);
}

void compare_loss(const std::string& file, const TraceTotals& trace, const json& summary,
                  ProblemLog& problems) {
  Values reported, found;
  if (const auto loss = summary.find("loss"); loss != summary.end() && loss->is_object()) {
    for (const auto& [cause, n] : loss->items()) {
      if (n.is_number_integer()) reported[cause] = n.get<std::uint64_t>();
    }
  }
  for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
    if (trace.loss[i] != 0) found[kLossCauses[i].name] = trace.loss[i];
  }
  compare_values(file, "loss", reported, found, problems);
}

/// Exact mode only: the truth of samples is known only after their attribution.
void compare_truth(const TraceTotals& trace, ProblemLog& problems) {
  const CopyTruth& found = trace.totals.truth();
  if (!trace.end || (trace.samples_lines != 0 && found.copies == 0)) return;
  for (const auto& [key, member] : kTruthKeys) {
    const std::uint64_t in_end_line = trace.end->truth.*member;
    if (in_end_line == found.*member) continue;
    problems.add_at(trace.files.folder.string(), "truth",
                    std::string(key) + " is " + std::to_string(in_end_line) + " in the end line, " +
                        std::to_string(found.*member) + " by the copies in the trace");
  }
}

bool lines_lost(const TraceTotals& trace) {
  const auto lost = [&](Loss cause) { return trace.loss[static_cast<std::size_t>(cause)]; };
  return lost(Loss::lines_not_written) + lost(Loss::lines_over_max_size) + lost(Loss::record_sink_errors) > 0;
}

}  // namespace

std::string check_summary(const TraceTotals& trace, ProblemLog& problems) {
  if (!lines_lost(trace)) compare_truth(trace, problems);
  const std::string file = (trace.files.folder / "summary.json").string();
  if (!trace.files.has_summary) return "there is no summary.json to compare with";
  std::ifstream stream(file);
  const json summary = json::parse(stream, nullptr, false);
  if (!summary.is_object() || summary.value("schema", json()) != json(kSummarySchema)) {
    problems.add_at(file, "summary", "is no JSON object with \"schema\": \"rangefinder.summary\"");
    return {};
  }
  if (!trace.read.incomplete.empty()) return {};  // reported already
  if (summary.value("final", json()) != json(true) || !trace.end) {
    return "summary.json was written before the program ended, so it is not compared";
  }
  if (lines_lost(trace)) {
    return "lines are missing according to the ledger, so summary.json is not compared";
  }
  compare_modules(file, trace, summary, problems);
  compare_kernels(file, trace, summary, problems);
  compare_copies(file, trace, summary, problems);
  compare_loss(file, trace, summary, problems);
  if (trace.samples_lines != 0 || summary.contains("samples")) {
    check_sampled_summary(trace.files, file, summary, problems);
  }
  return {};
}

}  // namespace rangefinder
