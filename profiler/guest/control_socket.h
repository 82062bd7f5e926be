// SPDX-License-Identifier: Apache-2.0
//
// Finds the place of the control socket, and opens it.
//
//   $XDG_RUNTIME_DIR/rangefinder/<pid>.sock, else /tmp/rangefinder-<uid>/<pid>.sock
//   folder 0700 and owned by the user, socket 0600: only the user (and root) can connect
//
// A folder of another user, or with access for others, is not used. Stale sockets are
// removed. connect() decides which are stale, since a process id means nothing across containers.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rangefinder {

/// The folders that may hold sockets, the preferred one first. `runtime_dir`: XDG_RUNTIME_DIR, or nullptr.
[[nodiscard]] std::vector<std::string> control_folders(const char* runtime_dir, uid_t user);

/// A listening socket.
struct ControlSocket {
  int file = -1;     ///< non-blocking, close-on-exec; -1: there is none
  std::string path;  ///< absolute
  std::string error;
};

/// Listens in the first usable folder of `folders`, which is created if it is missing. Removes stale
/// sockets in it.
[[nodiscard]] ControlSocket open_control_socket(const std::vector<std::string>& folders, pid_t pid);

/// Connects without waiting; -1 with errno set. The result is non-blocking. EAGAIN: a process listens, and
/// its queue of connections is full, as that of a stopped process becomes.
[[nodiscard]] int connect_control_socket(const std::string& path);

/// Removes sockets in `folder` on which no process listens. Returns their number.
int remove_stale_sockets(const std::string& folder);

/// Whether the user at the other end of a connection is `user` or root.
[[nodiscard]] bool peer_is(int file, uid_t user);

}  // namespace rangefinder
