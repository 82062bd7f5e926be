// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/missing.h"
#include "tools/rangefinder/doctor_checks.h"
#include "tools/rangefinder/forked_question.h"
#include "tools/rangefinder/installation.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

/// The effective capability that concerns counters: "CAP_SYS_ADMIN", "CAP_PERFMON" or "".
std::string counter_capability(const MachineFiles& files) {
  constexpr unsigned kSysAdmin = 21, kPerfmon = 38;
  const std::uint64_t effective =
      std::strtoull(files.value("/proc/self/status", "CapEff").c_str(), nullptr, 16);
  if ((effective >> kSysAdmin & 1U) != 0) return "CAP_SYS_ADMIN";
  return (effective >> kPerfmon & 1U) != 0 ? "CAP_PERFMON" : "";
}

}  // namespace

HealthFinding check_library() {
  fs::path library;
  try {
    library = find_library();
  } catch (const Missing&) {
    std::string searched;
    for (const fs::path& place : library_places(program_folder()))
      searched += (searched.empty() ? "" : ", ") + place.parent_path().string();
    return {"library", Health::no, std::string(kInjectionLibrary) + " was not found; searched: " + searched,
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
