// SPDX-License-Identifier: Apache-2.0
//
// A thread of ours inside the application: all signals blocked from its first
// instruction, so that no handler of the application ever runs in it; without a real-time
// priority of the thread that made it; detached, so that an exiting program waits for it
// only where someone chooses to.
#pragma once

namespace rangefinder {

/// `name`: at most 15 characters, as `top` shows it. False: no thread could be made.
[[nodiscard]] bool start_own_thread(const char* name, void (*run)(void* self), void* self) noexcept;

/// Whether the calling thread is one of these.
[[nodiscard]] bool on_own_thread() noexcept;

}  // namespace rangefinder
