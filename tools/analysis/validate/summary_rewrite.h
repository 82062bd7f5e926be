// SPDX-License-Identifier: Apache-2.0
//
// Completes summary.json after the program ended: modules under the names and with the values of the report,
// and the findings of the rules.
//
//   summary.json ("live": names as recorded) ───┐
//   trace beside it ─▶ WholeTrace, read once ───┴▶ summary.json: modules, outside, findings
//                                                   if sampled: kernels, samples, truth
//
// Leaves the file unchanged if the trace does not have all lines that the summary counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace rangefinder {

/// A larger trace is not read again when the program ends, because the user waits for the prompt.
inline constexpr std::uint64_t kMaxBytesToRead = 1'000'000'000;

class WholeTrace;
struct RunSummary;

using SeeRunSummary = std::function<void(WholeTrace&, const RunSummary&)>;

/// Returns the reason if something was not completed, otherwise "". `see` gets the trace that was read for
/// it. Never throws because of file contents.
[[nodiscard]] std::string complete_summary(const std::filesystem::path& folder,
                                           std::uint64_t max_bytes = kMaxBytesToRead,
                                           const SeeRunSummary& see = {});

}  // namespace rangefinder
