// SPDX-License-Identifier: Apache-2.0
//
// A program with its own operator new, spdlog and fmt; also built with static libstdc++. It prints how often
// the profiler's library called its operator new. The expected number is 0.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>

#include "tests/injection/programs/gpu.h"

namespace {

std::atomic<long> from_profiler{0};

bool is_profiler(void* caller) {
  dl_find_object found{};
  return _dl_find_object(caller, &found) == 0 && found.dlfo_link_map != nullptr &&
         std::strstr(found.dlfo_link_map->l_name, "librangefinder") != nullptr;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (is_profiler(__builtin_return_address(0))) ++from_profiler;
  // free() must not get this memory: any other operator delete would crash.
  auto* const whole = static_cast<char*>(std::malloc(bytes + 64));
  if (whole == nullptr) throw std::bad_alloc();
  return whole + 64;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  std::free(static_cast<char*>(memory) - 64);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

int main() {
  std::ostringstream text;
  {
    spdlog::logger logger("rangefinder", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
    logger.set_pattern("%v");
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(logger));
    const Gpu gpu;
    for (int i = 0; i < 10; ++i) {
      gpu.work(1);
      spdlog::info("launch {} of {:.1f}", i, 10.0);
    }
    try {
      throw std::runtime_error("the program's own exception");
    } catch (const std::exception& error) {
      spdlog::warn("{}", error.what());
    }
  }
  const long lines = static_cast<long>(text.str().size());
  std::printf("%ld characters; %ld allocations of the profiler\n", lines, from_profiler.load());
  return 0;
}
