// SPDX-License-Identifier: Apache-2.0
//
// The machine itself: system, cores, memory, container.
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>

#include "profiler/base/number_text.h"
#include "tools/rangefinder/doctor_checks.h"

namespace rangefinder {
namespace {

/// One for the drain thread, one for the program. A sampling thread needs a core of its own to keep up.
constexpr double kFewCores = 2;
/// Activity buffers (32 x 2 MiB), rings and tables take 78 to 89 MiB (docs/internals/measured.md).
constexpr std::uint64_t kLittleMemoryBytes = 512'000'000;

}  // namespace

HealthFinding check_system(const MachineFiles& files) {
  utsname name{};
  uname(&name);
  std::string system = files.value("/etc/os-release", "PRETTY_NAME");
  if (system.empty()) system = "unknown Linux";
  std::string kernel = files.line("/proc/sys/kernel/osrelease");
  if (kernel.empty()) kernel = "unknown";
  const std::string text =
      system + ", kernel " + kernel + ", glibc " + gnu_get_libc_version() + ", " + name.machine;
  if (kernel.find("icrosoft") != std::string::npos) {
    return {"system", Health::warn, text + " (WSL)",
            "Times work if the driver on Windows permits CUPTI. Permit counters in the NVIDIA Control Panel "
            "on Windows.",
            false};
  }
  if (kernel == "4.4.0" || files.line("/proc/version").find("gVisor") != std::string::npos) {
    return {"system", Health::warn, text + " (gVisor)", "--probe reports what works in this sandbox.", false};
  }
  return {"system", Health::ok, text, "", false};
}

HealthFinding check_cores(const MachineFiles& files) {
  const double cores = files.cores();
  if (cores == 0) return {"cores", Health::warn, "not known", "", false};
  char number[32];
  std::snprintf(number, sizeof number, cores < 10 && cores != static_cast<int>(cores) ? "%.1f" : "%.0f",
                cores);
  const std::string text = std::string(number) + " for this process";
  if (cores >= kFewCores) return {"cores", Health::ok, text, "", false};
  return {"cores", Health::warn, text + ": recording slows the program down, and samples may be lost",
          "Allow 2 or more (taskset, --cpus of the container).", false};
}

HealthFinding check_memory(const MachineFiles& files) {
  const auto bytes = files.free_memory_bytes();
  if (!bytes) return {"memory", Health::warn, "not known", "", false};
  const std::string text = bytes_text(*bytes) + " available";
  if (*bytes >= kLittleMemoryBytes) return {"memory", Health::ok, text, "", false};
  return {"memory", Health::warn, text + ": recording takes up to 160 MiB of it",
          "Free some memory, or record with fewer buffers (--buffers 8).", false};
}

std::vector<HealthFinding> check_container(const MachineFiles& files) {
  const std::string kind = files.container();
  if (kind.empty() && std::getenv("KUBERNETES_SERVICE_HOST") == nullptr) return {};
  const std::string text = "in a container (" + (kind.empty() ? "kubernetes" : kind) + ")";
  const char* const wanted = std::getenv("NVIDIA_DRIVER_CAPABILITIES");
  const std::string capabilities = wanted == nullptr ? "" : wanted;
  const bool lacks = !capabilities.empty() && capabilities.find("all") == std::string::npos &&
                     (capabilities.find("compute") == std::string::npos ||
                      capabilities.find("utility") == std::string::npos);
  if (!files.exists("/dev/nvidiactl")) {
    return {{"container", Health::warn, text + " without /dev/nvidiactl: it has no access to a GPU",
             "Start it with --gpus all (docker) or a limit nvidia.com/gpu (kubernetes).", false}};
  }
  if (lacks) {
    return {{"container", Health::warn, text + ", NVIDIA_DRIVER_CAPABILITIES is " + capabilities,
             "Set it to compute,utility or all.", false}};
  }
  if (!files.exists("/proc/driver/nvidia/params")) {
    return {{"container", Health::warn, text + " that hides /proc/driver/nvidia",
             "Whether counters are permitted is not known here; --probe tests it.", false}};
  }
  return {{"container", Health::ok, text + ", GPU devices are present", "", false}};
}

}  // namespace rangefinder
