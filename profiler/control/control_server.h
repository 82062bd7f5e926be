// SPDX-License-Identifier: Apache-2.0
//
// Lines from clients to a handler, lines back; nothing about their meaning.
//
//   client ─ line\n ─▶ poll() ─▶ Handler::on_line          send() ─▶ output of the client ─▶ client
//
// We are a guest: what a client does must cost the application nothing. So everything is
// bounded, and who goes beyond is cut off: a line too long, too many lines a second, half
// a line that is never finished, answers that are never fetched. Nothing blocks, and no
// write raises SIGPIPE. An application may close all its files, ours too, and open others
// with their numbers: a file is looked at only as long as it is the one that was opened.
//
// One thread calls everything but wake() and close_in_child().
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

#include "profiler/control/control_socket.h"
#include "profiler/guest/owned_file.h"

namespace rangefinder {

struct ControlLimits {
  std::size_t clients = 16;
  std::size_t line_bytes = 65'536;
  std::size_t output_bytes = std::size_t{8} << 20;  ///< that a client has not fetched
  std::uint32_t lines_per_second = 200;
  std::chrono::milliseconds half_line{10'000};
  std::chrono::milliseconds unfetched{5'000};
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
    /// A whole line, without its end. May call send().
    virtual void on_line(ClientId client, std::string_view line) = 0;
    /// The client is gone, or was cut off; its id does not come again.
    virtual void on_gone(ClientId client) = 0;
  };

  ControlServer(Handler& handler, const ControlLimits& limits) : handler_(handler), limits_(limits) {}
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// Takes `socket`; one without a file is allowed: then only wake() ends a poll().
  /// False: out of files.
  [[nodiscard]] bool open(ControlSocket socket);
  /// Waits for clients, at most `timeout` (negative: for ever), and serves them once.
  void poll(std::chrono::milliseconds timeout);
  /// Ends a poll() that waits. Any thread, also from inside of callbacks and signal handlers.
  void wake() noexcept;

  /// Queues `line`; a newline is added. A client that does not fetch its lines is cut off.
  void send(ClientId client, std::string_view line);
  [[nodiscard]] std::size_t clients() const noexcept { return clients_.size(); }
  [[nodiscard]] const std::string& path() const noexcept { return socket_.path; }

  /// No more clients, and the socket's file is removed. Thread of poll().
  void close();
  /// In a forked child: closes what it inherited, without a lock and without memory.
  void close_in_child() noexcept;
  /// Removes the socket's file; any thread.
  void remove_file() noexcept;

 private:
  struct Client {
    ClientId id = 0;
    OwnedFile socket;
    std::string input, output;
    std::size_t sent = 0;  // of output
    std::chrono::steady_clock::time_point second_began{}, half_line_since{}, unfetched_since{};
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
  void watch_time(Client& client, std::chrono::steady_clock::time_point now);
  void cut_off(Client& client, const char* why);
  void bury();
  [[nodiscard]] int timeout_ms(std::chrono::milliseconds wanted) const;

  Handler& handler_;
  const ControlLimits limits_;
  ControlSocket socket_;
  OwnedFile listener_;
  OwnedFile waked_, waker_;  // two ends: what wake() sends to one ends the wait at the other
  bool lost_ = false;        // the application closed our files
  std::chrono::steady_clock::time_point no_accept_until_{};
  std::vector<std::unique_ptr<Client>> clients_;
  ClientId next_id_ = 1;
  /// For close_in_child(), which may come at any time.
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
