// SPDX-License-Identifier: Apache-2.0
//
// A summary.json with what could not be known while the program ran: sampled bytes, unmixed.
//
//   summary.json (bytes shared by time) ─┐
//   trace beside it ─▶ SampledTrace ─────┴▶ summary.json: modules, outside, kernels, samples, truth
//
// Refuses, and leaves the file as it is, where the trace does not hold all that the summary does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rangefinder {

/// Above this a trace is not read again when the program ends: its user waits for the prompt.
inline constexpr std::uint64_t kMostBytesToShare = 2'000'000'000;

/// Of a trace without samples nothing is changed. Returns why the live bytes were kept, "" if they were
/// not or there are none. Never throws for what is in the files.
[[nodiscard]] std::string share_samples(const std::filesystem::path& folder,
                                        std::uint64_t most_bytes = kMostBytesToShare);

}  // namespace rangefinder
