// SPDX-License-Identifier: Apache-2.0
//
// load_cupti_once [--mapped FILE] [OVERRIDE]: prints the result of load_cupti() as lines
// "key=value". A mapped library stays mapped, so each test case needs its own process.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "profiler/cupti/loader.h"

int main(int argc, char** argv) {
  int next = 1;
  if (argc > 2 && std::string(argv[1]) == "--mapped") {
    if (dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL) == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 3;
    }
    next = 3;
  }
  rangefinder::CuptiLibrary library;
  rangefinder::CuptiFailure failure;
  const bool loaded = rangefinder::load_cupti(next < argc ? argv[next] : "", library, failure);
  std::printf("loaded=%d\nreason=%s\nrefused=%s\nrefused_version=%u\n", loaded ? 1 : 0,
              failure.reason.c_str(), failure.path.c_str(), failure.version);
  std::printf("path=%s\nversion=%u\nremark=%s\n", library.path.c_str(), library.version,
              library.remark.c_str());
  std::printf("kind=%s\n", library.kind);
  for (const auto& [path, reason] : library.not_loaded) std::printf("not_loaded=%s\n", path.c_str());
  if (loaded) {
    std::printf("result=%s\n",
                cupti_result_text(library.functions, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES).c_str());
  }
  return 0;
}
