// SPDX-License-Identifier: Apache-2.0
//
// The sanitizer that the program is built with. Its runtime library sees what our code does, though our code
// is not built with it, and that of CUPTI and of the driver neither.
#pragma once

// As weak references, which the loader resolves: asking dlsym() would need memory, and leave an error for the
// program's next dlerror().
extern "C" {
[[gnu::weak, gnu::visibility("default")]] void __asan_init();
[[gnu::weak, gnu::visibility("default")]] void __hwasan_init();
[[gnu::weak, gnu::visibility("default")]] void __tsan_init();
[[gnu::weak, gnu::visibility("default")]] void __msan_init();
}

namespace rangefinder {

/// ThreadSanitizer or MemorySanitizer; nullptr: neither. They find faults where there are none: what makes
/// an order between threads, or gives a value, they see only in code that is built with them.
[[nodiscard]] inline const char* sanitizer_that_misjudges_us() noexcept {
  if (&__tsan_init != nullptr) return "ThreadSanitizer";
  if (&__msan_init != nullptr) return "MemorySanitizer";
  return nullptr;
}

/// AddressSanitizer, of either kind; nullptr: it is not there. It takes the place of dlopen() and ends a
/// program that gives it RTLD_DEEPBIND, as CUPTI does.
[[nodiscard]] inline const char* sanitizer_that_ends_deep_binding() noexcept {
  if (&__asan_init != nullptr) return "AddressSanitizer";
  if (&__hwasan_init != nullptr) return "HWAddressSanitizer";
  return nullptr;
}

}  // namespace rangefinder
