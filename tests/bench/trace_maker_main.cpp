// SPDX-License-Identifier: Apache-2.0
//
// trace_maker --kernels 10000000 --paths 500 --out DIR: makes a trace to try tools on, see trace_maker.h.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "tests/bench/trace_maker.h"

int main(int argc, char** argv) {
  rangefinder::bench::TraceMakerOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--kernels") options.kernels = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--paths")
      options.paths = static_cast<std::uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
    if (option == "--out") options.out = argv[i + 1];
  }
  if (options.out.empty() || options.kernels == 0 || options.paths == 0) {
    std::fprintf(stderr, "usage: %s [--kernels N] [--paths N] --out DIR\n", argv[0]);
    return 2;
  }
  try {
    rangefinder::bench::TraceMaker maker(options);
    maker.make();
    std::printf("%llu lines in %s\n", static_cast<unsigned long long>(maker.lines()), options.out.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trace_maker: %s\n", error.what());
    return 3;
  }
  return 0;
}
