// SPDX-License-Identifier: Apache-2.0
//
// Checks for conflicts: other tools, other copies of libraries, the Multi-Process Service (MPS), MIG.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tools/rangefinder/doctor_checks.h"
#include "tools/rangefinder/installation.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The driver lists GPU instances (gi0, gi1, …) below each partitioned GPU.
bool has_instances(const MachineFiles& files) {
  const std::string capabilities = "/proc/driver/nvidia/capabilities";
  for (const std::string& gpu : files.names(capabilities)) {
    for (const std::string& name : files.names(capabilities + "/" + gpu + "/mig")) {
      if (name.starts_with("gi")) return true;
    }
  }
  return false;
}

/// Warns if the file does not exist: the reader of the variable ignores that silently.
void check_named_file(const char* name, std::vector<HealthFinding>& out) {
  const std::string path = variable(name);
  std::error_code ignored;
  if (path.empty() || path.find('/') == std::string::npos || fs::exists(path, ignored)) return;
  out.push_back({"other tool", Health::warn, std::string(name) + " names " + path + ", which does not exist",
                 std::string("unset ") + name + ", or name an existing file", false});
}

}  // namespace

std::vector<HealthFinding> check_other_tools(const MachineFiles& files) {
  std::vector<HealthFinding> out;
  const std::string cuda = variable("CUDA_INJECTION64_PATH");
  if (!cuda.empty() && !is_our_library(cuda)) {
    out.push_back(
        {"other tool", Health::no, "CUDA_INJECTION64_PATH is set to " + cuda, "unset CUDA_INJECTION64_PATH"});
  }
  check_named_file("CUDA_INJECTION64_PATH", out);
  check_named_file("NVTX_INJECTION64_PATH", out);
  const std::string nvtx = variable("NVTX_INJECTION64_PATH");
  if (!nvtx.empty() && is_our_library(nvtx) && cuda.empty()) {
    out.push_back(
        {"nvtx", Health::warn,
         "NVTX_INJECTION64_PATH names our library and CUDA_INJECTION64_PATH is not set: without `run` "
         "nothing is recorded",
         "Set CUDA_INJECTION64_PATH only: the library sets the other one.", false});
  } else if (nvtx.empty() || is_our_library(nvtx)) {
    out.push_back({"nvtx", Health::ok,
                   nvtx.empty() ? "no other library receives the calls" : "set to our library", "", false});
  } else {
    out.push_back({"nvtx", Health::warn,
                   "NVTX_INJECTION64_PATH is set to " + nvtx + ": `run` forwards calls to it",
                   "Unset it if that is not wanted.", false});
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
  for (const std::string& program : files.running({"nv-hostengine", "dcgm-exporter"})) {
    out.push_back({"other tool", Health::warn, "DCGM (" + program + ") runs and may hold the counters",
                   "dcgmi profile --pause, and --resume afterwards", false});
  }
  for (const std::string& program : files.running({"nsys", "ncu", "dynolog"})) {
    out.push_back({"other tool", Health::warn, program + " runs: it may hold the counters of a GPU",
                   "Wait until it has ended.", false});
  }
  return out;
}

std::vector<HealthFinding> check_sharing(const MachineFiles& files) {
  std::vector<HealthFinding> out;
  const bool served =
      !files.running({"nvidia-cuda-mps-control", "nvidia-cuda-mps", "nvidia-cuda-mps-server"}).empty();
  if (served || !variable("CUDA_MPS_PIPE_DIRECTORY").empty() || files.exists("/tmp/nvidia-mps/control")) {
    out.push_back({"mps", Health::warn,
                   "the Multi-Process Service seems to be in use: bytes cannot be measured with it",
                   "Stop it (echo quit | nvidia-cuda-mps-control) to measure bytes.", false});
  }
  if (variable("CUDA_VISIBLE_DEVICES").find("MIG-") != std::string::npos || has_instances(files)) {
    out.push_back({"mig", Health::warn,
                   "a GPU is partitioned into instances (MIG): units shared with other instances have no "
                   "counters",
                   "Use a compute instance that owns its whole GPU instance, or a whole GPU.", false});
  }
  return out;
}

std::vector<HealthFinding> check_library_path() {
  std::vector<HealthFinding> out;
  std::istringstream folders(variable("LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    if (folder.empty()) continue;
    if (fs::exists(fs::path(folder) / "libcuda.so.1", error) && folder.find("stubs") != std::string::npos) {
      out.push_back({"library path", Health::no,
                     "LD_LIBRARY_PATH has " + folder + ": its libcuda.so.1 is a stub",
                     "Remove that folder: a stub is for linking, and its cuInit fails.", false});
    }
    for (const char* const name : {"libcupti.so.12", "libcupti.so.13"}) {
      const fs::path library = fs::path(folder) / name;
      if (!fs::exists(library, error)) continue;
      const std::string real = fs::canonical(library, error).filename().string();
      out.push_back(
          {"library path", Health::warn,
           "LD_LIBRARY_PATH has " + library.string() + (error ? "" : " (" + real + ")") +
               ": a program that loads libcupti itself, as PyTorch does, uses this copy",
           "If it is older than 13.0 Update 1, remove the folder: Rangefinder uses the copy that the program "
           "has loaded.",
           false});
    }
  }
  return out;
}

}  // namespace rangefinder
