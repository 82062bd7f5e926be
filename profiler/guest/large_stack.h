// SPDX-License-Identifier: Apache-2.0
//
// A separate stack for the few CUPTI calls that need more stack than an application's thread may have.
// Starting counters takes more than 128 KiB (H200, CUPTI 13.0; docs/internals/decisions.md).
#pragma once

#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace rangefinder {

/// What to do without a large stack: work that must happen runs on the thread's own stack; work that would
/// overflow it does not run.
enum class WithoutLargeStack : std::uint8_t { on_own, not_at_all };

/// Calls `work(argument)` on this thread, on a stack of 2 MiB that is mapped for the call. `work` must not
/// throw. False: there was no such stack, and `work` was not called. Costs two system calls and a mapping:
/// not for every launch.
bool call_on_large_stack(void (*work)(void*), void* argument, WithoutLargeStack otherwise) noexcept;

/// Returns what `work` returns, or throws what it throws; `Result{}` if `work` was not called.
template <typename Work>
std::invoke_result_t<Work> on_large_stack(Work&& work,
                                          WithoutLargeStack otherwise = WithoutLargeStack::on_own) {
  using Result = std::invoke_result_t<Work>;
  if constexpr (std::is_void_v<Result>) {
    (void)on_large_stack([&work] { return work(), true; }, otherwise);
  } else {
    struct Call {
      Work& work;
      Result result{};
      std::exception_ptr error;
    } call{work, {}, {}};
    (void)call_on_large_stack(
        [](void* data) {
          auto& self = *static_cast<Call*>(data);
          try {
            self.result = self.work();
          } catch (...) {
            self.error = std::current_exception();
          }
        },
        &call, otherwise);
    if (call.error) std::rethrow_exception(call.error);
    return std::move(call.result);
  }
}

}  // namespace rangefinder
