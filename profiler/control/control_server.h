// SPDX-License-Identifier: Apache-2.0
//
// Carries lines from clients to a handler, and lines back. Knows nothing about their meaning.
//
//   client ─ line\n ─▶ poll() ─▶ Handler::on_line          send() ─▶ output of the client ─▶ client
//
// We are a guest: a client must cost the application nothing. So everything is bounded. A
// client is disconnected if it sends a line that is too long, too many lines a second, or a
// line that it never finishes, if it never reads its answers, or if it is idle while others wait for
// its place. Nothing blocks, and no write
// raises SIGPIPE. An application may close all descriptors, ours too, and reuse their numbers:
// every descriptor is used only while it still is the file that we opened.
//
// One thread calls everything but wake(), close_in_child() and remove_file().
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/guest/control_socket.h"
#include "profiler/guest/owned_file.h"

namespace rangefinder {

struct ControlLimits {
  std::size_t clients = 16;
  std::size_t line_bytes = 65'536;
  std::size_t output_bytes = std::size_t{8} << 20;  ///< not yet read by the client
  std::uint32_t lines_per_second = 200;
  std::chrono::milliseconds half_line{10'000};
  std::chrono::milliseconds unfetched{5'000};
  std::chrono::milliseconds idle{1'000};  ///< without a request, while more than `clients` are connected
};

class ControlServer {
 public:
  using ClientId = std::uint64_t;

  class Handler {
   public:
    Handler() = default;
    virtual ~Handler() = default;
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    /// A whole line, without its newline. May call send().
    virtual void on_line(ClientId client, std::string_view line) = 0;
    /// Whether the client waits for an answer or for events, so that it is not idle.
    [[nodiscard]] virtual bool waits(ClientId client) const = 0;
    /// The client has left or was disconnected; its id is not reused.
    virtual void on_gone(ClientId client) = 0;
  };

  ControlServer(Handler& handler, const ControlLimits& limits) : handler_(handler), limits_(limits) {}
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// Takes `socket`. It may have no file: then only wake() ends a poll().
  /// False: out of file descriptors.
  [[nodiscard]] bool open(ControlSocket socket);
  /// Waits for clients, at most `timeout` (negative: without limit), and serves them once.
  void poll(std::chrono::milliseconds timeout);
  /// Ends a poll() that waits. Any thread; also in callbacks and signal handlers.
  void wake() noexcept;

  /// Queues `line` and adds a newline. A client that does not read its lines is disconnected.
  void send(ClientId client, std::string_view line);
  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }
  [[nodiscard]] const std::string& path() const noexcept { return socket_.path; }

  /// Disconnects all clients and removes the socket's file. Thread of poll().
  void close();
  /// In a forked child: closes the inherited descriptors. Takes no lock and allocates no memory.
  void close_in_child() noexcept;
  /// Removes the socket's file; any thread.
  void remove_file() noexcept;

 private:
  struct Client {
    ClientId id = 0;
    OwnedFile socket;
    std::string input, output;
    std::size_t sent = 0;  // of output
    std::chrono::steady_clock::time_point second_began{}, half_line_since{}, unfetched_since{}, idle_since{};
    std::uint32_t lines_this_second = 0;
    bool dead = false;
  };
  static constexpr std::size_t kMaxFiles = 24;

  [[nodiscard]] OwnedFile own(int file) noexcept;
  void disown(OwnedFile& owned) noexcept;
  void accept_clients();
  void read(Client& client);
  void take_lines(Client& client);
  void write(Client& client);
  void check_deadlines(Client& client, std::chrono::steady_clock::time_point now);
  void make_room(std::chrono::steady_clock::time_point now);
  [[nodiscard]] bool is_full() const noexcept {
    return listener_.file >= 0 && clients_.size() >= limits_.clients;
  }
  void disconnect(Client& client, const char* why);
  void remove_dead_clients();
  [[nodiscard]] int timeout_ms(std::chrono::milliseconds wanted) const;

  Handler& handler_;
  const ControlLimits limits_;
  ControlSocket socket_;
  OwnedFile listener_;
  OwnedFile wake_receiver_, wake_sender_;  // a socket pair: wake() sends, poll() waits at the other end
  bool lost_ = false;                      // the application closed our files
  std::chrono::steady_clock::time_point no_accept_until_{};
  std::vector<std::unique_ptr<Client>> clients_;
  ClientId next_id_ = 1;
  /// All our descriptors, for close_in_child(): a fork may come at any time.
  static constexpr int kFree = -1, kTaken = -2;
  struct Place {
    std::atomic<int> file{kFree};  // written last
    dev_t device = 0;
    ino_t inode = 0;
  };
  std::array<Place, kMaxFiles> files_;
  std::atomic<bool> file_removed_{false};
};

}  // namespace rangefinder
