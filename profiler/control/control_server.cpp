// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/control_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "profiler/guest/above_standard_streams.h"

namespace rangefinder {
namespace {

using Clock = std::chrono::steady_clock;

/// The host is out of descriptors: accept() would fail at once, in a loop.
constexpr std::chrono::seconds kAcceptPause{1};
/// Interval of poll() while a client has a deadline.
constexpr std::chrono::milliseconds kDeadlineInterval{250};

}  // namespace

ControlServer::~ControlServer() {
  close();
  disown(wake_receiver_);
  disown(wake_sender_);
}

OwnedFile ControlServer::own(int file) noexcept {
  const OwnedFile owned = OwnedFile::of(file);
  if (owned.file < 0) return {};
  for (Place& place : files_) {
    int free = kFree;
    if (!place.file.compare_exchange_strong(free, kTaken)) continue;
    place.device = owned.device;
    place.inode = owned.inode;
    place.file.store(file);
    return owned;
  }
  ::close(file);
  return {};
}

void ControlServer::disown(OwnedFile& owned) noexcept {
  if (owned.file < 0) return;
  for (Place& place : files_) {
    int file = owned.file;
    if (place.device == owned.device && place.inode == owned.inode &&
        place.file.compare_exchange_strong(file, kFree))
      break;
  }
  owned.close();
}

void ControlServer::close_in_child() noexcept {
  for (Place& place : files_) {
    const int file = place.file.exchange(kFree);
    if (file >= 0) OwnedFile{file, place.device, place.inode}.close();
  }
}

bool ControlServer::open(ControlSocket socket) {
  socket_ = std::move(socket);
  std::array<int, 2> ends{-1, -1};  // not an eventfd: OwnedFile needs an inode of its own to identify it
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  wake_receiver_ = own(above_standard_streams(ends[0]));
  wake_sender_ = own(above_standard_streams(ends[1]));
  listener_ = own(socket_.file);
  return wake_receiver_.file >= 0 && wake_sender_.file >= 0 && (socket_.file < 0 || listener_.file >= 0);
}

void ControlServer::remove_file() noexcept {
  if (listener_.device == 0 && listener_.inode == 0) return;
  if (!file_removed_.exchange(true)) unlink(socket_.path.c_str());
}

void ControlServer::close() {
  remove_file();
  for (const auto& client : clients_) client->dead = true;
  remove_dead_clients();
  disown(listener_);
}

void ControlServer::wake() noexcept {
  const char one = 1;
  if (wake_sender_.is_ours())
    (void)!::send(wake_sender_.file, &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL);
}

int ControlServer::timeout_ms(std::chrono::milliseconds wanted) const {
  const bool watching = std::any_of(clients_.begin(), clients_.end(), [](const auto& client) {
    return !client->input.empty() || !client->output.empty();
  });
  if (watching || is_full() || no_accept_until_ > Clock::now())
    wanted = wanted.count() < 0 ? kDeadlineInterval : std::min(wanted, kDeadlineInterval);
  return wanted.count() < 0 ? -1 : static_cast<int>(wanted.count());
}

void ControlServer::poll(std::chrono::milliseconds timeout) {
  if (lost_)
    return std::this_thread::sleep_for(timeout.count() < 0 ? kDeadlineInterval
                                                           : std::min(timeout, kDeadlineInterval));
  std::vector<pollfd> files;
  files.push_back({wake_receiver_.file, POLLIN, 0});
  const bool accepts = listener_.file >= 0 && !is_full() && no_accept_until_ <= Clock::now();
  files.push_back({accepts ? listener_.file : -1, POLLIN, 0});
  const std::size_t known = clients_.size();
  for (const auto& client : clients_) {
    const bool waits = !client->output.empty();
    files.push_back({client->socket.file, static_cast<short>(POLLIN | (waits ? POLLOUT : 0)), 0});
  }
  (void)::poll(files.data(), files.size(), timeout_ms(timeout));
  if (!wake_receiver_.is_ours() || (accepts && !listener_.is_ours())) {
    lost_ = true;
    return close();
  }
  std::array<char, 64> woken;
  while (files[0].revents != 0 && recv(wake_receiver_.file, woken.data(), woken.size(), MSG_DONTWAIT) > 0) {
  }
  const auto now = Clock::now();
  for (std::size_t i = 0; i < known; ++i) {
    Client& client = *clients_[i];
    const short events = files[i + 2].revents;
    if (events != 0 && !client.socket.is_ours()) {
      client.dead = true;
      continue;
    }
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) read(client);
    if (!client.dead && !client.output.empty()) write(client);
    if (!client.dead) check_deadlines(client, now);
  }
  if (files[1].revents != 0) accept_clients();
  if (is_full()) make_room(now);
  remove_dead_clients();
}

