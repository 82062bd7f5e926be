// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/hints.h"

#include <algorithm>
#include <cmath>

#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

/// Runs that are longer by a larger factor are not suggested.
constexpr double kMaxRun = 100;

/// Rounded up: "20 times longer".
std::string times_longer(double run) {
  return count_text(static_cast<std::uint64_t>(std::max(2.0, std::ceil(run)))) + " times longer";
}

}  // namespace

std::string no_bytes_hint(const RecordedCounters& recorded) {
  if (recorded.refused) return "not measured";
  if (recorded.exact()) return "not measured: none of its launches was measured with --metrics bytes";
  if (!recorded.sampled()) return "not measured: record with --counters sampled";
  if (recorded.samples) return "not measured: no hardware sample overlaps it";
  return "not measured: no hardware sample was taken" +
         (recorded.sampling_ended.empty() ? "" : ": " + printable(recorded.sampling_ended));
}

std::string bytes_option(const RecordedCounters& recorded) {
  if (recorded.exact()) return "--metrics bytes";
  if (!recorded.sampled()) return "--counters sampled or exact";
  return recorded.samples ? "hardware samples that overlap its work"
                          : "hardware samples, of which none was taken";
}

std::string metrics_option(const RecordedCounters& recorded, std::string_view sets) {
  return (recorded.exact() ? "--metrics " : "--counters exact --metrics ") + std::string(sets);
}

std::string no_layers_hint(bool torch_modules) {
  return std::string("No layers: no module has a forward and a backward pass. ") +
         (torch_modules ? "Without" : "PyTorch: record with --torch-modules; without") +
         " training, see --section modules.";
}

void SampleNeed::add(const RowValues& values, const PathTotals& row) {
  const SampledTotals* const sampled = values.sampled();
  const SampledPath* const path = sampled == nullptr ? nullptr : sampled->find(row.path);
  if (path == nullptr) return;
  samples += path->inclusive_samples;
  for (const SharedColumn column : {kSharedDramRead, kSharedDramWrite}) {
    const BoundedBytes& of = path->inclusive[column];
    bytes += static_cast<double>(of.bytes);
    error += static_cast<double>(of.error_bytes);
    noise += of.noise_bytes;
    min_run = std::max(min_run, sampled->sharing[column].min_run);
  }
}

std::optional<double> SampleNeed::run() const noexcept {
  const double left = bytes - (error - noise);  // error of a longer run: noise / sqrt(run) + the rest
  const double run = min_run > 1 ? min_run : left > 0 ? noise * noise / (left * left) : kMaxRun + 1;
  return error > bytes && run <= kMaxRun ? std::optional(run) : std::nullopt;
}

std::string few_samples_hint(const SampleNeed& need) {
  const std::optional<double> run = need.run();
  if (need.samples == 0) return "no hardware sample overlaps it";
  if (!run)
    return "the error bound is above 100 % of it, with " +
           counted_text(need.samples, "hardware sample", "hardware samples");
  return "too few samples overlap it: " + count_text(need.samples) + "; run at least " + times_longer(*run);
}

void NoNumbers::add(const SampleNeed& need, std::string_view reason) {
  any_ = true;
  inseparable_ = inseparable_ || reason == kInseparable;
  if (reason != kTooShort) return;
  least_ = short_ == 0 ? need.samples : std::min(least_, need.samples);
  most_ = std::max(most_, need.samples);
  ++short_;
  const std::optional<double> run = need.run();
  if (!run) return;
  first_run_ = shown_later_ == 0 ? *run : std::min(first_run_, *run);
  last_run_ = std::max(last_run_, *run);
  ++shown_later_;
}

std::string NoNumbers::remark() const {
  if (!any_) return {};
  std::string out = "–: the error bound is above 100 % of the value.";
  if (short_ != 0) {
    out += " too short: too few samples overlap that work";
    if (most_ != 0)
      out += " (" + (least_ == most_ ? "" : count_text(least_) + " to ") + count_text(most_) + ")";
    out += ".";
  }
  if (shown_later_ != 0) {
    const std::string first = times_longer(first_run_), last = times_longer(last_run_);
    out += " A run at least " + first + " may show " + (short_ == 1 ? "it" : "the first of these rows");
    if (first != last) out += ", one " + last + " " + count_text(shown_later_) + " of " + count_text(short_);
    out += ".";
  }
  if (inseparable_) out += " inseparable: it always runs beside the same other work.";
  return out + "\n";
}

}  // namespace rangefinder
