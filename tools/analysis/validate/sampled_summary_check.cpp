// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/sampled_summary_check.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "schema/sample_record.h"
#include "tools/analysis/read/trace_reader.h"

namespace rangefinder {
namespace {

using nlohmann::json;

constexpr std::array kByteKeys{"dram_read_bytes", "dram_write_bytes", "l2_bytes"};
constexpr std::array kByteColumns{kSampleDramRead, kSampleDramWrite, kSampleL2};
using Bytes = std::array<std::uint64_t, kByteKeys.size()>;

class SampleSums final : public TraceVisitor {
 public:
  void line(const Line& line, const LinePlace&) override {
    const auto* const samples = std::get_if<SamplesRecord>(&line);
    if (samples == nullptr) return;
    for (const SampleRun& run : samples->runs) count += run.count;
    idle += samples->idle_samples;
    for (std::size_t c = 0; c < kByteColumns.size(); ++c) {
      std::uint64_t units = samples->idle_units[kByteColumns[c]];
      for (const std::uint32_t value : samples->columns[kByteColumns[c]]) units += value;
      bytes[c] += units * kSampleUnitBytes;
    }
  }
  void broken(std::string_view, const LinePlace&) override {}
  [[nodiscard]] bool judges() const override { return true; }

  std::uint64_t count = 0, idle = 0;
  Bytes bytes{};
};

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
Bytes distributed_bytes(const json& summary, const json& samples) {
  Bytes sums{};
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

}  // namespace

void check_sampled_summary(const TraceFolder& trace, const std::string& file, const json& summary,
                           ProblemLog& problems) {
  LineReader reader;
  SampleSums found;
  static_cast<void>(read_trace(trace, reader, found));
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
  const Bytes distributed = distributed_bytes(summary, samples);
  const bool exact = shows_exact_bytes(summary);
  for (std::size_t c = 0; c < kByteKeys.size(); ++c) {
    const std::uint64_t in_summary = number(all, kByteKeys[c]);
    compare(kByteKeys[c], in_summary, found.bytes[c], " in the trace");
    if (!exact)
      compare(kByteKeys[c], in_summary, distributed[c], " in its modules, outside of them and unattributed");
  }
}

}  // namespace rangefinder
