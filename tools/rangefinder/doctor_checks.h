// SPDX-License-Identifier: Apache-2.0
//
// What must be there to trace, each looked at alone: ok, warn (tracing works, something
// else may not) or no, with the cure.
#pragma once

#include <string>
#include <vector>

namespace rangefinder {

enum class Health { ok, warn, no };

struct HealthFinding {
  std::string check;  ///< one word or two, stable
  Health health = Health::ok;
  std::string text;    ///< what is there, or what is not
  std::string cure;    ///< what to do; empty where nothing is to be done
  bool needed = true;  ///< tracing cannot work while this is `no`
};

/// Driver, GPUs and, where there are any, who owns CUPTI: asked in a child process, which
/// may crash or hang in a broken driver without harm.
[[nodiscard]] std::vector<HealthFinding> check_gpu();

/// The injection library: where, and does it load?
[[nodiscard]] HealthFinding check_library();
/// libcupti and the library of its counters.
[[nodiscard]] std::vector<HealthFinding> check_cupti();
/// May this user read hardware counters? Never needed for times.
[[nodiscard]] HealthFinding check_permission();
/// Variables and programs of other tools that want the same hooks.
[[nodiscard]] std::vector<HealthFinding> check_other_tools();
/// Multi-process service and partitioned GPUs.
[[nodiscard]] std::vector<HealthFinding> check_sharing();
/// Can the trace be written, and is there room? `out`: template of the folder.
[[nodiscard]] HealthFinding check_disk(const std::string& out);

}  // namespace rangefinder
