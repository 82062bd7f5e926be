// SPDX-License-Identifier: Apache-2.0
//
// The checks of `rangefinder doctor`, one function each. A result is ok, warn (tracing works, another
// feature may not) or no, with a fix.
#pragma once

#include <string>
#include <vector>

#include "tools/rangefinder/machine_files.h"

namespace rangefinder {

enum class Health { ok, warn, no };

struct HealthFinding {
  std::string check;  ///< stable name of one or two words
  Health health = Health::ok;
  std::string text;    ///< what was found, or what is missing
  std::string fix;     ///< what to do; empty: nothing
  bool needed = true;  ///< tracing cannot work while this is `no`
};

/// System, kernel, C library.
[[nodiscard]] HealthFinding check_system(const MachineFiles& files);
[[nodiscard]] HealthFinding check_cores(const MachineFiles& files);
[[nodiscard]] HealthFinding check_memory(const MachineFiles& files);
/// Empty outside of containers.
[[nodiscard]] std::vector<HealthFinding> check_container(const MachineFiles& files);

struct GpuCheck {
  std::vector<HealthFinding> findings;
  int driver_version = 0;  ///< 13000 is CUDA 13.0; 0: unknown
  bool has_gpu = false;
};
/// Driver, GPUs and, if there are any, the tool that owns CUPTI. Queried in a child process, because a
/// broken driver may crash or hang it.
[[nodiscard]] GpuCheck check_gpu();

/// The injection library: its path, and whether it loads.
[[nodiscard]] HealthFinding check_library();
/// libcupti: which copy is used, and why no other; or where it was searched. libnvperf_host, its library for
/// counters.
[[nodiscard]] std::vector<HealthFinding> check_cupti();
/// Whether the versions of CUPTI and driver match. `cupti`: result of check_cupti().
[[nodiscard]] HealthFinding check_pairing(int driver_version, const std::vector<HealthFinding>& cupti);
/// Whether this user may read hardware counters. Times never need them.
[[nodiscard]] HealthFinding check_permission(const MachineFiles& files);
/// Variables and programs of other tools that use the same hooks.
[[nodiscard]] std::vector<HealthFinding> check_other_tools(const MachineFiles& files);
/// Multi-Process Service (MPS) and partitioned GPUs (MIG).
[[nodiscard]] std::vector<HealthFinding> check_sharing(const MachineFiles& files);
/// Library copies in LD_LIBRARY_PATH that replace the right ones.
[[nodiscard]] std::vector<HealthFinding> check_library_path();
/// Whether the trace can be written, and the free space. `out`: template of the folder.
[[nodiscard]] HealthFinding check_disk(const std::string& out);

}  // namespace rangefinder
