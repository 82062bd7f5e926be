// SPDX-License-Identifier: Apache-2.0
//
// A stack of our own for the few calls into CUPTI that need more of it than an application's thread may have:
// to begin counting takes more than 128 KiB (H200, CUPTI 13.0; docs/decisions.md).
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

namespace rangefinder {

/// Calls `work(argument)` on this thread, on a stack of 2 MiB that is mapped for the call; on the thread's
/// own where none can be had. `work` must not throw. Two system calls and a mapping: not for every launch.
void call_on_large_stack(void (*work)(void*), void* argument) noexcept;

/// What `work` returns, if anything, or throws.
template <typename Work>
std::invoke_result_t<Work> on_large_stack(Work&& work) {
  using Result = std::invoke_result_t<Work>;
  if constexpr (std::is_void_v<Result>) {
    (void)on_large_stack([&work] { return work(), true; });
  } else {
    struct Call {
      Work& work;
      Result result{};
      std::exception_ptr error;
    } call{work, {}, {}};
    call_on_large_stack(
        [](void* data) {
          auto& self = *static_cast<Call*>(data);
          try {
            self.result = self.work();
          } catch (...) {
            self.error = std::current_exception();
          }
        },
        &call);
    if (call.error) std::rethrow_exception(call.error);
    return std::move(call.result);
  }
}

}  // namespace rangefinder
