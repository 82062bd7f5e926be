// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rangefinder {

RegularFile open_regular_file(const std::filesystem::path& path) {
  const auto refuse = [&path](const char* why) -> Missing {
    return Missing("cannot open " + path.string() + ": " + why);
  };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw refuse(std::strerror(errno));
  struct stat status {};
  const bool is_regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  RegularFile out(is_regular ? fdopen(descriptor, "rb") : nullptr);
  if (out) return out;
  const int error = errno;
  close(descriptor);
  throw refuse(is_regular ? std::strerror(error) : "it is not a regular file");
}

}  // namespace rangefinder
