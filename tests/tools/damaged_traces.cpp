// SPDX-License-Identifier: Apache-2.0
//
// damaged_traces FOLDER: writes the corpus of tests/unit/analysis/model/damages.h for damage_test.py, a
// folder each, and prints a line each: {"name": NAME, "message": [PART, ...], "problems": KINDS}.
#include <cstdio>
#include <exception>

#include <nlohmann/json.hpp>

#include "tests/unit/analysis/model/damages.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: damaged_traces FOLDER\n");
    return 2;
  }
  try {
    for (const rangefinder::damages::Damage& damage : rangefinder::damages::kDamages) {
      const std::filesystem::path folder = std::filesystem::path(argv[1]) / damage.name;
      std::filesystem::create_directories(folder);
      make_damaged(damage, folder);
      const nlohmann::json line{
          {"name", damage.name}, {"message", damage.message}, {"problems", damage.problems}};
      std::printf("%s\n", line.dump().c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "damaged_traces: %s\n", error.what());
    return 1;
  }
  return 0;
}
