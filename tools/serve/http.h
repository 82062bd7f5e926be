// SPDX-License-Identifier: Apache-2.0
//
// The HTTP interface of `serve`: request, response, listener.
//
//   rangefinder ─ dlopen ─▶ librangefinder_http.so (cpp-httplib) ─▶ HttpListener
//                                        accepted request ─▶ HttpHandler ─▶ HttpResponse
//
// The listener is a separate module that only `serve` loads, so that the other verbs work without
// cpp-httplib. It binds 127.0.0.1 only; http_head.h lists what it refuses.
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
  std::map<std::string, std::string> query;  ///< decoded; the first value of a repeated name

  /// nullptr: not given.
  [[nodiscard]] const std::string* parameter(const std::string& name) const {
    const auto at = query.find(name);
    return at == query.end() ? nullptr : &at->second;
  }
};

/// Returns the next part of a streamed body; empty: nothing at the moment; nullopt: the end.
using HttpParts = std::function<std::optional<std::string>()>;

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::string policy;  ///< Content-Security-Policy; empty: allow nothing
  std::string damage;  ///< of the trace that the answer is about, for the header Rangefinder-Damage; "": none
  HttpParts parts;     ///< if set, replaces `body`
};

/// Called on any thread, on several at the same time. Must not throw.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct HttpLimits {
  std::size_t head_bytes = 16'384;   ///< request line and headers
  std::size_t target_bytes = 4'096;  ///< path and query
  int head_ms = 5'000;               ///< maximum time for a head, from the start of waiting for it
  int write_ms = 10'000;             ///< a client that reads nothing for this time is disconnected
  std::size_t connections = 48;      ///< at the same time; further clients get 503
  std::size_t requests_a_connection = 1'000;
};

/// Refused requests, by reason.
struct HttpRefusals {
  std::atomic<std::uint64_t> too_large{0}, too_slow{0}, too_many{0}, foreign{0}, malformed{0};
};

class HttpListener {
 public:
  virtual ~HttpListener() = default;
  HttpListener() = default;
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  /// `port` 0: any free port. Returns the port; 0: it could not be bound. Call once, before run().
  [[nodiscard]] virtual int bind(int port) = 0;
  /// Serves until stop(), then until the last answer is sent.
  virtual void run() = 0;
  /// From another thread.
  virtual void stop() = 0;
  [[nodiscard]] virtual const HttpRefusals& refusals() const noexcept = 0;
};

/// Type and name of the module's only function.
using MakeHttpListener = HttpListener*(const HttpLimits& limits, HttpHandler handler);
inline constexpr const char* kHttpModuleFunction = "rangefinder_http_listener";
inline constexpr const char* kHttpModule = "librangefinder_http.so";

}  // namespace rangefinder

extern "C" rangefinder::MakeHttpListener rangefinder_http_listener;
