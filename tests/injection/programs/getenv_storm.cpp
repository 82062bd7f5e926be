// SPDX-License-Identifier: Apache-2.0
//
// Threads call getenv() in a loop while cuInit runs. Results must not change, and no call may crash.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/injection/programs/gpu.h"

int main() {
  setenv("FIRST_OF_ALL", "one", 1);
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0}, running{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      ++running;
      while (!done) {
        const char* const value = std::getenv("FIRST_OF_ALL");
        if (value == nullptr || std::strcmp(value, "one") != 0) ++wrong;
        const char* const nvtx = std::getenv("NVTX_INJECTION64_PATH");  // set or not, the read must not crash
        if (nvtx != nullptr && std::strlen(nvtx) == 0) ++wrong;
        if (std::getenv("NOT_THERE_AT_ALL") != nullptr) ++wrong;
      }
    });
  }
  while (running < 4) std::this_thread::yield();
  const Gpu gpu;
  gpu.work(5);
  stay_alive_ms(50);
  done = true;
  for (std::thread& reader : readers) reader.join();
  // setenv() must not be called while other threads read.
  setenv("AFTER_CUINIT", "two", 1);
  std::printf("wrong answers: %d, after cuInit: %s\n", wrong.load(), std::getenv("AFTER_CUINIT"));
  return 0;
}
