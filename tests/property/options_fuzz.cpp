// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever the environment holds, it is read: numbers stay within their bounds, each value that is
// not understood gives one message, and nothing is thrown. So it is with folder names and patterns.
#include <array>
#include <string>
#include <vector>

#include "profiler/base/out_template.h"
#include "profiler/base/path_glob.h"
#include "profiler/options/option_table.h"
#include "tests/property/corruption.h"
#include "tests/property/fuzz.h"

namespace rangefinder::fuzz {
namespace {

// clang-format off
constexpr std::array<std::string_view, 24> kValues{
    "on", "off", "auto", "exact", "sampled", "5", "1024", "cudaProfilerApi",
    "nvtx:a/**/b?@domain,after:10,for:20", "after:10s,for:20s", "repeat:3", "stop", "bytes,compute",
    "lts__t_bytes.sum", "%p-%h-%q{HOME}-%r-%%", "model/*/layer?", "(a|b)*c{2,5}[^x]", "stderr", "whole",
    "ready", "first", "launch", "range", "\\d+(?=x)\\1"};
// clang-format on

std::string any_value(Random& random) {
  std::string text(random.one_in(10)   ? random.element(kNumbers)
                   : random.one_in(10) ? random.element(kTexts)
                                       : random.element(kValues));
  if (!random.one_in(3)) corrupt(text, random);
  if (random.one_in(200)) text.append(random.below(70'000), static_cast<char>('(' + random.below(90)));
  std::erase(text, '\0');
  return text;
}

std::string any_variable(Random& random) {
  std::string text = random.element(kOptions).variable;
  if (random.one_in(10)) corrupt(text, random);
  std::erase(text, '\0');
  return text;
}

class OptionsFuzzer final : public Fuzzer {
 public:
  std::string check(Random& random) override {
    std::vector<std::string> texts;
    for (std::size_t count = random.below(6); count > 0; --count)
      texts.push_back(any_variable(random) + (random.one_in(30) ? "" : "=") + any_value(random));
    std::vector<const char*> environment;
    for (const std::string& text : texts) environment.push_back(text.c_str());
    environment.push_back(nullptr);

    const Options options = read_options(environment.data());

    (void)expand_out_template(options.out, {"7", "host", "3"}, [](const char*) { return "v"; });
    (void)matches_glob(any_value(random), "model/decoder/layer1");
    std::string all;
    for (const std::string& problem : options.problems) {
      if (problem.empty()) return "an empty message";
      all += "\n  " + problem;
    }
    if (options.problems.size() > texts.size()) return "more messages than variables:" + all;
    const bool bounded = options.buffers >= 4 && options.buffers <= 512 && options.flush_ms >= 50 &&
                         options.flush_ms <= 60'000;
    return bounded ? "" : "a number is out of its bounds";
  }
};

}  // namespace

MakeFuzzer* const make_options = &made<OptionsFuzzer>;

}  // namespace rangefinder::fuzz
