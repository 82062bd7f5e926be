// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/cut_end.h"

#include <algorithm>
#include <system_error>

#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "schema/key_names.h"
#include "schema/loss.h"
#include "tools/analysis/model/regular_file.h"

namespace rangefinder {
namespace {

using nlohmann::json;

std::uint64_t number_in(const json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at != object.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

bool counts_lost_lines(const json& summary) {
  const json loss = summary.value("loss", json::object());
  for (const Loss cause : {Loss::lines_not_written, Loss::lines_over_max_size, Loss::record_sink_errors}) {
    if (number_in(loss, kLossCauses[static_cast<std::size_t>(cause)].name) != 0) return true;
  }
  return false;
}

std::uint64_t kernels_in(const json& summary) {
  std::uint64_t sum = 0;
  const auto rows = summary.find("kernels");
  if (rows == summary.end() || !rows->is_array()) return 0;
  for (const json& row : *rows) sum += number_in(row, "count");
  return sum;
}

std::string part_text(std::uint64_t found, std::uint64_t all, const char* what) {
  return count_text(found) + " of " + count_text(all) + " " + what;
}

}  // namespace

CutEndCheck::CutEndCheck(const TraceFolder& trace) {
  if (trace.whole && trace.has_summary) file_ = trace.folder / "summary.json";
  written_ = time();
}

std::optional<std::filesystem::file_time_type> CutEndCheck::time() const {
  std::error_code error;
  const auto out = std::filesystem::last_write_time(file_, error);
  return error ? std::nullopt : std::optional(out);
}

CutEnd CutEndCheck::judge(const SeenLines& seen) const {
  if (!written_) return {};
  const auto summary = read_json_file<json>(file_);
  if (!summary.is_object() || summary.value("schema", json()) != json(kSummarySchema) || time() != written_)
    return {};
  const bool final = summary.value("final", json()) == json(true);
  const std::uint64_t events = counts_lost_lines(summary) ? 0 : number_in(summary, "records");
  if (!final && events <= seen.events) return {};

  CutEnd out;
  out.lines = events - std::min(events, seen.events);
  out.text = final ? "incomplete: summary.json is from the end of the recording, and there is no end line"
                   : "incomplete: summary.json counts lines that are not there";
  if (out.lines == 0) return out;
  const std::uint64_t kernels = std::max(kernels_in(summary), seen.kernels);
  out.text += "; the segments hold " + part_text(seen.events, events, "event lines") + " and " +
              part_text(seen.kernels, kernels, "kernels") + ", up to " +
              duration_text(static_cast<std::uint64_t>(std::max<TimeNs>(seen.last_ns, 0))) + " of " +
              duration_text(number_in(summary, "duration_ns"));
  return out;
}

}  // namespace rangefinder
