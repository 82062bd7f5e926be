// SPDX-License-Identifier: Apache-2.0
//
// NVTX by our own handlers. injection/entry.cpp exports the three initialisers.
//
//   nvtx3 headers in some shared object ── first NVTX call ──▶ nvtx_initialize_v2(its tables)
//                                                                 │ our function pointers
//   nvtxRangePushA("x") ──────────▶ handler ─┬─▶ tool that was there before us (chain)
//                                            └─▶ recorder().threads.use()->push(…)
//
// NVTX 3 is header-only: every shared object of a process has tables of its own and
// initialises on its own, from any thread. So all of this may be called any number of
// times, at any time, also while static destructors run. Nothing here throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profiler/nvtx/nvtx_headers.h"

namespace rangefinder {

/// InitializeInjectionNvtx2: 1, or 0 where the tables cannot be used.
[[nodiscard]] int nvtx_initialize_v2(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// InitializeInjectionNvtx, of libnvToolsExt.so (NVTX 2): the same tables by the same way.
[[nodiscard]] int nvtx_initialize_v1(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// InitializeInjectionNvtxExtension: 1 for the payload extension. For others what the chained
/// tool says, 0 without one: NVTX then makes them do nothing.
[[nodiscard]] int nvtx_initialize_extension(nvtxExtModuleInfo_t* module) noexcept;

/// The NVTX tool that was set before us: loaded at the next initialisation and fed everything we
/// see. Call it before the first one; a later call has no effect. Our own library: no effect.
void nvtx_set_chain(const char* path) noexcept;

/// Why the chained tool is not fed, a line that names it; nullptr: it is, or none was asked for, or
/// nobody has used NVTX yet. Any thread; the drain thread tells the user.
[[nodiscard]] const char* nvtx_chain_problem() noexcept;

/// Drain thread, when recording stops: a late event (event_ring.h) with kRangeUnclosed for every
/// start/end range begun before `now_ns` and still open. Returns how many; counts them as nvtx_unclosed.
std::size_t nvtx_close_all(std::int64_t now_ns) noexcept;

}  // namespace rangefinder
