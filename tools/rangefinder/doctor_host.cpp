// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "profiler/attribution/number_text.h"
#include "profiler/cupti/loader.h"
#include "tools/analysis/missing.h"
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

/// Value behind "key:" in a file of lines; "" if there is none.
std::string value_in(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key + ":")) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

bool has_sys_admin() {
  constexpr unsigned kSysAdmin = 21;  // CAP_SYS_ADMIN
  const std::string effective = value_in("/proc/self/status", "CapEff");
  return (std::strtoull(effective.c_str(), nullptr, 16) >> kSysAdmin & 1U) != 0;
}

bool runs(const std::string& program) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    std::ifstream stream(entry.path() / "comm");
    std::string name;
    if (stream && std::getline(stream, name) && name == program) return true;
  }
  return false;
}

}  // namespace

HealthFinding check_library() {
  fs::path library;
  try {
    library = find_library();
  } catch (const Missing&) {
    return {"library", Health::no,
            "librangefinder.so is not in " + library_places(program_folder())[1].string(),
            "Build the target rangefinder_injection, or install Rangefinder again."};
  }
  const std::string path = library.string();
  const Answer loaded = ask_in_child([path]() -> std::string {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return "";
    return dlerror();
  });
  const std::string trouble = loaded.arrived ? loaded.text : loaded.text + " while it was loaded";
  if (trouble.empty()) return {"library", Health::ok, path, ""};
  return {"library", Health::no, path + " does not load: " + trouble,
          "Install Rangefinder for this system, or build it here."};
}

std::vector<HealthFinding> check_cupti() {
  CuptiLibrary library;
  CuptiFailure failure;
  if (!load_cupti(variable("RANGEFINDER_CUPTI"), library, failure)) {
    const std::string where = failure.path.empty() ? "" : " (" + failure.path + ")";
    return {{"cupti", Health::no, "none that can be used" + where, failure.reason}};
  }
  std::vector<HealthFinding> out{
      {"cupti", Health::ok, cupti_version_text(library.version) + ", " + library.path, ""}};
  if (!library.remark.empty()) out.push_back({"cupti", Health::warn, library.remark, "", false});
  const fs::path counters = fs::path(library.path).parent_path() / "libnvperf_host.so";
  std::error_code ignored;
  if (fs::exists(counters, ignored)) {
    out.push_back({"counters", Health::ok, counters.string(), "", false});
  } else {
    out.push_back({"counters", Health::warn, "no libnvperf_host.so beside libcupti: times work, bytes do not",
                   "Install the whole of cuda-cupti-13-0 (Python: nvidia-cuda-cupti).", false});
  }
  return out;
}

HealthFinding check_permission() {
  constexpr const char* kParams = "/proc/driver/nvidia/params";
  const std::string admin_only = value_in(kParams, "RmProfilingAdminOnly");
  if (admin_only == "0") return {"permission", Health::ok, "every user may read the counters", "", false};
  if (has_sys_admin()) {
    return {"permission", Health::ok, "this user may read the counters (CAP_SYS_ADMIN)", "", false};
  }
  if (admin_only.empty()) {
    return {"permission", Health::warn, std::string("not known: ") + kParams + " cannot be read",
            "Where bytes are refused, see the cure that the trace names.", false};
  }
  return {"permission", Health::warn, "only administrators may read the counters: times work, bytes do not",
          "Put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
          "/etc/modprobe.d/nvidia-profiling.conf and "
          "reboot; in a container add --cap-add SYS_ADMIN; or run as root.",
          false};
}

std::vector<HealthFinding> check_other_tools() {
  std::vector<HealthFinding> out;
  const std::string cuda = variable("CUDA_INJECTION64_PATH");
  if (!cuda.empty() && !is_our_library(cuda)) {
    out.push_back(
        {"other tool", Health::no, "CUDA_INJECTION64_PATH is set to " + cuda, "unset CUDA_INJECTION64_PATH"});
  }
  const std::string nvtx = variable("NVTX_INJECTION64_PATH");
  if (nvtx.empty() || is_our_library(nvtx)) {
    out.push_back({"nvtx", Health::ok,
                   nvtx.empty() ? "no other library wants the calls" : "set to our library", "", false});
  } else {
    out.push_back({"nvtx", Health::warn, "NVTX_INJECTION64_PATH is set to " + nvtx + ": `run` feeds it too",
                   "Unset it if it is not wanted.", false});
  }
  static constexpr std::array kVariables{"NSYS_PROFILING_SESSION_ID", "QUADD_INJECTION_PROXY",
                                         "NV_NSIGHT_INJECTION_TRANSPORT_TYPE", "KINETO_USE_DAEMON"};
  for (const char* const name : kVariables) {
    if (variable(name).empty()) continue;
    out.push_back({"other tool", Health::warn, std::string(name) + " is set: another profiler may hold CUPTI",
                   std::string("unset ") + name, false});
  }
  for (const char* const part : {"nsight", "ncu", "libcupti", "libTreeLauncher"}) {
    if (variable("LD_PRELOAD").find(part) == std::string::npos) continue;
    out.push_back({"other tool", Health::warn, "LD_PRELOAD names another profiler: " + variable("LD_PRELOAD"),
                   "unset LD_PRELOAD", false});
    break;
  }
  if (runs("nv-hostengine")) {
    out.push_back({"other tool", Health::warn, "DCGM (nv-hostengine) runs and may hold the counters",
                   "dcgmi profile --pause, and --resume afterwards", false});
  }
  return out;
}

std::vector<HealthFinding> check_sharing() {
  std::vector<HealthFinding> out;
  std::error_code ignored;
  if (!variable("CUDA_MPS_PIPE_DIRECTORY").empty() || fs::exists("/tmp/nvidia-mps/control", ignored)) {
    out.push_back({"mps", Health::warn,
                   "the multi-process service seems to be in use: bytes cannot be measured under it",
                   "Stop it (echo quit | nvidia-cuda-mps-control) to measure bytes.", false});
  }
  if (variable("CUDA_VISIBLE_DEVICES").find("MIG-") != std::string::npos) {
    out.push_back({"mig", Health::warn,
                   "a part of a GPU (MIG): units that it shares with others have no counters",
                   "Use an instance that owns all of its GPU instance, or a whole GPU.", false});
  }
  return out;
}

HealthFinding check_disk(const std::string& out_template) {
  fs::path place = fs::absolute(out_template.substr(0, out_template.find('%')));
  std::error_code ignored;
  while (!fs::is_directory(place, ignored) && place.has_relative_path()) place = place.parent_path();
  // By trying: access() says yes to root even where nothing can be written.
  std::string probe = (place / ".rangefinder-doctor-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0) {
    return {"disk", Health::no, "cannot write to " + place.string() + ": " + std::strerror(errno),
            "Name another place with --out."};
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
          "A million kernels take about 300 MB: name another place with --out, or --max-size-mb."};
}

}  // namespace rangefinder
