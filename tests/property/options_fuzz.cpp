// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever stands in the environment, it is read: numbers stay within their bounds, each value that
// is not understood is told in a sentence, and nothing is thrown. So are names of folders and
// patterns.
#include <string>
#include <vector>

#include "profiler/base/out_template.h"
#include "profiler/base/path_glob.h"
#include "profiler/options/options.h"
#include "tests/property/cases.h"
#include "tests/property/spoiled_text.h"

using namespace rangefinder;
using property::Random;

namespace {

constexpr std::array<std::string_view, 24> kValues{"on",
                                                   "off",
                                                   "auto",
                                                   "exact",
                                                   "sampled",
                                                   "5",
                                                   "1024",
                                                   "cudaProfilerApi",
                                                   "nvtx:a/**/b?@domain,after:10,for:20",
                                                   "after:10s,for:20s",
                                                   "repeat:3",
                                                   "stop",
                                                   "bytes,compute",
                                                   "lts__t_bytes.sum",
                                                   "%p-%h-%q{HOME}-%r-%%",
                                                   "model/*/layer?",
                                                   "(a|b)*c{2,5}[^x]",
                                                   "stderr",
                                                   "whole",
                                                   "ready",
                                                   "first",
                                                   "launch",
                                                   "range",
                                                   "\\d+(?=x)\\1"};

std::string value(Random& random) {
  std::string text(kValues[random.below(kValues.size())]);
  if (random.one_in(5)) text = property::kExtremes[random.below(property::kExtremes.size())];
  if (!random.one_in(3)) property::corrupt(text, random);
  if (random.one_in(200)) text.append(random.below(70'000), static_cast<char>('(' + random.below(90)));
  std::erase(text, '\0');
  return text;
}

std::string variable(Random& random) {
  std::string text = kOptions[random.below(kOptions.size())].variable;
  if (random.one_in(10)) property::corrupt(text, random);
  std::erase(text, '\0');
  return text;
}

bool reads_well(Random& random) {
  std::vector<std::string> texts;
  for (std::size_t count = random.below(6); count > 0; --count)
    texts.push_back(variable(random) + (random.one_in(30) ? "" : "=") + value(random));
  std::vector<const char*> environment;
  for (const std::string& text : texts) environment.push_back(text.c_str());
  environment.push_back(nullptr);

  const Options options = read_options(environment.data());
  for (const std::string& problem : options.problems) {
    if (problem.empty()) return false;
  }
  const ExpandedOut out =
      expand_out_template(options.out, {"7", "host", "3"}, [](const char*) { return "v"; });
  (void)out;
  (void)matches_glob(value(random), "model/decoder/layer1");
  if (options.problems.size() > texts.size()) {
    for (const std::string& text : texts) std::printf("  %s\n", text.c_str());
    for (const std::string& problem : options.problems) std::printf("  > %s\n", problem.c_str());
  }
  return options.problems.size() <= texts.size() && options.buffers >= 4 && options.buffers <= 512 &&
         options.flush_ms >= 50 && options.flush_ms <= 60'000;
}

}  // namespace

int main(int argc, char** argv) {
  const property::Cases cases(argc, argv);
  for (std::uint64_t number = 0; number < cases.count; ++number) {
    Random random(cases.seed, number);
    if (reads_well(random)) continue;
    std::printf("case %llu fails\n", static_cast<unsigned long long>(number));
    return 1;
  }
  return 0;
}
