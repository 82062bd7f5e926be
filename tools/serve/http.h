// SPDX-License-Identifier: Apache-2.0
//
// HTTP as the rest of `serve` sees it: a question, an answer, somebody who listens.
//
//   rangefinder ─ dlopen ─▶ librangefinder_http.so (cpp-httplib) ─▶ HttpListener
//                                 request that is allowed ─▶ HttpHandler ─▶ HttpResponse
//
// The listener is a module of its own, loaded by `serve` alone: where cpp-httplib's library is missing, every
// other verb still starts. It binds 127.0.0.1 and nothing else; http_head.h says what it refuses.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace rangefinder {

struct HttpRequest {
  std::string path;                          ///< decoded, begins with '/'
  std::map<std::string, std::string> query;  ///< decoded; of a name that comes twice the first

  /// nullptr: not there.
  [[nodiscard]] const std::string* parameter(const std::string& name) const {
    const auto at = query.find(name);
    return at == query.end() ? nullptr : &at->second;
  }
};

/// The next part of a body that is made as it is sent; empty: nothing for the moment; none: that was all.
using HttpParts = std::function<std::optional<std::string>()>;

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string policy;  ///< Content-Security-Policy; empty: nothing is allowed
  HttpParts parts;     ///< instead of `body`, where it is set
};

/// Any thread, several at a time. Must not throw.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct HttpLimits {
  std::size_t head_bytes = 16'384;   ///< request line and headers
  std::size_t target_bytes = 4'096;  ///< path and query
  int head_ms = 5'000;               ///< from a connection's first byte, or its start, to the end of a head
  int write_ms = 10'000;             ///< a client that takes nothing for so long is cut off
  std::size_t connections = 48;      ///< at a time; others get 503
  std::size_t requests_a_connection = 1'000;
};

/// Requests that were not answered, by reason.
struct HttpRefusals {
  std::atomic<std::uint64_t> too_large{0}, too_slow{0}, too_many{0}, foreign{0}, malformed{0};
};

class HttpListener {
 public:
  virtual ~HttpListener() = default;
  HttpListener() = default;
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  /// 0: any free one. The port; 0: it could not be bound. Once, before run().
  [[nodiscard]] virtual int bind(int port) = 0;
  /// Serves until stop(), and until the last answer is sent.
  virtual void run() = 0;
  /// From another thread.
  virtual void stop() = 0;
  [[nodiscard]] virtual const HttpRefusals& refusals() const noexcept = 0;
};

/// The module's one function, and its name.
using MakeHttpListener = HttpListener*(const HttpLimits& limits, HttpHandler handler);
inline constexpr const char* kHttpModuleFunction = "rangefinder_http_listener";
inline constexpr const char* kHttpModule = "librangefinder_http.so";

}  // namespace rangefinder
