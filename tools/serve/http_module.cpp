// SPDX-License-Identifier: Apache-2.0
//
// The only file that uses cpp-httplib.
//
//   accept ─▶ BoundedTasks: one thread per connection, 503 if all are busy
//             └─▶ read_head, judge_head ─▶ HeadStream ─▶ Server::process_request ─▶ handler ─▶ socket
//
// The library parses and writes. It never reads the socket, because it would read without a size limit and
// without a deadline. We do our own routing, because the library's uses regular expressions: the pre-routing
// handler answers every request.
#include <httplib.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "tools/serve/http.h"
#include "tools/serve/http_head.h"

namespace rangefinder {
namespace {

/// For answers that contain only data.
constexpr const char* kClosedPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// Limits for draining what a refused client still sends: time, and number of parts of `head_bytes` each.
constexpr int kDrainMs = 500, kDrainParts = 64;

/// Backlog of connections that wait for accept().
constexpr int kBacklog = 128;

/// True on the accepting thread while it refuses a connection because all threads are busy.
thread_local bool refusing = false;

class BoundedTasks final : public httplib::TaskQueue {
 public:
  explicit BoundedTasks(std::size_t max) : max_(max), pool_(max) {}
  void enqueue(std::function<void()> task) override {
    if (busy_.fetch_add(1) >= max_) {
      busy_.fetch_sub(1);
      refusing = true;
      task();
      refusing = false;
      return;
    }
    pool_.enqueue([this, run = std::move(task)] {
      run();
      busy_.fetch_sub(1);
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  const std::size_t max_;
  std::atomic<std::size_t> busy_{0};
  httplib::ThreadPool pool_;
};

/// Stream of a head that was already read, and of the socket for the answer.
class HeadStream final : public httplib::Stream {
 public:
  HeadStream(int socket, std::string_view head, int timeout_ms)
      : socket_(socket), head_(head), timeout_ms_(timeout_ms) {}

  [[nodiscard]] bool is_readable() const override { return !head_.empty(); }
  [[nodiscard]] bool is_writable() const override {
    char byte = 0;
    // 0: the client closed the connection.
    return !broken_ && recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
  }
  ssize_t read(char* to, std::size_t max) override {
    const std::size_t n = std::min(max, head_.size());
    std::copy_n(head_.data(), n, to);
    head_.remove_prefix(n);
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* text, std::size_t size) override {
    broken_ = broken_ || !write_text(socket_, {text, size}, timeout_ms_);
    return broken_ ? -1 : static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  const int socket_;
  std::string_view head_;
  const int timeout_ms_;
  bool broken_ = false;
};

HttpRequest request_of(const httplib::Request& from) {
  HttpRequest out;
  out.path = from.path;
  for (const auto& [name, value] : from.params) out.query.emplace(name, value);
  return out;
}

void put(HttpResponse&& from, httplib::Response& to) {
  to.status = from.status;
  to.set_header("Content-Security-Policy", from.policy.empty() ? kClosedPolicy : from.policy);
  if (!from.damage.empty()) to.set_header("Rangefinder-Damage", from.damage);
  if (!from.parts) {
    to.set_content(std::move(from.body), from.type);
    return;
  }
  to.set_chunked_content_provider(
      from.type, [parts = std::move(from.parts)](std::size_t, httplib::DataSink& sink) {
        std::optional<std::string> part;
        try {
          part = parts();
        } catch (...) {
          return false;  // cuts the answer off, so that the client notices
        }
        if (!part) {
          sink.done();
          return true;
        }
        return part->empty() ? sink.is_writable() : sink.write(part->data(), part->size());
      });
}

class Listener final : public HttpListener, private httplib::Server {
 public:
  Listener(const HttpLimits& limits, HttpHandler handler) : limits_(limits) {
    new_task_queue = [this] { return new BoundedTasks(limits_.connections); };
    // Not SO_REUSEPORT, the library's default: two servers could bind the same port.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_default_headers({{"X-Content-Type-Options", "nosniff"},
                         {"X-Frame-Options", "DENY"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Cross-Origin-Resource-Policy", "same-origin"},
                         {"Cache-Control", "no-store"}});
    set_pre_routing_handler(
        [answer = std::move(handler)](const httplib::Request& request, httplib::Response& response) {
          put(answer(request_of(request)), response);
          return HandlerResponse::Handled;
        });
  }

  int bind(int port) override {
    port_ = port == 0 ? bind_to_any_port("127.0.0.1") : bind_to_port("127.0.0.1", port) ? port : 0;
    port_ = std::max(port_, 0);
    // With the library's backlog of five, simultaneous clients would wait for seconds.
    if (port_ != 0) (void)::listen(svr_sock_, kBacklog);
    return port_;
  }
  void run() override {
    if (!stopping_) listen_after_bind();
    ended_ = true;
  }
  void stop() override {
    stopping_ = true;
    // The library's stop() has no effect before the server runs.
    while (!is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    httplib::Server::stop();
  }
  [[nodiscard]] const HttpRefusals& refusals() const noexcept override { return refusals_; }

 private:
  bool process_and_close_socket(socket_t socket) override {
    if (refusing) {
      refuse(socket, 503);
    } else {
      try {
        converse(socket);
      } catch (...) {
        // Out of memory for this connection; the others continue.
      }
    }
    shutdown(socket, SHUT_RDWR);
    close(socket);
    return true;
  }

  void converse(int socket) {
    std::string rest, head;
    for (std::size_t n = 1; n <= limits_.requests_a_connection; ++n) {
      const HeadEnd end = read_head(socket, limits_, stopping_, rest, head);
      if (end == HeadEnd::closed) return;
      const int status = end == HeadEnd::too_slow    ? 408
                         : end == HeadEnd::too_large ? 431
                                                     : judge_head(head, port_, limits_);
      if (status != 0) return refuse(socket, status);
      HeadStream stream(socket, head, limits_.write_ms);
      bool closed = false;
      if (!process_request(stream, n == limits_.requests_a_connection, closed, nullptr) || closed) return;
    }
  }

  void refuse(int socket, int status) {
    const bool large = status == 413 || status == 414 || status == 431;
    const bool foreign = status == 403 || status == 421;
    auto& count = large           ? refusals_.too_large
                  : foreign       ? refusals_.foreign
                  : status == 408 ? refusals_.too_slow
                  : status == 503 ? refusals_.too_many
                                  : refusals_.malformed;
    ++count;
    const std::string reason(http_reason(status));
    const std::string text = "HTTP/1.1 " + std::to_string(status) + " " + reason +
                             "\r\nContent-Type: text/plain\r\nX-Content-Type-Options: nosniff\r\n" +
                             (status == 405 ? "Allow: GET, HEAD\r\n" : "") +
                             "Connection: close\r\nContent-Length: " + std::to_string(reason.size() + 1) +
                             "\r\n\r\n" + reason + "\n";
    if (!write_text(socket, text, 0)) return;
    // Drain the input for a moment: closing with unread input resets the connection, and the client loses
    // the answer.
    shutdown(socket, SHUT_WR);
    std::string rest, ignored;
    HttpLimits brief = limits_;
    brief.head_ms = refusing ? 0 : kDrainMs;
    for (int i = 0; i < kDrainParts; ++i) {
      if (read_head(socket, brief, stopping_, rest, ignored) != HeadEnd::too_large) return;
      rest.clear();
    }
  }

  const HttpLimits limits_;
  int port_ = 0;
  std::atomic<bool> stopping_{false}, ended_{false};
  HttpRefusals refusals_;
};

}  // namespace
}  // namespace rangefinder

extern "C" __attribute__((visibility("default"))) rangefinder::HttpListener* rangefinder_http_listener(
    const rangefinder::HttpLimits& limits, rangefinder::HttpHandler handler) {
  return new rangefinder::Listener(limits, std::move(handler));
}
