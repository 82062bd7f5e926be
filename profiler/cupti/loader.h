// SPDX-License-Identifier: Apache-2.0
//
// Finds libcupti and fills the table of functions.
//
//   already mapped? ─▶ override? ─▶ the first of candidates.h that can be loaded ─▶ version, functions
//
// CUPTI allows one subscriber, so a second copy beside a mapped one would conflict with it.
// A mapped copy is therefore always used, with a remark if the user named another one.
// Loads nothing else, calls only cuptiGetVersion.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/cupti/candidates.h"
#include "profiler/cupti/functions.h"

namespace rangefinder {

struct CuptiLibrary {
  CuptiFunctions functions;
  std::string path;           ///< as mapped, symbolic links not resolved
  std::uint32_t version = 0;  ///< cuptiGetVersion: 130001 is CUDA 13.0 Update 1
  std::string remark;         ///< note for the user although loading succeeded; may be empty
  std::string no_counters;    ///< why its counter functions must not be called; empty: they may be
};

/// Why CUPTI is not available, as one sentence that says how to fix it.
struct CuptiFailure {
  std::string reason;
  std::string path;           ///< of the library that was found and refused; else empty
  std::uint32_t version = 0;  ///< its version; else 0
};

/// Loads libcupti into `library`. False: `failure` says why, and `library` must not be used.
/// `candidates`, if not null: every place, with its
/// outcome; a copy that was loaded and then refused is `taken` too. Never unloads a library.
[[nodiscard]] bool load_cupti(const CuptiSearch& search, CuptiLibrary& library, CuptiFailure& failure,
                              std::vector<CuptiCandidate>* candidates = nullptr);

/// Loads libnvperf_host.so from libcupti's folder: libcupti opens it by its bare name at the first
/// counter call, and has no search path of its own.
void preload_counter_library(const CuptiLibrary& library);

/// "13.0 Update 1" for 130001.
[[nodiscard]] std::string cupti_version_text(std::uint32_t version);

/// CUPTI's own text for a result, for example "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES".
[[nodiscard]] std::string cupti_result_text(const CuptiFunctions& cupti, CUptiResult result);

}  // namespace rangefinder
