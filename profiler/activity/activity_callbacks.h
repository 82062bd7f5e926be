// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's activity records, switched on: attributes, buffer callbacks, kinds.
//
//   CUPTI wants a buffer (application thread) ─▶ BufferPool::take()
//   CUPTI has filled one (its own thread)     ─▶ BufferPool::complete()
//
// CUPTI's two callbacks carry no pointer of ours, so the pool is known here by a
// static one, set once.
#pragma once

#include <string>

#include "profiler/activity/buffer_pool.h"
#include "profiler/cupti/loader.h"
#include "profiler/options/options.h"

namespace rangefinder {

/// Registers the buffers and sets the attributes; before the first context. False: `error`.
[[nodiscard]] bool register_activity(const CuptiFunctions& cupti, BufferPool& pool, std::string& error);

/// Enables the kinds of records. With `graphs` whole a graph launch has one record instead of one a node.
[[nodiscard]] bool enable_activity_kinds(const CuptiFunctions& cupti, GraphTracing graphs,
                                         std::string& error);
void disable_activity_kinds(const CuptiFunctions& cupti) noexcept;

/// Records of work alone, on or off: with what was enabled by enable_activity_kinds(). Renews the clock once
/// a minute. Any thread, one at a time.
void switch_work_records(const CuptiFunctions& cupti, GraphTracing graphs, bool on) noexcept;

/// Records of kernels, copies and memsets off and on again. What CUPTI had not timed by then it
/// delivers without times. Drain thread; costs what enabling costs.
void restart_node_records(const CuptiFunctions& cupti) noexcept;

/// While no kind of record is on, and all records have been handed back: those of work that began before
/// would have no times. CUPTI compares the clocks of GPU and host every 4 s for as long as the process
/// lives, and to convert a time of a record it goes through all of these points from the first one
/// on, three times a record: 0.35 us a record after 9 minutes, 2.3 an hour (docs/decisions.md). To
/// register a clock begins them anew. And it may be that another tool has left its own.
void renew_clock(const CuptiFunctions& cupti) noexcept;

/// Attributes as they were, for whoever uses CUPTI next.
void unregister_activity(const CuptiFunctions& cupti) noexcept;

}  // namespace rangefinder
