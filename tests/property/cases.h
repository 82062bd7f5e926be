// SPDX-License-Identifier: Apache-2.0
//
// What the property programs share: `--cases N --seed S`, and random numbers that are
// the same everywhere (std::uniform_int_distribution is not).
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

namespace rangefinder::property {

inline constexpr int kSkipped = 77;  ///< exit code that CTest counts as skipped

struct Cases {
  std::uint64_t count = 20'000;
  std::uint64_t seed = 20'251'121;

  /// Prints both, so that a failure can be run again. Exits with 2 on an unknown option.
  Cases(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string_view option = argv[i];
      if (i + 1 >= argc || (option != "--cases" && option != "--seed")) {
        std::fprintf(stderr, "usage: %s [--cases N] [--seed S]\n", argv[0]);
        std::exit(2);
      }
      (option == "--cases" ? count : seed) = std::strtoull(argv[i + 1], nullptr, 10);
    }
    std::printf("%s --cases %llu --seed %llu\n", argv[0], static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(seed));
    std::fflush(stdout);  // it must be there if the next line never comes
  }
};

/// Case `number` of `seed` alone decides what it gives: one case can be run again without the others.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t number) : engine_(seed * 1'000'003 + number) {}
  [[nodiscard]] std::uint64_t any() { return engine_(); }
  /// In [0, end).
  [[nodiscard]] std::size_t below(std::size_t end) { return static_cast<std::size_t>(any() % end); }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rangefinder::property
