// SPDX-License-Identifier: Apache-2.0
//
// Records NVTX with our own handlers. injection/entry.cpp exports the three initialisers.
//
//   nvtx3 headers in some shared object ── first NVTX call ──▶ nvtx_initialize_v2(its tables)
//                                                                 │ our function pointers
//   nvtxRangePushA("x") ──────────▶ handler ─┬─▶ another NVTX tool, if one was set (chain)
//                                            └─▶ recorder().threads.use()->push(…)
//
// NVTX 3 is header-only: every shared object of a process has its own tables and
// initialises them itself, from any thread. So these functions may be called any number
// of times, at any time, also while static destructors run. Nothing here throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profiler/nvtx/nvtx_headers.h"

namespace rangefinder {

/// InitializeInjectionNvtx2: 1, or 0 if the tables cannot be used.
[[nodiscard]] int nvtx_initialize_v2(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// InitializeInjectionNvtx, called by libnvToolsExt.so (NVTX 2): the same tables, set in the same way.
[[nodiscard]] int nvtx_initialize_v1(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// InitializeInjectionNvtxExtension: 1 for the payload extension. For other extensions the result of the
/// chained tool, 0 without one: NVTX then disables the extension.
[[nodiscard]] int nvtx_initialize_extension(nvtxExtModuleInfo_t* module) noexcept;

/// Sets another NVTX tool: it is loaded at the next initialisation and receives all NVTX calls. Call this
/// before the first initialisation; a later call has no effect, nor has the path of our own library.
void nvtx_set_chain(const char* path) noexcept;

/// Why the chained tool receives no calls, as one line with its path. nullptr: it does, none was requested,
/// or NVTX was not used yet. Any thread; the drain thread reports it to the user.
[[nodiscard]] const char* nvtx_chain_problem() noexcept;

/// Drain thread, when recording stops: adds a late event (event_ring.h) with kRangeUnclosed for every
/// start/end range begun before `now_ns` and still open. Returns their number; counts them as nvtx_unclosed.
std::size_t nvtx_close_all(std::int64_t now_ns) noexcept;

}  // namespace rangefinder
