// SPDX-License-Identifier: Apache-2.0
//
// Where the control socket is, and the socket itself.
//
//   $XDG_RUNTIME_DIR/rangefinder/<pid>.sock, else /tmp/rangefinder-<uid>/<pid>.sock
//   folder 0700 and ours, socket 0600: nobody but the user (and root) gets to it
//
// A folder that is somebody else's, or that others may write to, is not used. Sockets
// that nobody listens on any more are removed: asked by connecting, since a process id
// says nothing across containers.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rangefinder {

/// The folders that may hold sockets, the preferred one first. `runtime_dir`: XDG_RUNTIME_DIR, or nullptr.
[[nodiscard]] std::vector<std::string> control_folders(const char* runtime_dir, uid_t user);

/// A socket that listens.
struct ControlSocket {
  int file = -1;     ///< non-blocking, close-on-exec; -1: there is none
  std::string path;  ///< absolute
  std::string error;
};

/// Listens in the first of `folders` that can be used, which is made if it is not there; removes stale
/// sockets in it.
[[nodiscard]] ControlSocket open_control_socket(const std::vector<std::string>& folders, pid_t pid);

/// Connects; -1 with errno set. `nonblocking`: for asking whether somebody listens.
[[nodiscard]] int connect_control_socket(const std::string& path, bool nonblocking);

/// Removes sockets in `folder` that nobody listens on. Returns how many.
int remove_stale_sockets(const std::string& folder);

/// The user at the other end of a connection is `user`, or root.
[[nodiscard]] bool peer_is(int file, uid_t user);

}  // namespace rangefinder