/// Disconnects idle clients if others wait for their places. poll() does not watch the listener of a full
/// server: it would return at once for as long as anybody waits.
void ControlServer::make_room(Clock::time_point now) {
  pollfd waiting{listener_.file, POLLIN, 0};
  if (!listener_.is_ours() || ::poll(&waiting, 1, 0) <= 0) return;
  for (const auto& client : clients_) {
    const bool idle =
        client->input.empty() && client->output.empty() && now - client->idle_since > limits_.idle;
    if (idle && !client->dead && !handler_.waits(client->id))
      disconnect(*client, "idle while other clients wait");
  }
}

void ControlServer::accept_clients() {
  while (clients_.size() < limits_.clients) {
    const int file =
        above_standard_streams(accept4(listener_.file, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (file < 0) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        no_accept_until_ = Clock::now() + kAcceptPause;
      return;
    }
    if (!peer_is(file, geteuid())) {
      ::close(file);
      continue;
    }
    auto client = std::make_unique<Client>();
    client->socket = own(file);
    if (client->socket.file < 0) return;
    client->id = next_id_++;
    client->idle_since = Clock::now();
    clients_.push_back(std::move(client));
  }
}

// One portion per turn, so that no client keeps the others waiting.
void ControlServer::read(Client& client) {
  std::array<char, 16'384> portion;
  const ssize_t n = recv(client.socket.file, portion.data(), portion.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    client.dead = true;
    return;
  }
  if (client.input.empty()) client.half_line_since = Clock::now();
  client.input.append(portion.data(), static_cast<std::size_t>(n));
  take_lines(client);
}

void ControlServer::take_lines(Client& client) {
  std::size_t at = 0;
  for (std::size_t end = 0; !client.dead && (end = client.input.find('\n', at)) != std::string::npos;
       at = end + 1) {
    if (end - at > limits_.line_bytes) return disconnect(client, "the line is too long");
    const auto now = Clock::now();
    if (now - client.second_began >= std::chrono::seconds(1)) {
      client.second_began = now;
      client.lines_this_second = 0;
    }
    if (++client.lines_this_second > limits_.lines_per_second)
      return disconnect(client, "too many lines a second");
    handler_.on_line(client.id, std::string_view(client.input).substr(at, end - at));
    client.half_line_since = client.idle_since = now;
  }
  client.input.erase(0, at);
  if (client.input.size() > limits_.line_bytes) disconnect(client, "the line is too long");
}

void ControlServer::write(Client& client) {
  const ssize_t n = ::send(client.socket.file, client.output.data() + client.sent,
                           client.output.size() - client.sent, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR) client.dead = true;
  if (n <= 0) return;
  client.sent += static_cast<std::size_t>(n);
  client.unfetched_since = Clock::now();
  if (client.sent < client.output.size()) return;
  client.idle_since = client.unfetched_since;  // the client had to wait for this answer
  client.output.clear();
  client.output.shrink_to_fit();
  client.sent = 0;
}

void ControlServer::check_deadlines(Client& client, Clock::time_point now) {
  if (!client.input.empty() && now - client.half_line_since > limits_.half_line)
    disconnect(client, "the line was never finished");
  if (!client.output.empty() && now - client.unfetched_since > limits_.unfetched) client.dead = true;
}

void ControlServer::send(ClientId id, std::string_view line) {
  const auto found =
      std::find_if(clients_.begin(), clients_.end(), [id](const auto& client) { return client->id == id; });
  if (found == clients_.end() || (*found)->dead) return;
  Client& client = **found;
  if (client.output.empty()) client.unfetched_since = Clock::now();
  if (client.output.size() - client.sent + line.size() > limits_.output_bytes) {
    client.dead = true;
    return;
  }
  client.output.erase(0, client.sent);
  client.sent = 0;
  client.output.append(line);
  client.output.push_back('\n');
  write(client);
}

// Reports the reason only if the socket's buffer takes it at once.
void ControlServer::disconnect(Client& client, const char* why) {
  send(client.id, std::string(R"({"v":1,"ok":false,"error":")") + why + R"(","closed":true})");
  client.dead = true;
}

void ControlServer::remove_dead_clients() {
  for (const auto& client : clients_) {
    if (!client->dead) continue;
    disown(client->socket);
    handler_.on_gone(client->id);
  }
  std::erase_if(clients_, [](const auto& client) { return client->dead; });
}

}  // namespace rangefinder
