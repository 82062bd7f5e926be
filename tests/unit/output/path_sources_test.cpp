// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/path_sources.h"

#include <initializer_list>
#include <memory>

#include "profiler/events/module_chain.h"
#include "profiler/events/recorder.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

struct Sources {
  std::unique_ptr<Recorder> recorder = std::make_unique<Recorder>();
  PathSources sources{recorder->paths};

  /// The path with these names, the outermost first.
  std::uint32_t path(std::initializer_list<const char*> names) {
    std::uint32_t out = 0;
    for (const char* const name : names) out = recorder->paths.child({out, recorder->names.intern(name), 0});
    return out;
  }
  std::uint64_t module(std::initializer_list<const char*> innermost_first) {
    std::uint64_t out = 0;
    for (const char* const name : innermost_first) out = module_chain(out, recorder->names.intern(name));
    return out;
  }
};

constexpr PathSource kLine{5, 214, 6, 30};

}  // namespace

TEST_CASE("a module's lines are those of all paths that end with its names") {
  Sources of;
  of.sources.add(of.path({"train", "decoder", "attn"}), of.module({"attn", "decoder"}), kLine);

  CHECK(of.sources.find(of.path({"train", "decoder", "attn"})) == kLine);
  CHECK(of.sources.find(of.path({"train", "backward", "decoder", "attn"})) == kLine);
  CHECK(of.sources.find(of.path({"decoder", "attn"})) == kLine);
  CHECK_FALSE(of.sources.find(of.path({"train", "decoder"})));
  CHECK_FALSE(of.sources.find(of.path({"train", "attn"})));
  CHECK_FALSE(of.sources.find(of.path({"train", "decoder", "attn", "own range"})));
  CHECK_FALSE(of.sources.find(0));
}

TEST_CASE("of two modules whose names end a path, that with more names counts") {
  Sources of;
  const PathSource inner{7, 1, 8, 2};
  of.sources.add(of.path({"attn"}), of.module({"attn"}), inner);
  of.sources.add(of.path({"decoder", "attn"}), of.module({"attn", "decoder"}), kLine);

  CHECK(of.sources.find(of.path({"val", "decoder", "attn"})) == kLine);
  CHECK(of.sources.find(of.path({"val", "encoder", "attn"})) == inner);
}

TEST_CASE("paths with the same names keep their own lines, and others get what these have in common") {
  Sources of;
  const PathSource second{5, 214, 6, 80}, third{9, 1, 6, 81};
  of.sources.add(of.path({"train", "Net"}), of.module({"Net"}), kLine);
  of.sources.add(of.path({"val", "Net"}), of.module({"Net"}), second);

  CHECK(of.sources.find(of.path({"train", "Net"})) == kLine);
  CHECK(of.sources.find(of.path({"val", "Net"})) == second);
  CHECK(of.sources.find(of.path({"test", "Net"})) == PathSource{5, 214, 0, 0});

  of.sources.add(of.path({"other", "Net"}), of.module({"Net"}), third);
  CHECK_FALSE(of.sources.find(of.path({"test", "Net"})));
}

TEST_CASE("the first lines of a path stay") {
  Sources of;
  of.sources.add(of.path({"Net"}), of.module({"Net"}), kLine);
  of.sources.add(of.path({"Net"}), of.module({"Net"}), PathSource{1, 2, 3, 4});

  CHECK(of.sources.find(of.path({"Net"})) == kLine);
}

TEST_CASE("a program that makes modules for days does not fill the memory") {
  Sources of;
  for (std::uint32_t i = 1; i <= PathSources::kMax + 10; ++i) of.sources.add(i, i, kLine);

  CHECK(of.sources.find(PathSources::kMax) == kLine);
  CHECK_FALSE(of.sources.find(PathSources::kMax + 5));
}
