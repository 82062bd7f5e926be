// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/control_socket.h"

#include <sys/stat.h>

#include <cstdlib>
#include <vector>

#include "tests/unit/control/served_control.h"

using namespace rangefinder;

TEST_CASE("only the user can access the socket and its folder") {
  ServedControl served;

  struct stat status {};
  REQUIRE(stat(served.path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(stat(served.folder.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  served.stop();
  CHECK(access(served.path.c_str(), F_OK) != 0);
}

TEST_CASE("a folder that other users can write to, or a link to one, is not used") {
  char holder[] = "/tmp/rangefinder-control-XXXXXX";
  REQUIRE(mkdtemp(holder) != nullptr);
  const std::string open_folder = std::string(holder) + "/open", link = std::string(holder) + "/link",
                    good = std::string(holder) + "/good";
  REQUIRE(mkdir(open_folder.c_str(), 0700) == 0);
  REQUIRE(symlink(open_folder.c_str(), link.c_str()) == 0);
  REQUIRE(chmod(open_folder.c_str(), 0777) == 0);

  const ControlSocket refused = open_control_socket({open_folder, link}, getpid());
  const ControlSocket taken = open_control_socket({open_folder, good}, getpid());

  CHECK(refused.file == -1);
  CHECK(refused.error.find("that this user owns") != std::string::npos);
  CHECK(taken.path == good + "/" + std::to_string(getpid()) + ".sock");
  close(taken.file);
  (void)std::system((std::string("rm -r ") + holder).c_str());
}

TEST_CASE("sockets of ended processes are removed, those of running processes are not") {
  ServedControl served;
  const int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string stale = served.folder + "/1234567.sock";
  {
    ControlSocket left = open_control_socket({served.folder}, 1234567);
    REQUIRE(left.path == stale);
    close(left.file);
  }
  close(dead);

  CHECK(remove_stale_sockets(served.folder) == 1);

  CHECK(access(stale.c_str(), F_OK) != 0);
  CHECK(access(served.path.c_str(), F_OK) == 0);
}

TEST_CASE("without a runtime folder, sockets are in a folder of the user in /tmp") {
  CHECK(control_folders(nullptr, 1000) == std::vector<std::string>{"/tmp/rangefinder-1000"});
  CHECK(control_folders("relative", 7) == std::vector<std::string>{"/tmp/rangefinder-7"});
  CHECK(control_folders("/run/user/7", 7).front() == "/run/user/7/rangefinder");
}
