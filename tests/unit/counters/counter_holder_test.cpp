// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter_holder.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "profiler/guest/control_socket.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

TEST_CASE("only a process that records with counters holds them") {
  const auto text = [](const char* state, const char* counters) {
    return counter_holder_text(R"({"pid":4711,"executable":"/usr/bin/python3","state":")" +
                               std::string(state) + R"(","counters":")" + counters + R"("})");
  };

  CHECK(
      text("recording", "sampled") ==
      "process 4711 (python3, Rangefinder) reads GPU counters, --counters sampled: `rangefinder attach 4711 "
      "--stop` ends its window");
  CHECK(text("recording", "off").empty());
  CHECK(text("idle", "exact").empty());
  CHECK(counter_holder_text("").empty());
  CHECK(counter_holder_text("{\"pid\":").empty());
  CHECK(counter_holder_text("[]").empty());
  CHECK(counter_holder_text(R"({"state":7})").empty());
  CHECK(counter_holder_text(R"({"state":"recording","counters":"exact","pid":"x"})").empty());
}

TEST_CASE("the process that answers is named, this one is not asked, and no answer is waited for 100 ms") {
  char made[] = "/tmp/rangefinder-holder-XXXXXX";
  REQUIRE(mkdtemp(made) != nullptr);
  const std::string folder = made;
  CHECK(counter_holder({folder, folder + "/none"}, getpid()).empty());
  const ControlSocket own = open_control_socket({folder}, getpid());
  REQUIRE(own.file >= 0);
  CHECK(counter_holder({folder}, getpid()).empty());
  CHECK(counter_holder({folder}, 1).empty());  // it listens, and never answers
  close(accept(own.file, nullptr, nullptr));

  std::thread answers([&own] {
    pollfd waited{own.file, POLLIN, 0};
    if (poll(&waited, 1, 10'000) != 1) return;
    const int client = accept(own.file, nullptr, nullptr);
    char request[256];
    waited = {client, POLLIN, 0};
    if (poll(&waited, 1, 10'000) != 1 || recv(client, request, sizeof(request), 0) <= 0) return;
    const std::string answer = "{\"pid\":4711,\"state\":\"recording\",\"counters\":\"exact\"}\n";
    (void)send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    close(client);
  });
  const std::string found = counter_holder({folder}, 1);
  answers.join();

  CHECK(found.starts_with("process 4711 (Rangefinder) reads GPU counters, --counters exact"));
  close(own.file);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rangefinder
