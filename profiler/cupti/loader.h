// SPDX-License-Identifier: Apache-2.0
//
// Finds libcupti and fills the table of functions.
//
//   override ─▶ already mapped? ─▶ beside torch ─▶ toolkit ─▶ the linker's default
//
// A second copy beside one that is mapped already would collide with it over the one
// subscriber that CUPTI allows, so a mapped copy always wins, with a remark if the
// user had named another. Loads nothing else, calls only cuptiGetVersion.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/cupti/functions.h"

namespace rangefinder {

struct CuptiLibrary {
  CuptiFunctions functions;
  std::string path;           ///< as mapped, symbolic links not resolved
  std::uint32_t version = 0;  ///< cuptiGetVersion: 130001 is CUDA 13.0 Update 1
  std::string remark;         ///< something the user should know although loading worked
  std::string no_counters;    ///< why none of its counter functions may be called; empty: they may
};

/// Why there is no CUPTI, as one sentence with the cure.
struct CuptiFailure {
  std::string reason;
  std::string path;           ///< of the library that was found and refused; else empty
  std::uint32_t version = 0;  ///< its version; else 0
};

/// Loads libcupti into `library`. False: `failure` says why; nothing stays half loaded.
/// `override_path`: from RANGEFINDER_CUPTI, may be empty. Never unloads what it loaded.
[[nodiscard]] bool load_cupti(const std::string& override_path, CuptiLibrary& library, CuptiFailure& failure);

/// Loads libnvperf_host.so from libcupti's folder: libcupti opens it by its bare name when the
/// first counter function is called, and has no search path of its own.
void preload_counter_library(const CuptiLibrary& library);

/// "13.0 Update 1" for 130001.
[[nodiscard]] std::string cupti_version_text(std::uint32_t version);

/// CUPTI's own words for a result, as in "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES".
[[nodiscard]] std::string cupti_result_text(const CuptiFunctions& cupti, CUptiResult result);

}  // namespace rangefinder
