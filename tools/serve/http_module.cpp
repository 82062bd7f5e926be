// SPDX-License-Identifier: Apache-2.0
//
// The one file that knows cpp-httplib.
//
//   accept ─▶ BoundedTasks: a thread each, 503 where all are busy
//             └─▶ read_head, judge_head ─▶ HeadStream ─▶ Server::process_request ─▶ handler ─▶ socket
//
// The library parses and writes; it never reads the socket itself, because it would read without an end and
// without a deadline. Routes are ours (its own are regular expressions): every request ends in the handler
// that stands before them.
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

/// Of an answer that may hold nothing but data.
constexpr const char* kClosedPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// What a refused client still sends is read for so long, and so often a head's most bytes.
constexpr int kAfterwardsMs = 500, kAfterwardsParts = 64;

/// Connections that may wait to be accepted.
constexpr int kWaiting = 128;

/// True on the accepting thread, for a connection that nobody has time for.
thread_local bool refusing = false;

class BoundedTasks final : public httplib::TaskQueue {
 public:
  explicit BoundedTasks(std::size_t most) : most_(most), pool_(most) {}
  void enqueue(std::function<void()> task) override {
    if (busy_.fetch_add(1) >= most_) {
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
  const std::size_t most_;
  std::atomic<std::size_t> busy_{0};
  httplib::ThreadPool pool_;
};

/// A head that was read already, and the socket to answer to.
class HeadStream final : public httplib::Stream {
 public:
  HeadStream(int socket, std::string_view head, int patience_ms)
      : socket_(socket), head_(head), patience_ms_(patience_ms) {}

  [[nodiscard]] bool is_readable() const override { return !head_.empty(); }
  [[nodiscard]] bool is_writable() const override {
    char byte = 0;
    // 0: the other end was closed.
    return !broken_ && recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
  }
  ssize_t read(char* to, std::size_t most) override {
    const std::size_t n = std::min(most, head_.size());
    std::copy_n(head_.data(), n, to);
    head_.remove_prefix(n);
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* text, std::size_t size) override {
    broken_ = broken_ || !write_text(socket_, {text, size}, patience_ms_);
    return broken_ ? -1 : static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  const int socket_;
  std::string_view head_;
  const int patience_ms_;
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
          return false;  // the answer is cut off, which the client sees
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
    // SO_REUSEPORT, its default, would let two servers have one port.
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
    // Its queue of five would make clients that come together wait for seconds.
    if (port_ != 0) (void)::listen(svr_sock_, kWaiting);
    return port_;
  }
  void run() override {
    if (!stopping_) listen_after_bind();
    ended_ = true;
  }
  void stop() override {
    stopping_ = true;
    // Its stop() does nothing before it has begun.
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
        // No memory for this one: the others go on.
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
    // What the client still sends is taken, for a moment: a reset would take the answer from it.
    shutdown(socket, SHUT_WR);
    std::string rest, ignored;
    HttpLimits brief = limits_;
    brief.head_ms = refusing ? 0 : kAfterwardsMs;
    for (int i = 0; i < kAfterwardsParts; ++i) {
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
