// SPDX-License-Identifier: Apache-2.0
//
// Records of host functions, which CUPTI has since 13.1: our own declarations, because this code is built
// with the headers of 13.0. Source of fields, types and order of the kinds: CUPTI's documentation of 13.1.
// Records are packed, as all of cupti_activity.h.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace rangefinder {

// Later members of CUpti_ActivityKind.
inline constexpr auto kGraphHostNodeKind = static_cast<CUpti_ActivityKind>(56);
inline constexpr auto kHostLaunchKind = static_cast<CUpti_ActivityKind>(58);
/// cuptiGetVersion() of the first libcupti with both.
inline constexpr std::uint32_t kFirstCuptiWithHostFunctions = 130'100;

/// CUpti_ActivityGraphHostNode: a host node of a graph has run.
struct [[gnu::packed, gnu::aligned(8)]] GraphHostNodeActivity {
  CUpti_ActivityKind kind;
  std::uint32_t streamId, contextId, deviceId, correlationId, graphId;
  std::uint64_t graphNodeId;
  std::uint32_t processId, threadId;
  std::uint64_t start, end;
};

/// CUpti_ActivityHostLaunch: a function of cuLaunchHostFunc has run.
struct [[gnu::packed, gnu::aligned(8)]] HostLaunchActivity {
  CUpti_ActivityKind kind;
  std::uint32_t streamId, contextId, deviceId, correlationId, processId, threadId;
  std::uint64_t start, end;
};

}  // namespace rangefinder
