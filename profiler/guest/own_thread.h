// SPDX-License-Identifier: Apache-2.0
//
// A thread of the profiler inside the application.
//
// All signals are blocked from its first instruction, so no handler of the application
// runs in it. It does not inherit a real-time priority. It is detached: an exiting program
// waits for it only where our code does so explicitly.
#pragma once

namespace rangefinder {

/// `name`: at most 15 characters, shown by `top`. False: no thread could be created.
[[nodiscard]] bool start_own_thread(const char* name, void (*run)(void* self), void* self) noexcept;

/// Whether start_own_thread() started the calling thread.
[[nodiscard]] bool on_own_thread() noexcept;

}  // namespace rangefinder
