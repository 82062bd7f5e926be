// SPDX-License-Identifier: Apache-2.0
//
// For tests of the control socket: a server in its own thread, as in an application, and
// clients on real sockets.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "profiler/control/control_server.h"
#include "tests/catch.h"

namespace rangefinder {

/// Answers each line with itself, or with `answer`, and counts lines and clients.
class EchoHandler final : public ControlServer::Handler {
 public:
  void on_line(ControlServer::ClientId client, std::string_view line) override {
    ++lines;
    if (server != nullptr) server->send(client, answer.empty() ? line : std::string_view(answer));
  }
  [[nodiscard]] bool waits(ControlServer::ClientId client) const override { return client == waiting; }
  void on_gone(ControlServer::ClientId) override { ++gone; }

  ControlServer* server = nullptr;
  std::string answer;
  std::atomic<ControlServer::ClientId> waiting{0};  ///< a client that waits for something
  std::atomic<int> lines{0}, gone{0};
};

/// A server with its own folder and its own thread.
class ServedControl {
 public:
  explicit ServedControl(const ControlLimits& limits = {}) : server(echo, limits) {
    char folder_template[] = "/tmp/rangefinder-control-XXXXXX";
    holder = mkdtemp(folder_template);
    folder = holder + "/sockets";
    echo.server = &server;
    ControlSocket socket = open_control_socket({folder}, getpid());
    path = socket.path;
    REQUIRE(server.open(std::move(socket)));
    thread = std::thread([this] {
      while (!stopped.load()) server.poll(std::chrono::milliseconds(-1));
    });
  }
  ~ServedControl() {
    stop();
    rmdir(folder.c_str());
    rmdir(holder.c_str());
  }
  ServedControl(const ServedControl&) = delete;
  ServedControl& operator=(const ServedControl&) = delete;

  void stop() {
    stopped.store(true);
    server.wake();
    if (thread.joinable()) thread.join();
    server.close();
  }

  EchoHandler echo;
  ControlServer server;
  std::string holder, folder, path;
  std::atomic<bool> stopped{false};
  std::thread thread;
};

class ControlPeer {
 public:
  explicit ControlPeer(const std::string& path) : file_(connect_control_socket(path)) {
    while (file_ < 0 && errno == EAGAIN) {  // the server has yet to accept those before
      std::this_thread::yield();
      file_ = connect_control_socket(path);
    }
    REQUIRE(file_ >= 0);
    REQUIRE(fcntl(file_, F_SETFL, 0) == 0);  // blocking
  }
  ~ControlPeer() { close(file_); }
  ControlPeer(const ControlPeer&) = delete;
  ControlPeer& operator=(const ControlPeer&) = delete;

  /// False: the server has closed the connection.
  bool send(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = ::send(file_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
      if (n < 0) return false;
      done += static_cast<std::size_t>(n);
    }
    return true;
  }

  /// Receives a line, or what comes before the end of the connection.
  std::string receive() {
    std::string line;
    char character = 0;
    while (recv(file_, &character, 1, 0) == 1) {
      if (character == '\n') return line;
      line.push_back(character);
    }
    ended_ = true;
    return line;
  }
  bool ended() {
    while (!ended_) (void)receive();
    return true;
  }

 private:
  int file_;
  bool ended_ = false;
};

template <typename Condition>
[[nodiscard]] bool becomes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace rangefinder
