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

namespace rangefinder {

/// Registers the buffers and sets the attributes; before the first context. False: `error`.
[[nodiscard]] bool register_activity(const CuptiFunctions& cupti, BufferPool& pool, std::string& error);

/// Enables the kinds of records.
[[nodiscard]] bool enable_activity_kinds(const CuptiFunctions& cupti, std::string& error);

}  // namespace rangefinder
