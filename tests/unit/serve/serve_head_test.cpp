// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tools/serve/http_head.h"

#include <string>

using namespace rangefinder;

namespace {

constexpr int kPort = 7117;
const std::string kHost = "Host: 127.0.0.1:7117\r\n";

int judged(const std::string& head) {
  return judge_head(head, kPort, {});
}

int with(const std::string& lines) {
  return judged("GET /api HTTP/1.1\r\n" + kHost + lines + "\r\n");
}

}  // namespace

TEST_CASE("a plain request from this machine is accepted") {
  CHECK(with("") == 0);
  CHECK(judged("HEAD / HTTP/1.0\r\nhost:localhost:7117\r\n\r\n") == 0);
  CHECK(with("Content-Length: 0\r\nAccept: */*\r\nConnection: close\r\n") == 0);
}

TEST_CASE("another name or another port of this machine is refused") {
  for (const char* const host : {"evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:71170", "[::]:7117",
                                 "localhost:7117.evil.example", "localhost:7117, localhost:7117"}) {
    CHECK(judged("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n") == 421);
  }
}

TEST_CASE("a page of another origin may link here but may not send requests") {
  CHECK(with("Origin: http://127.0.0.1:7117\r\nSec-Fetch-Site: same-origin\r\n") == 0);
  CHECK(with("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n") == 0);
  CHECK(with("Sec-Fetch-Site: none\r\n") == 0);
  for (const char* const lines :
       {"Origin: http://127.0.0.1:7117\r\nOrigin: http://127.0.0.1:7117\r\n",
        "Origin: http://127.0.0.1:3000\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"}) {
    INFO(lines);
    CHECK(with(lines) == 403);
  }
}

TEST_CASE("a body is refused in every form") {
  CHECK(with("Content-Length: 1\r\n") == 413);
  CHECK(with("Content-Length: 00\r\n") == 413);
  CHECK(with("Transfer-Encoding: identity\r\n") == 413);
  CHECK(judged("POST / HTTP/1.1\r\n" + kHost + "\r\n") == 405);
}

TEST_CASE("an ambiguous head is refused") {
  for (const std::string& lines :
       {kHost, std::string(" folded: line\r\n"), std::string("Name : value\r\n"), std::string("no colon\r\n"),
        std::string("X: a\nY: b\r\n"), std::string("X: a\rb\r\n"), std::string("X: \0\r\n", 6),
        std::string("X: \xC3\xA4\r\n")}) {
    INFO(lines);
    CHECK(with(lines) == 400);
  }
  for (const std::string& head :
       {"GET /a b HTTP/1.1\r\n" + kHost + "\r\n", "GET http://127.0.0.1:7117/ HTTP/1.1\r\n" + kHost + "\r\n",
        std::string("GET / HTTP/1.1"), std::string()}) {
    INFO(head);
    CHECK(judged(head) == 400);
  }
}

TEST_CASE("a target that is too long is refused") {
  const HttpLimits limits;
  CHECK(judged("GET /" + std::string(limits.target_bytes - 1, 'a') + " HTTP/1.1\r\n" + kHost + "\r\n") == 0);
  CHECK(judged("GET /" + std::string(limits.target_bytes, 'a') + " HTTP/1.1\r\n" + kHost + "\r\n") == 414);
}

TEST_CASE("no prefix of a head with a foreign origin is accepted") {
  const std::string good = "GET /api HTTP/1.1\r\n" + kHost + "Origin: http://evil.example\r\n\r\n";
  for (std::size_t n = 0; n < good.size(); ++n) {
    // A prefix that ends before the Origin line may be accepted.
    if (judged(good.substr(0, n)) == 0) CHECK(n <= good.find("Origin"));
  }
}
