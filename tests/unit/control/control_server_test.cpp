// SPDX-License-Identifier: Apache-2.0
//
// Hostile clients on real sockets, against the server as it runs in an application.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <memory>
#include <vector>

#include "tests/unit/control/served_control.h"

namespace {

using namespace rangefinder;
using namespace std::chrono_literals;

int open_files() {
  int count = 0;
  for (int file = 0; file < 1024; ++file) count += fcntl(file, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("lines are answered, however they are split into portions") {
  ServedControl served;
  ControlPeer client(served.path);

  CHECK(client.send("one\ntw"));
  CHECK(client.receive() == "one");
  CHECK(client.send("o\nthree\n"));

  CHECK(client.receive() == "two");
  CHECK(client.receive() == "three");
}

TEST_CASE("a client that sends a line that is too long is disconnected, and no other client") {
  ServedControl served;
  ControlPeer good(served.path), bad(served.path);

  (void)bad.send(std::string(70'000, 'x'));

  CHECK(bad.receive().find("too long") != std::string::npos);
  CHECK(bad.ended());
  CHECK(good.send("still here\n"));
  CHECK(good.receive() == "still here");
}

TEST_CASE("a line of the maximum length is served") {
  ServedControl served;
  ControlPeer client(served.path);
  const std::string longest(65'536, 'y');

  CHECK(client.send(longest + "\n"));

  CHECK(client.receive() == longest);
}

TEST_CASE("a client that sends too many lines is disconnected") {
  ServedControl served;
  ControlPeer client(served.path);
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += "again\n";

  (void)client.send(flood);

  CHECK(client.ended());
  CHECK(served.echo.lines.load() <= 200);
}

TEST_CASE("a client that never finishes a line is disconnected") {
  ControlLimits limits;
  limits.half_line = 50ms;
  ServedControl served(limits);
  ControlPeer client(served.path);

  CHECK(client.send("half"));

  CHECK(client.receive().find("never finished") != std::string::npos);
  CHECK(client.ended());
}

TEST_CASE("a client that does not read its answers is disconnected") {
  ControlLimits limits;
  limits.unfetched = 50ms;
  ServedControl served(limits);
  served.echo.answer.assign(1 << 20, 'z');
  ControlPeer client(served.path);

  CHECK(client.send("a\nb\nc\n"));

  CHECK(becomes_true([&] { return served.echo.gone.load() == 1; }));
}

TEST_CASE("more unread answers than allowed end the connection at once") {
  ControlLimits limits;
  limits.output_bytes = 1 << 20;
  ServedControl served(limits);
  served.echo.answer.assign(3 << 20, 'z');
  ControlPeer client(served.path);

  CHECK(client.send("a\n"));

  CHECK(client.receive().empty());
  CHECK(client.ended());
}

TEST_CASE("clients beyond the maximum wait until one leaves") {
  ControlLimits limits;
  limits.clients = 2;
  ServedControl served(limits);
  auto first = std::make_unique<ControlPeer>(served.path);
  ControlPeer second(served.path), third(served.path);
  CHECK(first->send("1\n"));
  CHECK(first->receive() == "1");
  CHECK(second.send("2\n"));
  CHECK(second.receive() == "2");

  CHECK(third.send("3\n"));
  first.reset();

  CHECK(third.receive() == "3");
}

TEST_CASE("idle clients give their places to those that wait, a client that waits for an answer does not") {
  ControlLimits limits;
  limits.clients = 2;
  limits.idle = 20ms;
  ServedControl served(limits);
  ControlPeer subscriber(served.path);
  CHECK(subscriber.send("subscribe\n"));
  CHECK(subscriber.receive() == "subscribe");
  served.echo.waiting = 1;
  std::vector<std::unique_ptr<ControlPeer>> idle;
  for (int i = 0; i < 7; ++i) idle.push_back(std::make_unique<ControlPeer>(served.path));
  ControlPeer busy(served.path);

  CHECK(busy.send("at last\n"));

  CHECK(busy.receive() == "at last");
  CHECK(idle.front()->receive().find("idle while other clients wait") != std::string::npos);
  for (const auto& client : idle) CHECK(client->ended());
  CHECK(subscriber.send("still here\n"));
  CHECK(subscriber.receive() == "still here");
}

TEST_CASE("an idle client stays while no other waits for its place") {
  ControlLimits limits;
  limits.clients = 1;
  limits.idle = 0ms;
  ServedControl served(limits);
  ControlPeer client(served.path);
  CHECK(client.send("1\n"));
  CHECK(client.receive() == "1");

  for (int turn = 0; turn < 100; ++turn) served.server.wake();

  CHECK(client.send("2\n"));
  CHECK(client.receive() == "2");
  CHECK(served.echo.gone.load() == 0);
}

TEST_CASE("ten thousand clients that come and go leave no descriptor open") {
  ServedControl served;
  {
    ControlPeer warm(served.path);
    CHECK(warm.send("x\n"));
    CHECK(warm.receive() == "x");
  }
  CHECK(becomes_true([&] { return served.echo.gone.load() == 1; }));
  const int before = open_files();

  for (int i = 0; i < 10'000; ++i) {
    const ControlPeer client(served.path);
    if (i % 2 == 0) (void)client.send("bye\n");
  }

  CHECK(becomes_true([&] { return served.echo.gone.load() == 10'001; }));
  CHECK(open_files() == before);
}

#ifndef __SANITIZE_THREAD__  // TSan reports what this test does on purpose: it closes files of another thread
TEST_CASE("files that an application opens after it closed ours are not touched") {
  ServedControl served;
  ControlPeer client(served.path);
  CHECK(client.send("x\n"));
  CHECK(client.receive() == "x");
  // As after close_range(3, ~0): the server's listening socket is closed, and the application reuses its
  // number.
  const int mine = open("/dev/null", O_RDWR | O_CLOEXEC);
  struct stat ours {};
  for (int file = 3; file < 256; ++file) {
    struct stat status {};
    if (file == mine || fstat(file, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
    int type = 0;
    socklen_t bytes = sizeof(type);
    getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &type, &bytes);
    if (type != 0) {
      dup2(mine, file);
      REQUIRE(fstat(file, &ours) == 0);
    }
  }

  served.server.wake();

  CHECK(becomes_true([&] { return access(served.path.c_str(), F_OK) != 0; }));
  CHECK(fcntl(mine, F_GETFD) >= 0);
  close(mine);
}
#endif

TEST_CASE("the server does not spin while the application is out of descriptors") {
  ServedControl served;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int waiting = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(waiting + 1);
  setrlimit(RLIMIT_NOFILE, &none);
  sockaddr_storage address{};
  (void)address;
  close(waiting);
  ControlPeer client(served.path);  // takes the last descriptor: the server's accept() fails
  timespec used_before{}, used_after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used_before);
  std::this_thread::sleep_for(300ms);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used_after);
  setrlimit(RLIMIT_NOFILE, &before);

  const double used_ms = static_cast<double>(used_after.tv_sec - used_before.tv_sec) * 1e3 +
                         static_cast<double>(used_after.tv_nsec - used_before.tv_nsec) / 1e6;
  CHECK(used_ms < 100);
  CHECK(client.send("late\n"));
  CHECK(client.receive() == "late");
}
