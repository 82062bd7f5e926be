// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/control_socket.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "profiler/guest/above_standard_streams.h"

namespace rangefinder {
namespace {

constexpr std::string_view kSuffix = ".sock";
constexpr int kWaitingConnections = 16;

bool address_of(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

/// Creates `folder` if it is missing. False: another user owns it, or others have access.
bool make_private_folder(const std::string& folder, std::string& error) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    error = "cannot create " + folder + ": " + std::strerror(errno);
    return false;
  }
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & 0077) != 0) {
    error = folder + " must be a folder that this user owns, with mode 0700";
    return false;
  }
  return true;
}

bool listens(const std::string& path) {
  const int file = connect_control_socket(path);
  if (file >= 0) close(file);
  // With a full queue of connections connect() fails too, but a process listens.
  return file >= 0 || (errno != ECONNREFUSED && errno != ENOENT);
}

bool listen_at(const std::string& path, ControlSocket& socket_of) {
  sockaddr_un address;
  if (!address_of(path, address)) return false;
  const int file = above_standard_streams(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (file < 0) return false;
  // Before bind(), which gives the file this mode. We must not change the umask: it is the application's.
  if (fchmod(file, 0600) != 0 ||
      bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(file, kWaitingConnections) != 0) {
    const int cause = errno;
    close(file);
    errno = cause;
    return false;
  }
  socket_of.file = file;
  socket_of.path = path;
  return true;
}

}  // namespace

std::vector<std::string> control_folders(const char* runtime_dir, uid_t user) {
  std::vector<std::string> folders;
  if (runtime_dir != nullptr && *runtime_dir == '/')
    folders.push_back(std::string(runtime_dir) + "/rangefinder");
  folders.push_back("/tmp/rangefinder-" + std::to_string(user));
  return folders;
}

int connect_control_socket(const std::string& path) {
  sockaddr_un address;
  if (!address_of(path, address)) return -1;
  const int file = above_standard_streams(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (file < 0) return -1;
  if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return file;
  const int cause = errno;
  close(file);
  errno = cause;
  return -1;
}

int remove_stale_sockets(const std::string& folder) {
  DIR* const dir = opendir(folder.c_str());
  if (dir == nullptr) return 0;
  int removed = 0;
  while (const dirent* const entry = readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(kSuffix)) continue;
    const std::string path = folder + "/" + entry->d_name;
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode) || listens(path)) continue;
    if (unlink(path.c_str()) == 0) ++removed;
  }
  closedir(dir);
  return removed;
}

ControlSocket open_control_socket(const std::vector<std::string>& folders, pid_t pid) {
  ControlSocket opened;
  for (const std::string& folder : folders) {
    if (!make_private_folder(folder, opened.error)) continue;
    (void)remove_stale_sockets(folder);
    const std::string path = folder + "/" + std::to_string(pid) + std::string(kSuffix);
    if (listen_at(path, opened)) {
      opened.error.clear();
      return opened;
    }
    opened.error = "cannot listen at " + path + ": " + std::strerror(errno);
  }
  return opened;
}

bool peer_is(int file, uid_t user) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return false;
  return peer.uid == user || peer.uid == 0;
}

}  // namespace rangefinder
