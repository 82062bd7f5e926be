// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever clients send to the control socket, the server goes on: every line that is answered is
// answered with one JSON object, a new client is served, and no more clients stay than there were.
//
// Lines are valid requests, spoiled, joined and cut, in portions of any size, from clients that come and go.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/control/control_commands.h"
#include "profiler/events/recorder.h"
#include "tests/property/cases.h"
#include "tests/property/spoiled_text.h"
#include "tests/unit/control/fake_target.h"

using namespace rangefinder;
using property::Random;
using Json = nlohmann::json;

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

class Fuzzed {
 public:
  Fuzzed()
      : schedule_(target_, ranges_),
        commands_(target_, schedule_, {{"pid", 1}}),
        server_(commands_, limits()) {
    char folder[] = "/tmp/rangefinder-control-fuzz-XXXXXX";
    if (mkdtemp(folder) == nullptr) std::exit(property::kSkipped);
    folder_ = folder;
    if (!server_.open(open_control_socket({folder_}, getpid()))) std::exit(property::kSkipped);
    commands_.answer_through(server_);
  }
  ~Fuzzed() {
    server_.close();
    rmdir(folder_.c_str());
  }
  Fuzzed(const Fuzzed&) = delete;
  Fuzzed& operator=(const Fuzzed&) = delete;

  bool run(Random& random) {
    const int client = connect_control_socket(server_.path(), true);
    turn(2);
    std::string bytes;
    for (std::size_t lines = 1 + random.below(4); lines > 0; --lines) {
      std::string line = kRequests[random.below(kRequests.size())];
      if (!random.one_in(4)) property::corrupt(line, random);
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
    return answered && serves_a_new_client();
  }

 private:
  static ControlLimits limits() {
    ControlLimits limits;
    limits.lines_per_second = 1'000'000'000;
    return limits;
  }
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
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos || !Json::parse(text.substr(at, end - at), nullptr, false).is_object())
        return false;
      at = end + 1;
    }
    return true;
  }
  bool serves_a_new_client() {
    const int client = connect_control_socket(server_.path(), true);
    constexpr std::string_view kStatus = "{\"command\":\"status\"}\n";
    if (::send(client, kStatus.data(), kStatus.size(), MSG_NOSIGNAL) < 0) return false;
    turn(4);
    std::array<char, 65'536> answer;
    const ssize_t n = recv(client, answer.data(), answer.size(), MSG_DONTWAIT);
    close(client);
    turn(3);
    return n > 0 && server_.clients() == 0;
  }

  std::unique_ptr<Recorder> own_ = std::make_unique<Recorder>();  // too large for the stack
  FakeTarget target_;
  RangeWindows ranges_{*own_, target_, [](void*) noexcept {}, nullptr};
  WindowSchedule schedule_;
  ControlCommands commands_;
  ControlServer server_;
  std::string folder_;
  std::int64_t now_ns_ = 1'000'000'000;
};

}  // namespace

int main(int argc, char** argv) {
  const property::Cases cases(argc, argv);
  Fuzzed fuzzed;
  for (std::uint64_t number = 0; number < cases.count; ++number) {
    Random random(cases.seed, number);
    if (fuzzed.run(random)) continue;
    std::printf("case %llu fails\n", static_cast<unsigned long long>(number));
    return 1;
  }
  return 0;
}
