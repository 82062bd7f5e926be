// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/summary_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "schema/key_names.h"
#include "schema/sample_record.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/range_names.h"
#include "tools/analysis/model/regular_file.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

using nlohmann::json;
using Values = std::map<std::string, std::uint64_t>;
using ValuesByName = std::map<std::string, Values>;  // by path or kernel name

constexpr std::array kModuleFields{"calls",         "kernels",         "gpu_ns",           "gpu_ns_exclusive",
                                   "host_ns",       "dram_read_bytes", "dram_write_bytes", "l2_bytes",
                                   "declared_bytes"};
constexpr std::array kKernelFields{"count", "total_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"};

constexpr std::array kCopyFields{"count", "bytes", "total_ns"};
constexpr std::array kByteKeys{"dram_read_bytes", "dram_write_bytes", "l2_bytes"};
constexpr std::array kByteColumns{kSampleDramRead, kSampleDramWrite, kSampleL2};

/// Version 1.MINOR or later, of "1.0" to "1.9".
bool is_since(const json& summary, char minor) {
  const json version = summary.value("version", json());
  return version.is_string() && version.get<std::string>() >= std::string("1.") + minor;
}

/// Adds up rows with equal names: two domains may have ranges with the same path text.
template <typename Object>
void add_row(ValuesByName& rows, const std::string& name, const Object& row,
             std::span<const char* const> fields) {
  Values& values = rows[name];
  const auto source = row.find("bytes_source");
  const bool sampled = source != row.end() && *source == "sampled";
  for (const char* const field : fields) {
    const auto it = row.find(field);
    // compare_samples() compares the sums of sampled ones.
    if (sampled && std::find(kByteKeys.begin(), kByteKeys.end(), std::string_view(field)) != kByteKeys.end())
      continue;
    values[field] += it != row.end() && it->is_number_integer() ? it->template get<std::uint64_t>() : 0;
  }
  const auto copies = row.find("memcpy_bytes");
  if (copies == row.end() || !copies->is_object()) return;
  for (const auto& [kind, bytes] : copies->items()) {
    if (bytes.is_number_integer()) values["memcpy_bytes." + kind] += bytes.template get<std::uint64_t>();
  }
}

void add_rows(ValuesByName& rows, const json& list, const char* key, std::span<const char* const> fields) {
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
  const auto value = [](const Values& values, const std::string& field) {
    const auto it = values.find(field);
    return it == values.end() ? 0 : it->second;
  };
  for (const auto& [field, unused] : all) {
    const std::uint64_t in_summary = value(reported, field), in_trace = value(found, field);
    if (in_summary == in_trace) continue;
    problems.add_at(file, "summary",
                    field + " of " + name + " is " + std::to_string(in_summary) + " in the summary, " +
                        std::to_string(in_trace) + " in the trace");
  }
}

void compare_rows(const std::string& file, const char* what, const ValuesByName& reported,
                  const ValuesByName& found, ProblemLog& problems) {
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
  ValuesByName reported, found;
  add_rows(reported, summary.value("modules", json::array()), "path", kModuleFields);
  if (const auto outside = summary.find("outside"); outside != summary.end() && outside->is_object()) {
    add_row(reported, "(outside of any range)", *outside, kModuleFields);
  }
  const RowValues values(trace);
  for (const PathTotals& row : trace.totals.paths()) {
    const std::string name = row.path == 0 ? "(outside of any range)" : trace.path_text(row.path);
    add_row(found, name, module_row(row, trace, values), kModuleFields);
  }
  reported["(outside of any range)"];  // a summary may omit it when it is empty
  compare_rows(file, "path", reported, found, problems);
}

void compare_kernels(const std::string& file, const TraceTotals& trace, const json& summary,
                     ProblemLog& problems) {
  ValuesByName reported, found;
  add_rows(reported, summary.value("kernels", json::array()), "name", kKernelFields);
  const RowValues values(trace);
  const bool estimates = is_since(summary, '3');  // before, sums over the measured launches
  for (KernelTotals row : trace.totals.kernels()) {
    if (!estimates) row.estimate.reset();
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
  ValuesByName reported, found;
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

/// Exact mode only: the truth of samples exists only after their attribution.
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

std::uint64_t number(const json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<std::uint64_t>() : 0;
}

json member(const json& object, const char* key) {
  return object.is_object() ? object.value(key, json()) : json();
}

/// Exact bytes replace a module's sampled ones, which the summary then does not have.
bool shows_exact_bytes(const json& summary) {
  const auto is_exact = [](const json& row) { return member(row, "bytes_source") == "exact"; };
  const json modules = member(summary, "modules");
  return is_exact(member(summary, "outside")) || std::any_of(modules.begin(), modules.end(), is_exact);
}

/// The sum of attributed and unattributed bytes in the summary, without bytes estimated for lost samples.
SampleSums::Bytes distributed_bytes(const json& summary, const json& samples) {
  SampleSums::Bytes sums{};
  const auto add = [&](const json& row) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += number(row, kByteKeys[c]);
  };
  const auto is_sampled = [](const json& row) { return member(row, "bytes_source") == "sampled"; };
  const json modules = member(summary, "modules");
  for (const json& row : modules) {
    if (number(row, "depth") == 1 && is_sampled(row)) add(row);
  }
  if (const json outside = member(summary, "outside"); is_sampled(outside)) add(outside);
  add(member(samples, "unattributed"));
  const json estimated = member(samples, "estimated");
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] -= number(estimated, kByteKeys[c]);
  return sums;
}

