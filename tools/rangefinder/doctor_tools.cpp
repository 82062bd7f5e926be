// SPDX-License-Identifier: Apache-2.0
//
// Who else wants what we want: other tools, other copies of libraries, the multi-process service, MIG.
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

/// The driver shows GPU instances (gi0, gi1, …) below each GPU that is cut.
bool has_instances(const MachineFiles& files) {
  const std::string capabilities = "/proc/driver/nvidia/capabilities";
  for (const std::string& gpu : files.names(capabilities)) {
    for (const std::string& name : files.names(capabilities + "/" + gpu + "/mig")) {
      if (name.starts_with("gi")) return true;
    }
  }
  return false;
}

/// A file that a variable names is not there: what reads the variable goes on without a word.
void check_named_file(const char* name, std::vector<HealthFinding>& out) {
  const std::string path = variable(name);
  std::error_code ignored;
  if (path.empty() || path.find('/') == std::string::npos || fs::exists(path, ignored)) return;
  out.push_back({"other tool", Health::warn, std::string(name) + " names " + path + ", which is not there",
                 std::string("unset ") + name + ", or name a file that is", false});
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
         "NVTX_INJECTION64_PATH names our library and CUDA_INJECTION64_PATH nothing: without `run` nobody "
         "starts recording",
         "Set CUDA_INJECTION64_PATH alone: the library sets the other one.", false});
  } else if (nvtx.empty() || is_our_library(nvtx)) {
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
                   "the multi-process service seems to be in use: bytes cannot be measured under it",
                   "Stop it (echo quit | nvidia-cuda-mps-control) to measure bytes.", false});
  }
  if (variable("CUDA_VISIBLE_DEVICES").find("MIG-") != std::string::npos || has_instances(files)) {
    out.push_back({"mig", Health::warn,
                   "a GPU is cut into instances (MIG): units that it shares with others have no counters",
                   "Use an instance that owns all of its GPU instance, or a whole GPU.", false});
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
                     "Take that folder out: a stub is for linking, cuInit fails in it.", false});
    }
    for (const char* const name : {"libcupti.so.12", "libcupti.so.13"}) {
      const fs::path library = fs::path(folder) / name;
      if (!fs::exists(library, error)) continue;
      const std::string real = fs::canonical(library, error).filename().string();
      out.push_back(
          {"library path", Health::warn,
           "LD_LIBRARY_PATH has " + library.string() + (error ? "" : " (" + real + ")") +
               ": a program that loads libcupti itself, as PyTorch does, takes this copy",
           "Where it is none of 13.0 Update 1 or later, take the folder out; the copy that a program has "
           "loaded is the one that is used.",
           false});
    }
  }
  return out;
}

}  // namespace rangefinder
