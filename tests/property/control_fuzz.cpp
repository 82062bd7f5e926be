// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever clients send to the control socket, the server goes on: each answer is one JSON object,
// a new client is served, and no client stays behind.
//
// Lines are valid requests, damaged, joined and cut, in portions of any size, from clients that come and go.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "profiler/control/control_commands.h"
#include "profiler/events/recorder.h"
#include "tests/property/corruption.h"
#include "tests/property/fuzz.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/control/fake_target.h"

namespace rangefinder::fuzz {
namespace {

constexpr std::array kRequests{
    R"({"v":1,"id":1,"command":"status"})",
    R"({"id":"x","command":"start","out":"/tmp/t-%p","counters":"exact"})",
    R"({"id":3,"command":"stop"})",
    R"({"id":4,"command":"window","seconds":0.5,"at_unix_ns":"1795289241250712869","wait":false})",
    R"({"id":5,"command":"window","launches":100})",
    R"({"id":6,"command":"window","range":"a/**/b?","occurrences":20,"after":3,"counters":["off","exact"],"windows":4})",
    R"({"id":7,"command":"counters","mode":"sampled"})",
    R"({"id":8,"command":"metrics","set":"bytes,compute"})",
    R"({"id":9,"command":"snapshot"})",
    R"({"id":10,"command":"subscribe","every_ms":100})",
    R"({"id":11,"command":"unsubscribe"})",
    R"({"id":12,"command":"yield"})",
    R"({"id":13,"command":"resume"})",
    R"({"id":[{"deep":[[[[1]]]]}],"command":"flush"})",
};

class ControlFuzzer final : public Fuzzer {
 public:
  ControlFuzzer()
      : schedule_(target_, ranges_),
        commands_(target_, schedule_, {{"pid", 1}}),
        server_(commands_, {.lines_per_second = 1'000'000'000}) {
    if (!server_.open(open_control_socket({folder_.path()}, getpid())))
      throw Skipped("no control socket can be opened");
    commands_.answer_through(server_);
  }
  ~ControlFuzzer() override { server_.close(); }

  std::string check(Random& random) override {
    const int client = connect_control_socket(server_.path());
    turn(2);
    std::string bytes;
    for (std::size_t lines = 1 + random.below(4); lines > 0; --lines) {
      std::string line = random.element(kRequests);
      if (!random.one_in(4)) corrupt(line, random);
      bytes += line;
      if (!random.one_in(8)) bytes += '\n';
    }
    while (!bytes.empty()) {
      const std::size_t part = std::min<std::size_t>(bytes.size(), 1 + random.below(300));
      if (::send(client, bytes.data(), part, MSG_NOSIGNAL) < 0) break;  // cut off
      bytes.erase(0, part);
      turn(1);
    }
    turn(3);
    const bool answered = answers_are_json(client);
    close(client);
    target_.now.state = random.one_in(3) ? SessionState::recording : SessionState::idle;
    turn(3);
    if (!answered) return "an answer is no JSON object";
    return serves_a_new_client() ? "" : "a new client is not served";
  }

 private:
  void turn(int times) {
    for (; times > 0; --times) {
      now_ns_ += 1'000'000;
      schedule_.tick(now_ns_);
      commands_.tick(now_ns_);
      server_.poll(std::chrono::milliseconds(0));
    }
  }
  static bool answers_are_json(int client) {
    std::string text;
    std::array<char, 65'536> part;
    for (ssize_t n = 0; (n = recv(client, part.data(), part.size(), MSG_DONTWAIT)) > 0;)
      text.append(part.data(), static_cast<std::size_t>(n));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (!nlohmann::json::parse(line, nullptr, false).is_object()) return false;
    return text.empty() || text.back() == '\n';
  }
  bool serves_a_new_client() {
    const int client = connect_control_socket(server_.path());
    constexpr std::string_view kStatus = "{\"command\":\"status\"}\n";
    if (::send(client, kStatus.data(), kStatus.size(), MSG_NOSIGNAL) < 0) return false;
    turn(4);
    std::array<char, 65'536> answer;
    const ssize_t n = recv(client, answer.data(), answer.size(), MSG_DONTWAIT);
    close(client);
    turn(3);
    return n > 0 && server_.clients() == 0;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Recorder> own_ = std::make_unique<Recorder>();  // too large for the stack
  FakeTarget target_;
  RangeWindows ranges_{*own_, target_, [](void*) noexcept {}, nullptr};
  WindowSchedule schedule_;
  ControlCommands commands_;
  ControlServer server_;
  std::int64_t now_ns_ = 1'000'000'000;
};

}  // namespace

MakeFuzzer* const make_control = &made<ControlFuzzer>;

}  // namespace rangefinder::fuzz