/// No sampled byte is lost: the samples' bytes equal those in the summary, and these equal the sum over
/// outermost modules, work outside of any range and unattributed bytes.
void compare_samples(const std::string& file, const SampleSums& found, const json& summary,
                     ProblemLog& problems) {
  const json samples = member(summary, "samples");
  const auto compare = [&](const std::string& what, std::uint64_t in_summary, std::uint64_t sum,
                           const char* where) {
    if (in_summary == sum) return;
    problems.add_at(file, "summary",
                    what + " of samples: " + std::to_string(in_summary) + " in the summary, " +
                        std::to_string(sum) + where);
  };
  compare("count", number(samples, "count"), found.count, " in the trace");
  compare("idle", number(samples, "idle"), found.idle, " in the trace");
  const json all = member(samples, "all");
  const SampleSums::Bytes distributed = distributed_bytes(summary, samples);
  const bool exact = shows_exact_bytes(summary);
  for (std::size_t c = 0; c < kByteKeys.size(); ++c) {
    const std::uint64_t in_summary = number(all, kByteKeys[c]);
    compare(kByteKeys[c], in_summary, found.bytes[c], " in the trace");
    if (!exact)
      compare(kByteKeys[c], in_summary, distributed[c], " in its modules, outside of them and unattributed");
  }
}

/// Version 1.2 or later without "live".
bool is_completed(const json& summary) {
  return summary.is_object() && !summary.contains("live") && is_since(summary, '2');
}

/// Completed before reports read the names that frameworks give.
bool has_unread_names(const json& summary) {
  const json modules = member(summary, "modules");
  return is_completed(summary) && std::any_of(modules.begin(), modules.end(), [](const json& row) {
           const json path = member(row, "path");
           return path.is_string() && meaning_of(path.get<std::string>());
         });
}

std::string compare_summary(const TraceTotals& trace, const SampleSums& samples, const json& summary,
                            ProblemLog& problems) {
  if (!lines_lost(trace.loss)) compare_truth(trace, problems);
  const std::string file = (trace.files.folder / "summary.json").string();
  if (!trace.files.has_summary) return "there is no summary.json to compare with";
  if (!summary.is_object() || summary.value("schema", json()) != json(kSummarySchema)) {
    problems.add_at(file, "summary", "is no JSON object with \"schema\": \"rangefinder.summary\"");
    return {};
  }
  if (!trace.read.incomplete.empty()) return {};  // reported already
  if (summary.value("final", json()) != json(true) || !trace.end) {
    return "summary.json was written before the program ended, so it is not compared";
  }
  if (lines_lost(trace.loss)) {
    return "lines are missing according to the ledger, so summary.json is not compared";
  }
  if (has_unread_names(summary)) {
    return "summary.json has names that reports read since, so it is not compared: finalize writes it anew";
  }
  compare_modules(file, trace, summary, problems);
  compare_kernels(file, trace, summary, problems);
  compare_copies(file, trace, summary, problems);
  compare_loss(file, trace, summary, problems);
  if (trace.samples_lines != 0 || summary.contains("samples")) {
    compare_samples(file, samples, summary, problems);
  }
  return {};
}

}  // namespace

void SampleSums::add(const SamplesRecord& samples) {
  for (const SampleRun& run : samples.runs) count += run.count;
  idle += samples.idle_samples;
  for (std::size_t c = 0; c < kByteColumns.size(); ++c) {
    std::uint64_t units = samples.idle_units[kByteColumns[c]];
    for (const std::uint32_t value : samples.columns[kByteColumns[c]]) units += value;
    bytes[c] += units * kSampleUnitBytes;
  }
}

SummaryCheck::SummaryCheck(const TraceFolder& files)
    : summary_(files.has_summary ? read_json_file<json>(files.folder / "summary.json") : json()) {
  if (is_completed(summary_)) shown_.emplace();
  trace_.files = files;
}

void SummaryCheck::line(const Line& line) {
  if (const auto* const samples = std::get_if<SamplesRecord>(&line)) samples_.add(*samples);
  if (times_of(line).reversed()) return broken();
  if (const auto* const header = std::get_if<Header>(&line)) {
    if (!first_) first_ = *header;
    refused_ = refused_ || header->pid != first_->pid || header->host != first_->host ||
               header->base_unix_ns != first_->base_unix_ns;
  }
  refused_ = refused_ || !first_;
  if (refused_) return;
  if (!shown_) return fold_.add(line);
  Line shown = line;
  shown_->each_shown(shown, [this](const Line& one) { fold_.add(one); });
}

std::string SummaryCheck::finish(const ReadSummary& read, ProblemLog& problems) {
  if (refused_) return {};
  fold_.finish();
  trace_.read = read;
  if (trace_.end) trace_.loss = trace_.end->loss;
  return compare_summary(trace_, samples_, summary_, problems);
}

}  // namespace rangefinder
