// SPDX-License-Identifier: Apache-2.0
//
// Enables CUPTI's activity records: attributes, buffer callbacks, record kinds.
//
//   CUPTI requests a buffer (application thread) ─▶ BufferPool::take()
//   CUPTI has filled one (its own thread)        ─▶ BufferPool::complete()
//
// CUPTI's two callbacks have no user pointer, so a static pointer to the pool is set
// once.
#pragma once

#include <string>

#include "profiler/activity/buffer_pool.h"
#include "profiler/cupti/loader.h"
#include "profiler/options/options.h"

namespace rangefinder {

/// Registers the buffer callbacks and sets the attributes; before the first context. False: see `error`.
[[nodiscard]] bool register_activity(const CuptiFunctions& cupti, BufferPool& pool, std::string& error);

/// Records that CUPTI dropped since the last call.
[[nodiscard]] std::size_t dropped_records(const CuptiFunctions& cupti) noexcept;

/// With graphs whole, also graphs that are launched from the device will have a record each. Call before CUDA
/// is initialised: CUPTI's documentation. False: they will not.
[[nodiscard]] bool record_device_launches(const CuptiFunctions& cupti) noexcept;

/// Enables the record kinds. With `graphs` whole, a graph launch has one record instead of one per node.
[[nodiscard]] bool enable_activity_kinds(const CuptiFunctions& cupti, GraphTracing graphs,
                                         std::string& error);
void disable_activity_kinds(const CuptiFunctions& cupti) noexcept;

/// Enables or disables the kinds that record GPU work, of those that enable_activity_kinds() enabled. Renews
/// the clock at most once a minute. Any thread, one at a time.
void switch_work_records(const CuptiFunctions& cupti, GraphTracing graphs, bool on) noexcept;

/// Disables and re-enables records of kernels, copies and memsets. Work that CUPTI has not timed by then is
/// delivered without times. Drain thread; costs as much as enabling.
void restart_node_records(const CuptiFunctions& cupti) noexcept;

/// Call only while no kind is enabled and all records have been delivered: pending work would lose its
/// times. CUPTI compares the GPU's and the host's clocks every 4 s for the life of the process. To convert a
/// record it searches all these points from the first one, three times per record: 0.35 us per record after
/// 9 minutes, 2.3 us after an hour (docs/internals/decisions.md). Registering a clock clears the points. It
/// also replaces a clock that another tool may have left.
void renew_clock(const CuptiFunctions& cupti) noexcept;

/// Restores the attributes for the next user of CUPTI.
void unregister_activity(const CuptiFunctions& cupti) noexcept;

}  // namespace rangefinder
