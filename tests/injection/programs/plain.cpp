// SPDX-License-Identifier: Apache-2.0
//
// plain COUNT [destroy|twice]: COUNT launches in work/step on one thread, in one context. destroy: the
// context is destroyed at the end. twice: the same again in a second context.
#include <string_view>

#include "tests/injection/programs/gpu.h"

int main(int argc, char** argv) {
  const auto count = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1);
  const std::string_view mode = argc > 2 ? argv[2] : "";
  for (int contexts = mode == "twice" ? 2 : 1; contexts > 0; --contexts) {
    const Gpu gpu;
    gpu.work(count);
    if (mode == "destroy" || mode == "twice") must(cuCtxDestroy(gpu.context()), "cuCtxDestroy");
  }
  std::printf("%u launches\n", count);
  return 0;
}
