// SPDX-License-Identifier: Apache-2.0
//
// load_cupti_once [--mapped FILE] [OVERRIDE]: prints the result of load_cupti() as lines
// "key=value", and each candidate as "copy PATH=PLACE, OUTCOME". A mapped library stays mapped, so each test
// case needs its own process.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "profiler/cupti/loader.h"

namespace {

void print(const rangefinder::CuptiCandidate& candidate) {
  constexpr std::array kOutcomes{"not tried", "absent", "not loaded: ", "taken"};
  std::printf("copy %s=%s, %s%s\n", candidate.path.c_str(), rangefinder::place_text(candidate.place),
              kOutcomes.at(static_cast<std::size_t>(candidate.outcome)), candidate.error.c_str());
}

}  // namespace

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
  std::vector<rangefinder::CuptiCandidate> candidates;
  const char* const folder = std::getenv("RANGEFINDER_CUPTI_FOLDER");
  const bool loaded = rangefinder::load_cupti(
      {next < argc ? argv[next] : "", folder == nullptr ? "" : folder}, library, failure, &candidates);
  std::printf("loaded=%d\nreason=%s\nrefused=%s\nrefused_version=%u\n", loaded ? 1 : 0,
              failure.reason.c_str(), failure.path.c_str(), failure.version);
  std::printf("path=%s\nversion=%u\nremark=%s\n", library.path.c_str(), library.version,
              library.remark.c_str());
  for (const rangefinder::CuptiCandidate& candidate : candidates) print(candidate);
  if (loaded) {
    std::printf("result=%s\n",
                cupti_result_text(library.functions, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES).c_str());
  }
  return 0;
}
