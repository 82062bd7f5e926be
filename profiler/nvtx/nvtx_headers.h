// SPDX-License-Identifier: Apache-2.0
//
// The NVTX types for a tool: declarations only, no implementation.
// Never include an nvtx3 header directly in profiler/.
#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#undef NVTX_NO_IMPL
