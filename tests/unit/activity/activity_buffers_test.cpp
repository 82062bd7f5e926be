// SPDX-License-Identifier: Apache-2.0
//
// Whole buffers: record order, the end, and unexpected records.
#include "profiler/activity/activity_decoder.h"

#include "tests/catch.h"
#include "tests/unit/activity/activity_buffer.h"
#include "tests/unit/activity/collected.h"
#include "tests/unit/cupti/real_cupti.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

DecodeResult decode(const CuptiFunctions& cupti, ActivityBuffer& buffer, RecordSink& sink) {
  return decode_activity(cupti, buffer.data(), buffer.bytes(), sink);
}

}  // namespace

TEST_CASE("a full buffer is decoded in order") {
  REAL_CUPTI_OR_SKIP(cupti);
  ActivityBuffer buffer;
  buffer.append(context(1, 0));
  buffer.append(stream(7, 1));
  buffer.append(kernel("a"));
  buffer.append(memcpy_htod(1));
  buffer.append(overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, 1, nullptr));
  buffer.append(memset_of(1));
  buffer.append(memcpy_peer(0, 1));
  buffer.append(kernel("b"));

  Collected out;
  const DecodeResult result = decode(cupti, buffer, out);

  CHECK(out.order == "xskcomck");
  CHECK(out.names == std::vector<std::string>{"a", "b"});
  CHECK(result.records == 8);
}

TEST_CASE("a truncated last record is dropped, not read past the end") {
  REAL_CUPTI_OR_SKIP(cupti);
  for (const std::size_t cut : {8, 16, 104, 208}) {
    ActivityBuffer buffer;
    buffer.append(kernel("whole"));
    buffer.append(kernel("cut"));
    buffer.cut(cut);

    Collected out;
    const DecodeResult result = decode(cupti, buffer, out);

    CHECK(out.names == std::vector<std::string>{"whole"});
    CHECK_FALSE(result.corrupt);
  }
}

TEST_CASE("a kind that we did not enable is counted, and later records are read") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityExternalCorrelation other{};
  other.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  ActivityBuffer buffer;
  buffer.append(kernel("a"));
  buffer.append(other);
  buffer.append(kernel("b"));

  Collected out;
  const DecodeResult result = decode(cupti, buffer, out);

  CHECK(out.names == std::vector<std::string>{"a", "b"});
  CHECK(result.records == 3);
  CHECK(result.unknown == 1);
  CHECK_FALSE(result.corrupt);
}

TEST_CASE("a kind that CUPTI does not know ends the buffer and marks it corrupt") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityKernel10 broken = kernel("broken");
  broken.kind = static_cast<CUpti_ActivityKind>(0);
  ActivityBuffer buffer;
  buffer.append(kernel("a"));
  buffer.append(broken);
  buffer.append(kernel("never read"));

  Collected out;
  const DecodeResult result = decode(cupti, buffer, out);

  CHECK(out.names == std::vector<std::string>{"a"});
  CHECK(result.corrupt);
}

TEST_CASE("an empty buffer has no record and is not corrupt") {
  REAL_CUPTI_OR_SKIP(cupti);
  ActivityBuffer buffer;
  buffer.append(kernel("beyond the end"));

  Collected out;
  const DecodeResult result = decode_activity(cupti, buffer.data(), 0, out);

  CHECK(out.size() == 0);
  CHECK(result.records == 0);
  CHECK_FALSE(result.corrupt);
}
