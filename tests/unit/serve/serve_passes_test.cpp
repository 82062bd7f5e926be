// SPDX-License-Identifier: Apache-2.0
//
// `serve` reads the trace of a request once, whatever the requests.
#include <atomic>
#include <filesystem>
#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/model/bytes_read.h"
#include "tools/serve/site.h"

namespace rangefinder {
namespace {

constexpr const char* kRoutes[]{"/api/modules", "/api/kernels", "/api/findings", "/api/timeline", "/trace"};

/// Serves recordings.
class Served {
 public:
  /// Passes over files of traces until the answer is made.
  std::uint64_t passes(const std::string& route, const std::string& trace,
                       const std::string& stretches = "") {
    HttpRequest request;
    request.path = route;
    request.query.emplace("trace", trace);
    if (!stretches.empty()) request.query.emplace("stretches", stretches);
    HttpResponse answer;
    const test::BytesRead read = test::bytes_read([&] { answer = site_.answer(request); });
    CHECK(answer.status == 200);
    CHECK(answer.body.size() > 2);
    return read.passes;
  }

 private:
  std::atomic<bool> stopping_ = false;
  Site site_{{RANGEFINDER_TEST_GOLDEN}, {}, stopping_};
};

}  // namespace

TEST_CASE("the first answer about a trace takes one pass over it, the others none") {
  for (const char* const first : kRoutes) {
    CAPTURE(first);
    Served served;

    CHECK(served.passes(first, "rtdetr_unfused") == 1);
    for (const char* const route : kRoutes) CHECK(served.passes(route, "rtdetr_unfused") == 0);
    CHECK(served.passes("/api/timeline", "rtdetr_unfused", "7") == 0);
  }
}

TEST_CASE("one trace is kept in memory, and answers about others") {
  Served served;
  CHECK(served.passes("/api/modules", "rtdetr_unfused") == 1);
  CHECK(served.passes("/api/modules", "multi_stream") == 1);

  CHECK(served.passes("/api/modules", "rtdetr_unfused") == 0);
  CHECK(served.passes("/api/kernels", "multi_stream") == 0);
  CHECK(served.passes("/api/kernels", "rtdetr_unfused") == 1);
}

}  // namespace rangefinder
