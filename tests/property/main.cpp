// SPDX-License-Identifier: Apache-2.0
//
// fuzz SUBCOMMAND [--cases N] [--seed S]; `fuzz all` runs each in turn, `fuzz --list` names them.
//
// Seeded loops over random and damaged input. Exit: 0 no case failed, 1 one did, 2 wrong use, 77 skipped.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "tests/property/fuzz.h"

using namespace rangefinder::fuzz;

namespace {

constexpr int kFailed = 1, kWrongUse = 2, kSkipped = 77;

struct Subcommand {
  const char* name;
  std::uint64_t cases;  ///< by default: some seconds
  MakeFuzzer* make;
};

// Those that take longest come first, for a script that runs several at a time.
const Subcommand kSubcommands[]{
    {"trace", 2'000, make_trace},
    {"sampled_bound", 12, make_sampled_bound},
    {"control", 20'000, make_control},
    {"options", 20'000, make_options},
    {"sample_sharing", 2'000, make_sample_sharing},
    {"safetensors", 20'000, make_safetensors},
    {"nvtx", 20'000, make_nvtx},
    {"image", 20'000, make_image},
    {"segment_text", 20'000, make_segment_text},
    {"activity", 20'000, make_activity},
};

int run(const Subcommand& subcommand, std::uint64_t cases, std::uint64_t seed) {
  std::printf("fuzz %s --cases %llu --seed %llu\n", subcommand.name, static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);  // it must be there if the next line never comes
  std::uint64_t number = 0;
  std::string wrong;
  try {
    const auto fuzzer = subcommand.make();
    for (; number < cases; ++number) {
      Random random(seed, number);
      wrong = fuzzer->check(random);
      if (!wrong.empty()) break;
    }
    if (wrong.empty()) wrong = fuzzer->finish();
  } catch (const Skipped& reason) {
    std::fprintf(stderr, "skipped: %s\n", reason.what());
    return kSkipped;
  } catch (const std::exception& error) {
    wrong = std::string("an exception: ") + error.what();
  }
  if (wrong.empty()) return 0;
  const std::string place = number == cases ? "after all cases" : "case " + std::to_string(number);
  std::fprintf(stderr, "%s: %s\n", place.c_str(), wrong.c_str());
  return kFailed;
}

int usage() {
  std::fprintf(stderr, "usage: fuzz SUBCOMMAND|all [--cases N] [--seed S]\n       fuzz --list\n");
  return kWrongUse;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  std::uint64_t cases = 0, seed = 20'251'121;
  for (int i = 2; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (i + 1 == argc || (option != "--cases" && option != "--seed")) return usage();
    (option == "--cases" ? cases : seed) = std::strtoull(argv[i + 1], nullptr, 10);
  }
  bool found = wanted == "--list";
  int result = 0;
  for (const Subcommand& subcommand : kSubcommands) {
    if (wanted == "--list") {
      std::puts(subcommand.name);
    } else if (wanted == subcommand.name || wanted == "all") {
      found = true;
      const int one = run(subcommand, cases == 0 ? subcommand.cases : cases, seed);
      // Of all: a failure stays, and one that was skipped is none.
      if (one == kFailed || wanted != "all") result = one;
    }
  }
  return found ? result : usage();
}
