// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "profiler/base/number_text.h"
#include "profiler/cupti/loader.h"
#include "profiler/cupti/places.h"
#include "tools/analysis/read/missing.h"
#include "tools/rangefinder/doctor_checks.h"
#include "tools/rangefinder/forked_question.h"
#include "tools/rangefinder/installation.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The effective capability that concerns counters: "CAP_SYS_ADMIN", "CAP_PERFMON" or "".
std::string counter_capability(const MachineFiles& files) {
  constexpr unsigned kSysAdmin = 21, kPerfmon = 38;
  const std::uint64_t effective =
      std::strtoull(files.value("/proc/self/status", "CapEff").c_str(), nullptr, 16);
  if ((effective >> kSysAdmin & 1U) != 0) return "CAP_SYS_ADMIN";
  return (effective >> kPerfmon & 1U) != 0 ? "CAP_PERFMON" : "";
}

/// Why CUPTI 13.0 is refused, although its driver version is accepted.
std::string why_refused(const CuptiFailure& failure) {
  constexpr std::uint32_t kFirst13 = 130'000;
  if (failure.version != kFirst13) return {};
  return " 13.0 without an update crashes if NVTX is called before CUPTI, in flushes and with graphs.";
}

}  // namespace

HealthFinding check_library() {
  fs::path library;
  try {
    library = find_library();
  } catch (const Missing&) {
    return {"library", Health::no,
            "librangefinder.so is not in " + library_places(program_folder())[1].string(),
            "Build the target rangefinder_injection, or reinstall Rangefinder."};
  }
  const std::string path = library.string();
  const Answer loaded = ask_in_child([path]() -> std::string {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return "";
    return dlerror();
  });
  const std::string error = loaded.arrived ? loaded.text : loaded.text + " while it was loaded";
  if (error.empty()) return {"library", Health::ok, path, ""};
  return {"library", Health::no, path + " does not load: " + error,
          "Install Rangefinder for this system, or build it here."};
}

namespace {

/// Distinct places, as in "Python environment /venv/…, toolkit /usr/local/cuda".
std::string searched_places(const std::vector<CuptiPlace>& places) {
  std::string text, last;
  for (const CuptiPlace& place : places) {
    const std::string one = place.kind + (place.root.empty() ? "" : " " + place.root);
    if (one == last) continue;
    text += (text.empty() ? "" : ", ") + one;
    last = one;
  }
  return text;
}

/// One finding for each other copy that exists: why it was not taken.
void add_other_copies(const CuptiLibrary& taken, std::vector<HealthFinding>& out) {
  std::vector<std::string> known{taken.path};
  for (const CuptiPlace& place : cupti_places()) {
    std::error_code ignored;
    if (place.root.empty() || !fs::exists(place.path, ignored)) continue;
    const auto same = [&](const std::string& path) { return is_same_file(path, place.path); };
    if (std::any_of(known.begin(), known.end(), same)) continue;
    known.push_back(place.path);
    const auto failed = std::find_if(taken.not_loaded.begin(), taken.not_loaded.end(),
                                     [&](const auto& one) { return one.first == place.path; });
    const std::string copy = "not used: " + place.path + " (" + place.kind + ")";
    if (failed != taken.not_loaded.end()) {
      out.push_back({"cupti", Health::warn, copy + ", it cannot be loaded: " + failed->second, "", false});
    } else {
      out.push_back({"cupti", Health::ok, copy + ", the copy above comes first", "", false});
    }
  }
}

}  // namespace

std::vector<HealthFinding> check_cupti() {
  CuptiLibrary library;
  CuptiFailure failure;
  if (!load_cupti(variable("RANGEFINDER_CUPTI"), library, failure)) {
    const std::string where = failure.path.empty() ? "; searched: " + searched_places(cupti_places())
                                                   : " (" + failure.path + ", " + library.kind + ")";
    return {{"cupti", Health::no, "no usable libcupti" + where, failure.reason + why_refused(failure)}};
  }
  std::vector<HealthFinding> out{
      {"cupti", Health::ok,
       cupti_version_text(library.version) + ", " + library.path + " (" + library.kind + ")", ""}};
  add_other_copies(library, out);
  if (!library.remark.empty()) out.push_back({"cupti", Health::warn, library.remark, "", false});
  const fs::path counters = fs::path(library.path).parent_path() / "libnvperf_host.so";
  std::error_code ignored;
  if (fs::exists(counters, ignored)) {
    out.push_back({"counters", Health::ok, counters.string(), "", false});
  } else {
    out.push_back({"counters", Health::warn, "no libnvperf_host.so beside libcupti: times work, bytes do not",
                   "Install the complete cuda-cupti-13-0 (Python: nvidia-cuda-cupti).", false});
  }
  return out;
}

HealthFinding check_permission(const MachineFiles& files) {
  constexpr const char* kParams = "/proc/driver/nvidia/params";
  const std::string admin_only = files.value(kParams, "RmProfilingAdminOnly");
  if (admin_only == "0") return {"permission", Health::ok, "every user may read the counters", "", false};
  const std::string capability = counter_capability(files);
  if (capability == "CAP_SYS_ADMIN") {
    return {"permission", Health::ok, "this user may read the counters (CAP_SYS_ADMIN)", "", false};
  }
  if (admin_only.empty()) {
    return {"permission", Health::warn, std::string("not known: ") + kParams + " cannot be read",
            "--probe tests it. If bytes are refused, the trace says how to fix it.", false};
  }
  return {"permission", Health::warn,
          "only administrators may read the counters: times work, bytes do not" +
              (capability.empty() ? "" : " (" + capability + " is not enough for the driver)"),
          "Put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
          "/etc/modprobe.d/nvidia-profiling.conf and "
          "reboot; in a container add --cap-add SYS_ADMIN; or run as root.",
          false};
}

HealthFinding check_pairing(int driver_version, const std::vector<HealthFinding>& cupti) {
  CuptiLibrary library;
  CuptiFailure failure;
  if (cupti.empty() || cupti.front().health == Health::no || driver_version == 0 ||
      !load_cupti(variable("RANGEFINDER_CUPTI"), library, failure)) {
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

HealthFinding check_disk(const std::string& out_template) {
  fs::path place = fs::absolute(out_template.substr(0, out_template.find('%')));
  std::error_code ignored;
  while (!fs::is_directory(place, ignored) && place.has_relative_path()) place = place.parent_path();
  // Create a file: access() reports success for root even on a read-only place.
  std::string probe = (place / ".rangefinder-doctor-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0) {
    return {"disk", Health::no, "cannot write to " + place.string() + ": " + std::strerror(errno),
            "Choose another place with --out."};
  }
  close(file);
  unlink(probe.c_str());
  struct statvfs status {};
  if (statvfs(place.c_str(), &status) != 0) {
    return {"disk", Health::warn, place.string() + ": free space not known", "", false};
  }
  const std::uint64_t free_bytes = std::uint64_t{status.f_bavail} * status.f_frsize;
  constexpr std::uint64_t kLittle = 1'000'000'000;
  const std::string text = bytes_text(free_bytes) + " free in " + place.string();
  if (free_bytes >= kLittle) return {"disk", Health::ok, text, ""};
  return {"disk", Health::warn, text,
          "A million kernels take about 300 MB. Choose another place with --out, or a limit with "
          "--max-size-mb."};
}

}  // namespace rangefinder
