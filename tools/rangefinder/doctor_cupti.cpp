// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "profiler/cupti/loader.h"
#include "tools/rangefinder/doctor_checks.h"
#include "tools/rangefinder/installation.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

using Candidates = std::vector<CuptiCandidate>;

/// Why CUPTI 13.0 is refused, although its driver version is accepted.
std::string why_refused(const CuptiFailure& failure) {
  constexpr std::uint32_t kFirst13 = 130'000;
  if (failure.version != kFirst13) return {};
  return ". 13.0 without an update crashes if NVTX is called before CUPTI, in flushes and with graphs.";
}

/// "in the toolkit" of the copy that was loaded; "": none was.
std::string taken_place(const Candidates& candidates) {
  const auto taken = std::find_if(candidates.begin(), candidates.end(), [](const CuptiCandidate& candidate) {
    return candidate.outcome == CuptiOutcome::taken;
  });
  return taken == candidates.end() ? "" : place_text(taken->place);
}

/// Whether it is a file that was not used. Not the override that a mapped copy replaces: the loader remarks
/// on it.
bool is_unused_copy(const CuptiCandidate& candidate) {
  if (candidate.place == CuptiPlace::linker) return false;
  if (candidate.outcome == CuptiOutcome::not_loaded) return true;
  return candidate.outcome == CuptiOutcome::not_tried && candidate.place != CuptiPlace::named;
}

void add_unused_copies(const Candidates& candidates, std::vector<HealthFinding>& out) {
  const std::string taken = taken_place(candidates);
  const std::string later =
      taken.empty() ? "RANGEFINDER_CUPTI names another" : "a copy " + taken + " comes first";
  for (const CuptiCandidate& candidate : candidates) {
    if (!is_unused_copy(candidate)) continue;
    const bool is_broken = candidate.outcome == CuptiOutcome::not_loaded;
    const std::string why = is_broken ? "cannot be loaded: " + candidate.error : later;
    out.push_back(
        {"other cupti", is_broken ? Health::warn : Health::ok,
         std::string("not used, ") + place_text(candidate.place) + ": " + candidate.path + " (" + why + ")",
         "", false});
  }
}

/// A line for each place without a libcupti: its folders, or the linker's answer.
void add_searched_places(const Candidates& candidates, std::vector<HealthFinding>& out) {
  const CuptiCandidate* before = nullptr;
  for (const CuptiCandidate& candidate : candidates) {
    const bool is_linker = candidate.place == CuptiPlace::linker;
    if (!is_linker && candidate.outcome != CuptiOutcome::absent) continue;
    const std::string text = is_linker ? candidate.error : fs::path(candidate.path).parent_path().string();
    if (before != nullptr && before->place == candidate.place) {
      out.back().text += ", " + text;
    } else {
      out.push_back({"cupti searched", Health::warn, place_text(candidate.place) + (": " + text), "", false});
    }
    before = &candidate;
  }
}

/// The line about the library for counters, which is beside libcupti.
HealthFinding counter_library(const std::string& cupti_path) {
  const fs::path counters = fs::path(cupti_path).parent_path() / "libnvperf_host.so";
  std::error_code ignored;
  if (fs::exists(counters, ignored)) return {"counters", Health::ok, counters.string(), "", false};
  return {"counters", Health::warn, "no libnvperf_host.so beside libcupti: times work, bytes do not",
          "Install the complete cuda-cupti-13-0 (Python: nvidia-cuda-cupti).", false};
}

}  // namespace

std::vector<HealthFinding> check_cupti() {
  CuptiLibrary library;
  CuptiFailure failure;
  Candidates candidates;
  const CuptiSearch wanted = wanted_cupti();
  const bool loaded = load_cupti(wanted, library, failure, &candidates);
  const std::string place = taken_place(candidates);
  std::vector<HealthFinding> out;
  if (loaded) {
    const std::string text = cupti_version_text(library.version) + ", " + place + ": " + library.path;
    out.push_back({"cupti", Health::ok, text, ""});
    if (!library.remark.empty()) out.push_back({"cupti", Health::warn, library.remark, "", false});
  } else {
    const std::string where = failure.path.empty() ? "" : " (" + place + ": " + failure.path + ")";
    out.push_back({"cupti", Health::no, "no usable libcupti" + where, failure.reason + why_refused(failure)});
  }
  add_unused_copies(candidates, out);
  if (place.empty() && wanted.path.empty()) add_searched_places(candidates, out);
  if (loaded) out.push_back(counter_library(library.path));
  return out;
}

HealthFinding check_pairing(int driver_version, const std::vector<HealthFinding>& cupti) {
  CuptiLibrary library;
  CuptiFailure failure;
  if (cupti.empty() || cupti.front().health == Health::no || driver_version == 0 ||
      !load_cupti(wanted_cupti(), library, failure)) {
    return {"pairing", Health::warn, "not known without driver and CUPTI", "", false};
  }
  // 13000 is the driver's 13.0, 130001 CUPTI's 13.0 Update 1.
  const std::uint32_t driver = static_cast<std::uint32_t>(driver_version) / 10, own = library.version / 100;
  const std::string text = "CUPTI " + cupti_version_text(library.version) + ", driver for CUDA " +
                           std::to_string(driver / 100) + "." + std::to_string(driver % 100);
  if (own <= driver) return {"pairing", Health::ok, text, "", false};
  return {"pairing", Health::warn, text + ": CUPTI is newer than the driver",
          "--probe reports what works. If counters are refused, use the driver's version of CUPTI or update "
          "the driver.",
          false};
}

}  // namespace rangefinder
