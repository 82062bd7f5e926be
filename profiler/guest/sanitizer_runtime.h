// SPDX-License-Identifier: Apache-2.0
//
// Detects the sanitizer that the program is built with. Its runtime observes our code, CUPTI and the driver,
// although none of them is built with it.
#pragma once

// Weak references, which the loader resolves: dlsym() would allocate, and leave an error for the program's
// next dlerror().
extern "C" {
[[gnu::weak, gnu::visibility("default")]] void __asan_init();
[[gnu::weak, gnu::visibility("default")]] void __hwasan_init();
[[gnu::weak, gnu::visibility("default")]] void __tsan_init();
[[gnu::weak, gnu::visibility("default")]] void __msan_init();
}

namespace rangefinder {

/// ThreadSanitizer or MemorySanitizer; nullptr: neither. They would report false positives: they see
/// synchronisation and initialisation only in code that is built with them.
[[nodiscard]] inline const char* sanitizer_that_misjudges_us() noexcept {
  if (&__tsan_init != nullptr) return "ThreadSanitizer";
  if (&__msan_init != nullptr) return "MemorySanitizer";
  return nullptr;
}

/// AddressSanitizer or HWAddressSanitizer; nullptr: neither. They intercept dlopen() and end a program that
/// passes RTLD_DEEPBIND, as CUPTI does.
[[nodiscard]] inline const char* sanitizer_that_ends_deep_binding() noexcept {
  if (&__asan_init != nullptr) return "AddressSanitizer";
  if (&__hwasan_init != nullptr) return "HWAddressSanitizer";
  return nullptr;
}

}  // namespace rangefinder
