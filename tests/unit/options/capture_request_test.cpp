// SPDX-License-Identifier: Apache-2.0
#include "profiler/options/capture_request.h"

#include "tests/catch.h"

using namespace rangefinder;

namespace {

CaptureRequest read(const char* text, const char* end = "") {
  CaptureRequest request;
  REQUIRE(read_capture(text, end, request));
  return request;
}

}  // namespace

TEST_CASE("cudaProfilerApi opens a window for every pair of calls") {
  const CaptureRequest request = read("cudaProfilerApi");

  CHECK(request.by == CaptureBy::profiler_calls);
  CHECK(request.windows == CaptureRequest::kUnlimited);
  CHECK(read("cudaProfilerApi", "stop").windows == 1);
  CHECK(read("cudaProfilerApi", "repeat:3").windows == 3);
}

TEST_CASE("a range capture has a pattern and may have a domain and limits") {
  const CaptureRequest request = read("nvtx:model/{a,b}/*@torch,after:10,for:20");

  CHECK(request.by == CaptureBy::ranges);
  CHECK(request.glob == "model/{a,b}/*");
  CHECK(request.domain == "torch");
  CHECK(request.after_count == 10);
  CHECK(request.for_count == 20);
  CHECK(request.windows == 1);
  CHECK(read("nvtx:step").for_count == 1);
}

TEST_CASE("limits without a range count outermost ranges or time") {
  const CaptureRequest ranges = read("after:10,for:20");
  const CaptureRequest time = read("after:1.5s,for:200ms", "repeat");

  CHECK(ranges.by == CaptureBy::ranges);
  CHECK(ranges.glob.empty());
  CHECK(time.by == CaptureBy::time);
  CHECK(time.after_ns == 1'500'000'000);
  CHECK(time.for_ns == 200'000'000);
  CHECK(time.windows == CaptureRequest::kUnlimited);
}

TEST_CASE("an invalid capture is refused and changes nothing") {
  CaptureRequest request = read("nvtx:kept");
  for (const char* const text :
       {"sometimes", "nvtx:", "nvtx:@domain", "nvtx:a@", "after:10,for:2s", "after:", "for:0",
        "nvtx:a,after:10s", "after:-1s,for:1s", "after:nans", "cudaProfilerApi,for:3"}) {
    INFO(text);
    CHECK_FALSE(read_capture(text, "", request));
  }
  CHECK_FALSE(read_capture("nvtx:a", "repeat:0", request));
  CHECK_FALSE(read_capture("nvtx:a", "never", request));
  CHECK_FALSE(read_capture("", "stop", request));
  CHECK(request.glob == "kept");
}

TEST_CASE("an empty request captures nothing") {
  CHECK(read("").empty());
}
