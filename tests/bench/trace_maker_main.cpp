// SPDX-License-Identifier: Apache-2.0
//
// trace_maker --kernels 10000000 --paths 500 --out DIR: makes a trace to try tools on, see trace_maker.h.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "tests/bench/trace_maker.h"

namespace {

using rangefinder::bench::TraceMakerOptions;

constexpr const char* kUsage = R"(usage: trace_maker [OPTIONS] --out DIR

Makes a valid trace of a program that runs a model again and again. The same options give the same bytes.

  --kernels N   kernels on the GPU [1000000]
  --paths N     modules of the model, each an NVTX range [500]
  --sampled     hardware samples every 20 us; every kernel of every path has its own byte rates
  --graphs      every second module below the model is a CUDA graph, captured once and then replayed
  --exact       exact lines with DRAM and L2 bytes instead of launches
  --ranges      exact lines whose launches share the counter range of their module's call; implies --exact
  --truth FILE  writes the true bytes: path, DRAM read, DRAM written, L2, of each module and all below it

--sampled, --graphs, --exact and --ranges may be combined. With --sampled and --exact every launch has exact
bytes too, which no recording has at one time.
)";

struct Flag {
  std::string_view name;
  bool TraceMakerOptions::*value;
};
constexpr std::array kFlags{
    Flag{"--sampled", &TraceMakerOptions::sampled}, Flag{"--graphs", &TraceMakerOptions::graphs},
    Flag{"--exact", &TraceMakerOptions::exact}, Flag{"--ranges", &TraceMakerOptions::ranges}};

/// False: no option has this name.
bool set_value(TraceMakerOptions& options, std::string_view name, const char* value) {
  if (name == "--kernels") {
    options.kernels = std::strtoull(value, nullptr, 10);
  } else if (name == "--paths") {
    options.paths = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
  } else if (name == "--out") {
    options.out = value;
  } else if (name == "--truth") {
    options.truth = value;
  } else {
    return false;
  }
  return true;
}

/// nullopt: wrong use.
std::optional<TraceMakerOptions> parse(int argc, char** argv) {
  TraceMakerOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto flag =
        std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& known) { return known.name == name; });
    if (flag != kFlags.end()) {
      options.*(flag->value) = true;
    } else if (++i == argc || !set_value(options, name, argv[i])) {
      return std::nullopt;
    }
  }
  if (options.out.empty() || options.kernels == 0 || options.paths == 0) return std::nullopt;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<TraceMakerOptions> options = parse(argc, argv);
  if (!options) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    rangefinder::bench::TraceMaker maker(*options);
    maker.make();
    std::printf("%llu lines in %s\n", static_cast<unsigned long long>(maker.lines()), options->out.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trace_maker: %s\n", error.what());
    return 3;
  }
  return 0;
}
