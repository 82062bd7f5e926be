// SPDX-License-Identifier: Apache-2.0
//
// Sections over recorded runs that were spoiled: digits changed, lines left out, doubled and swapped.
#include <cctype>
#include <fstream>
#include <random>

#include "tests/catch.h"
#include "tests/unit/analysis/sections/section_run.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/sections/section_kinds.h"

using namespace rangefinder;
using test::recorded;
using test::SectionRun;
using test::TraceOnDisk;

namespace {

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream in(recorded(name) / "trace-00000.ndjson");
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line + "\n");
  return out;
}

/// The header stays, or there is no trace to look at.
void corrupt(std::vector<std::string>& lines, std::mt19937& random) {
  const auto any = [&] { return 1 + random() % (lines.size() - 1); };
  for (int i = 0; i < 40; ++i) {
    std::string& line = lines[any()];
    switch (random() % 5) {
      case 0:
        line.clear();
        break;
      case 1:
        std::swap(lines[any()], line);
        break;
      case 2:
        line += lines[any()];
        break;
      default:
        for (char& c : line) {
          const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
          if (digit && random() % 8 == 0) c = static_cast<char>('0' + random() % 10);
        }
    }
  }
}

}  // namespace

TEST_CASE("a spoiled trace gives tables or one sentence, whatever the section") {
  std::mt19937 random(17);
  std::size_t shown = 0, refused = 0;
  for (const char* const name : {"copy_storm", "graph_replay", "multi_stream", "managed_memory"}) {
    const std::vector<std::string> whole = lines_of(name);
    for (int round = 0; round < 12; ++round) {
      TraceOnDisk trace;
      trace.lines = whole;
      corrupt(trace.lines, random);
      trace.write();
      for (const SectionKind& kind : section_kinds()) {
        CAPTURE(name, round, kind.name);
        try {
          shown += SectionRun(std::string(kind.name), trace.folder.path()).shown().empty() ? 0 : 1;
        } catch (const Missing&) {
          ++refused;
        }
      }
    }
  }
  CHECK(shown > 400);
  CHECK(refused < shown);
}
