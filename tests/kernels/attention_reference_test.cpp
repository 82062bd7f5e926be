// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

constexpr int kChannels = 32;
constexpr std::size_t kRow = 2 * kChannels;  // two heads

/// One image, two heads, one query, two keys. All zero.
struct Attended {
  Attended() : query(kRow), key(2 * kRow), value(2 * kRow), output(kRow) {
    args.images = args.queries = 1;
    args.heads = args.keys = 2;
    args.head_channels = kChannels;
    args.scale = 0.5F;
    args.query = {query.data(), kRow, kRow};
    args.key = {key.data(), kRow, 2 * kRow};
    args.value = {value.data(), kRow, 2 * kRow};
    args.output = output.data();
  }
  std::vector<float> query, key, value, output;
  AttentionArgs args;
};

}  // namespace

TEST_CASE("equal scores give the mean of the values, head by head") {
  Attended attended;
  attended.value[3] = 2;
  attended.value[kRow + 3] = 4;
  attended.value[kChannels + 3] = 10;

  attention_reference(attended.args);

  CHECK(attended.output[3] == 3);
  CHECK(attended.output[kChannels + 3] == 5);
  CHECK(attended.output[4] == 0);
}

TEST_CASE("the score is the scaled product of query and key") {
  Attended attended;
  attended.query[0] = 2;
  attended.key[kRow] = std::log(3.0F);  // 0.5 * 2 * ln 3: three times the weight of the first key
  attended.value[5] = 4;
  attended.value[kRow + 5] = 8;

  attention_reference(attended.args);

  CHECK(attended.output[5] == Approx(7));
}

TEST_CASE("scores beyond the range of exp do not overflow") {
  Attended attended;
  attended.query[0] = 1000;
  attended.key[0] = 1000;
  attended.value[0] = 6;
  attended.value[kRow] = 1;

  attention_reference(attended.args);

  CHECK(attended.output[0] == 6);
}

TEST_CASE("attention without keys, or with heads of 64 channels, is refused") {
  Attended attended;
  attended.args.keys = 0;
  CHECK_THROWS(attention_reference(attended.args));

  attended.args.keys = 2;
  attended.args.head_channels = 64;
  CHECK_THROWS(attention_reference(attended.args));
}
