// SPDX-License-Identifier: Apache-2.0
#include "schema/path_glob.h"

#include "tests/catch.h"

using rangefinder::matches_glob;

TEST_CASE("a pattern names a path and all below it") {
  CHECK(matches_glob("model/decoder", "model/decoder"));
  CHECK(matches_glob("model/decoder", "model/decoder/layers/0"));
  CHECK_FALSE(matches_glob("model/decoder", "model"));
  CHECK_FALSE(matches_glob("model/decoder", "model/decoder_head"));
  CHECK_FALSE(matches_glob("decoder", "model/decoder"));
}

TEST_CASE("a star is any text within one level") {
  CHECK(matches_glob("model/*/self_attn", "model/0/self_attn"));
  CHECK(matches_glob("model/layer*", "model/layer"));
  CHECK(matches_glob("model/l*r*3", "model/layer_33"));
  CHECK(matches_glob("*", "model/decoder"));
  CHECK_FALSE(matches_glob("model/*/self_attn", "model/layers/0/self_attn"));
  CHECK_FALSE(matches_glob("model/*x", "model/layer"));
}

TEST_CASE("two stars are any levels, none too") {
  CHECK(matches_glob("**/fpn_blocks/1", "fpn_blocks/1"));
  CHECK(matches_glob("**/fpn_blocks/1", "model/encoder/fpn_blocks/1/conv"));
  CHECK(matches_glob("model/**/conv", "model/conv"));
  CHECK(matches_glob("model/**/conv", "model/a/b/conv"));
  CHECK(matches_glob("model/**", "model/a"));
  CHECK_FALSE(matches_glob("**/fpn_blocks/1", "model/fpn_blocks/10"));
}

TEST_CASE("a question mark is one letter and no slash") {
  CHECK(matches_glob("layers/?", "layers/3"));
  CHECK_FALSE(matches_glob("layers/?", "layers/33"));
  CHECK_FALSE(matches_glob("a?b", "a/b"));
  CHECK_FALSE(matches_glob("a?", "a"));
}

TEST_CASE("an empty pattern matches the empty path alone") {
  CHECK(matches_glob("", ""));
  CHECK_FALSE(matches_glob("", "model"));
}
