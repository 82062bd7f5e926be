// SPDX-License-Identifier: Apache-2.0
//
// What must be there to trace, each looked at alone: ok, warn (tracing works, something
// else may not) or no, with the cure.
#pragma once

#include <string>
#include <vector>

#include "tools/rangefinder/machine_files.h"

namespace rangefinder {

enum class Health { ok, warn, no };

struct HealthFinding {
  std::string check;  ///< one word or two, stable
  Health health = Health::ok;
  std::string text;    ///< what is there, or what is not
  std::string fix;     ///< what to do; empty where nothing is to be done
  bool needed = true;  ///< tracing cannot work while this is `no`
};

/// System, kernel, C library.
[[nodiscard]] HealthFinding check_system(const MachineFiles& files);
[[nodiscard]] HealthFinding check_cores(const MachineFiles& files);
[[nodiscard]] HealthFinding check_memory(const MachineFiles& files);
/// Nothing outside of containers.
[[nodiscard]] std::vector<HealthFinding> check_container(const MachineFiles& files);

struct GpuCheck {
  std::vector<HealthFinding> findings;
  int driver_version = 0;  ///< 13000 is CUDA 13.0; 0: not known
  bool has_gpu = false;
};
/// Driver, GPUs and, where there are any, who owns CUPTI: asked in a child process, which
/// may crash or hang in a broken driver without harm.
[[nodiscard]] GpuCheck check_gpu();

/// The injection library: where, and does it load?
[[nodiscard]] HealthFinding check_library();
/// libcupti and the library of its counters.
[[nodiscard]] std::vector<HealthFinding> check_cupti();
/// Do CUPTI and driver go together? `cupti`: what check_cupti() said.
[[nodiscard]] HealthFinding check_pairing(int driver_version, const std::vector<HealthFinding>& cupti);
/// May this user read hardware counters? Never needed for times.
[[nodiscard]] HealthFinding check_permission(const MachineFiles& files);
/// Variables and programs of other tools that want the same hooks.
[[nodiscard]] std::vector<HealthFinding> check_other_tools(const MachineFiles& files);
/// Multi-process service and partitioned GPUs.
[[nodiscard]] std::vector<HealthFinding> check_sharing(const MachineFiles& files);
/// Copies of libraries in LD_LIBRARY_PATH that get in the way.
[[nodiscard]] std::vector<HealthFinding> check_library_path();
/// Can the trace be written, and is there room? `out`: template of the folder.
[[nodiscard]] HealthFinding check_disk(const std::string& out);

}  // namespace rangefinder
