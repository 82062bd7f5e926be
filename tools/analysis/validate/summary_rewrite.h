// SPDX-License-Identifier: Apache-2.0
//
// A summary.json with what could not be known while the program ran: sampled bytes, unmixed, and
// what the rules find.
//
//   summary.json (bytes shared by time, no findings) ─┐
//   trace beside it ─▶ one reading ─▶ FindingRules ───┼▶ summary.json: findings
//                           └─▶ SampledTrace ─────────┴▶ modules, outside, kernels, samples, truth
//
// Refuses, and leaves the file as it is, where the trace does not hold all that the summary does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rangefinder {

/// Above this a trace is not read again when the program ends: its user waits for the prompt.
inline constexpr std::uint64_t kMaxBytesToRead = 1'000'000'000;

/// Returns why something was left as it was, "" if nothing was. Never throws for what is in the files.
[[nodiscard]] std::string complete_summary(const std::filesystem::path& folder,
                                           std::uint64_t max_bytes = kMaxBytesToRead);

}  // namespace rangefinder
