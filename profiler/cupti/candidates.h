// SPDX-License-Identifier: Apache-2.0
//
// Where copies of libcupti may be, in the order in which the loader tries them.
//
//   already loaded ─▶ RANGEFINDER_CUPTI ─▶ beside PyTorch ─▶ Python environment ─▶ toolkit ─▶ linker's path
//
// Only checks which files exist: loads nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rangefinder {

inline constexpr char kCuptiSoname[] = "libcupti.so.13";

enum class CuptiPlace : std::uint8_t { loaded, named, beside_torch, environment, toolkit, linker };
enum class CuptiOutcome : std::uint8_t { not_tried, absent, not_loaded, taken };

struct CuptiCandidate {
  CuptiPlace place{};
  std::string path;  ///< of CuptiPlace::linker: only the soname
  CuptiOutcome outcome = CuptiOutcome::not_tried;
  std::string error;  ///< of CuptiOutcome::not_loaded: the dynamic linker's reason
};

/// Where the user wants libcupti from. Empty: anywhere.
struct CuptiSearch {
  std::string path = {};    ///< RANGEFINDER_CUPTI: of the file
  std::string folder = {};  ///< RANGEFINDER_CUPTI_FOLDER: of the Python environment
};

/// "in the toolkit": follows "a copy".
[[nodiscard]] const char* place_text(CuptiPlace place) noexcept;

/// All candidates, `absent` or `not_tried`. One file is listed once, whatever its names.
/// `loaded_path`: the copy that the process has mapped; may be empty.
[[nodiscard]] std::vector<CuptiCandidate> cupti_candidates(const std::string& loaded_path,
                                                           const CuptiSearch& search);

}  // namespace rangefinder
