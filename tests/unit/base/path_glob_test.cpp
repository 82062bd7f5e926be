// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/path_glob.h"

#include <random>
#include <string>

#include "tests/catch.h"

using rangefinder::matches_glob;

namespace {

/// Reference implementation: tries every extent of each star. `p`: position in `pattern`.
bool matches_by_definition(std::string_view pattern, std::size_t p, std::string_view path) {
  const std::string_view rest = pattern.substr(p);
  if (rest.empty()) return path.empty() || path.front() == '/';
  const bool two = rest.starts_with("**");
  if (two || rest.front() == '*') {
    const bool levels = rest.starts_with("**/") && (p == 0 || pattern[p - 1] == '/');
    for (std::size_t i = 0; i <= path.size(); ++i) {
      const bool may_end_here = !levels || i == 0 || path[i - 1] == '/';
      if (may_end_here && matches_by_definition(pattern, p + (levels ? 3 : two ? 2 : 1), path.substr(i)))
        return true;
      if (!two && i < path.size() && path[i] == '/') return false;
    }
    return false;
  }
  if (path.empty() || (rest.front() == '?' ? path.front() == '/' : rest.front() != path.front()))
    return false;
  return matches_by_definition(pattern, p + 1, path.substr(1));
}

/// The same for a whole pattern: without a slash it may begin at each level, with one in front at the first.
bool matches_by_definition(std::string_view pattern, std::string_view path) {
  if (pattern.starts_with('/')) return matches_by_definition(pattern.substr(1), 0, path);
  if (pattern.empty() || pattern.find('/') != std::string_view::npos)
    return matches_by_definition(pattern, 0, path);
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if ((i == 0 || path[i - 1] == '/') && matches_by_definition(pattern, 0, path.substr(i))) return true;
  }
  return false;
}

std::string random_text(std::mt19937& random, std::string_view characters, std::size_t longest) {
  std::string text;
  for (std::size_t left = random() % (longest + 1); left > 0; --left)
    text += characters[random() % characters.size()];
  return text;
}

}  // namespace

TEST_CASE("a pattern matches a path and all below it, with stars and question marks") {
  struct Case {
    const char *pattern, *path;
    bool matches;
  };
  const Case cases[] = {
      {"model/decoder", "model/decoder", true},
      {"model/decoder", "model/decoder/layers/0", true},
      {"model/decoder", "model", false},
      {"model/decoder", "model/decoder_head", false},
      // Without a slash: a level of that name, wherever it is.
      {"decoder", "model/decoder", true},
      {"decoder", "model/decoder/layers/0", true},
      {"decoder", "model/decoder_head", false},
      {"decoder", "model/pre_decoder", false},
      {"dec*er", "model/pre_decoder/decoder", true},
      {"0**1", "model/0/a/1", true},
      // A slash in front: the outermost level alone.
      {"/model", "model/decoder", true},
      {"/decoder", "model/decoder", false},
      // A star is any text within one level.
      {"model/*/self_attn", "model/0/self_attn", true},
      {"model/layer*", "model/layer", true},
      {"model/l*r*3", "model/layer_33", true},
      {"*", "model/decoder", true},
      {"model/*/self_attn", "model/layers/0/self_attn", false},
      {"model/*x", "model/layer", false},
      // Two stars are any number of levels, including none.
      {"**/fpn_blocks/1", "fpn_blocks/1", true},
      {"**/fpn_blocks/1", "model/encoder/fpn_blocks/1/conv", true},
      {"model/**/conv", "model/conv", true},
      {"model/**/conv", "model/a/b/conv", true},
      {"model/**", "model/a", true},
      {"**/fpn_blocks/1", "model/fpn_blocks/10", false},
      // Two stars and a slash match no level only at the start of a level.
      {"model/**/**/conv", "model/conv", true},
      {"a**/b", "axx/b", true},
      {"a**/b", "ab", false},
      // A question mark is one character and no slash.
      {"layers/?", "layers/3", true},
      {"layers/?", "layers/33", false},
      {"a?b", "a/b", false},
      {"a?", "a", false},
      // An empty pattern matches only the empty path.
      {"", "", true},
      {"", "model", false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.pattern, one.path);
    CHECK(matches_glob(one.pattern, one.path) == one.matches);
  }
}

TEST_CASE("random patterns match like the reference implementation") {
  std::mt19937 random(20'261'122);
  int matched = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string pattern = random_text(random, "ab/*?*", 8);
    if (random() % 3 == 0) pattern.insert(random() % (pattern.size() + 1), "/**/");
    if (random() % 9 == 0) pattern.insert(0, "**/");
    const std::string path = random_text(random, "ab/", 11);
    const bool expected = matches_by_definition(pattern, path);
    if (matches_glob(pattern, path) != expected) FAIL(pattern << " over " << path << ": " << expected);
    matched += expected ? 1 : 0;
  }
  CHECK(matched > 20'000);
}

TEST_CASE("a pattern of any length needs no stack and little time") {
  CHECK(matches_glob(std::string(1'000'000, '*'), "model/decoder"));
  CHECK_FALSE(matches_glob(std::string(1'000'001, '*') + "x", "model/decoder"));
  std::string many;
  for (int i = 0; i < 30; ++i) many += "**a*";
  CHECK_FALSE(matches_glob(many + "b", std::string(200, 'a')));
}
