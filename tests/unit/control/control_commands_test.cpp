// SPDX-License-Identifier: Apache-2.0
//
// Control requests and their answers, with the real server and commands, and a fake target
// without CUDA.
#include "profiler/control/control_commands.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/events/recorder.h"
#include "tests/catch.h"
#include "tests/unit/control/fake_target.h"

namespace {

using namespace rangefinder;
using Json = nlohmann::json;

/// One client on a real socket of the real server, which runs in the same thread.
class Control {
 public:
  Control() : schedule(target, ranges), commands(target, schedule, {{"pid", 1}}), server(commands, {}) {
    char folder_template[] = "/tmp/rangefinder-commands-XXXXXX";
    holder = mkdtemp(folder_template);
    ControlSocket socket = open_control_socket({holder}, getpid());
    REQUIRE(server.open(std::move(socket)));
    commands.answer_through(server);
    client = connect_control_socket(server.path());
    REQUIRE(client >= 0);
    turn();
  }
  ~Control() {
    close(client);
    server.close();
    rmdir(holder.c_str());
  }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void turn() {
    schedule.tick(now_ns);
    commands.tick(now_ns);
    server.poll(std::chrono::milliseconds(0));
  }
  void send(const std::string& line) {
    const std::string whole = line + "\n";
    REQUIRE(::send(client, whole.data(), whole.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(whole.size()));
    for (int portions = 0; portions < 6; ++portions) turn();
  }
  /// The next answer; null: none yet.
  Json answer() {
    char part[65'536];
    for (ssize_t n = 0; (n = recv(client, part, sizeof(part), MSG_DONTWAIT)) > 0;) {
      input.append(part, static_cast<std::size_t>(n));
    }
    const std::size_t end = input.find('\n');
    if (end == std::string::npos) return nullptr;
    Json line = Json::parse(input.substr(0, end));
    input.erase(0, end + 1);
    return line;
  }
  Json exchange(const std::string& line) { return send(line), answer(); }

  std::unique_ptr<Recorder> own = std::make_unique<Recorder>();  // too large for the stack
  FakeTarget target;
  RangeWindows ranges{*own, target, [](void*) noexcept {}, nullptr};
  WindowSchedule schedule;
  ControlCommands commands;
  ControlServer server;
  std::string holder, input;
  int client = -1;
  std::int64_t now_ns = 1'000'000'000;
};

}  // namespace

TEST_CASE("an answer holds its request's id and the version") {
  Control control;

  const Json answer = control.exchange(R"({"v":1,"id":"abc","command":"status"})");

  CHECK(answer["id"] == "abc");
  CHECK(answer["v"] == 1);
  CHECK(answer["ok"] == true);
  CHECK(answer["state"] == "idle");
  CHECK(answer["pid"] == 1);
}

TEST_CASE("invalid requests are answered with the reason, and the next request is served") {
  Control control;
  for (const char* const line : {"x",
                                 "[]",
                                 "{",
                                 "7",
                                 R"({"command":7})",
                                 R"({"command":"dance"})",
                                 R"({"v":2,"command":"status"})",
                                 R"({"command":"window"})",
                                 R"({"command":"window","seconds":-1})",
                                 R"({"command":"window","seconds":"2"})",
                                 R"({"command":"window","seconds":1,"launches":5})",
                                 R"({"command":"window","launches":1.5})",
                                 R"({"command":"window","launches":1e300})",
                                 R"({"command":"window","seconds":1,"at_unix_ns":5})",
                                 R"({"command":"start","out":"relative"})",
                                 R"({"command":"start","out":5})",
                                 R"({"command":"window","seconds":1,"counters":["off"]})",
                                 R"({"command":"window","range":"a","counters":[]})",
                                 R"({"command":"start","counters":"many"})",
                                 R"({"command":"counters"})",
                                 R"({"command":"subscribe","every_ms":1})",
                                 R"({"command":"stop"})",
                                 R"({"command":"snapshot"})",
                                 "\xff\xfe{\"command\":\"status\"}"}) {
    INFO(line);
    const Json answer = control.exchange(line);
    REQUIRE(answer.is_object());
    CHECK(answer["ok"] == false);
    CHECK_FALSE(answer["error"].get<std::string>().empty());
  }
  std::string deep =
      R"({"command":"status","deep":)" + std::string(20'000, '[') + std::string(20'000, ']') + "}";
  CHECK(control.exchange(deep).is_object());
  CHECK(control.exchange(R"({"command":"status"})")["ok"] == true);
}

TEST_CASE("start is answered when the folder exists, and forwards out and counters") {
  Control control;
  control.target.opens_at_once = false;

  CHECK(control.exchange(R"({"command":"start","out":"/a/%p","counters":"exact"})").is_null());
  control.target.now.window.opened = true;
  control.turn();

  const Json answer = control.answer();
  CHECK(answer["ok"] == true);
  CHECK(answer["window"]["folder"] == "/traces/1");
  CHECK(control.target.last.out == "/a/%p");
  CHECK(control.target.last.counters == CounterMode::exact);
}

TEST_CASE("a window that cannot be written is answered with the reason") {
  Control control;
  control.target.opens_at_once = false;

  control.send(R"({"command":"start"})");
  control.target.now.window.error = "No space left on device";
  control.turn();

  CHECK(control.answer()["error"] == "No space left on device");
}

TEST_CASE("stop is answered when the trace is complete; other requests are served meanwhile") {
  Control control;
  control.target.completes_at_once = false;
  CHECK(control.exchange(R"({"command":"start"})")["ok"] == true);

  CHECK(control.exchange(R"({"id":1,"command":"stop"})").is_null());
  CHECK(control.exchange(R"({"id":2,"command":"status"})")["state"] == "closing");
  CHECK(control.exchange(R"({"id":3,"command":"start"})")["error"] == kNotCompleteYet);
  control.target.now.state = SessionState::idle;
  control.turn();

  const Json answer = control.answer();
  CHECK((answer["id"] == 1 && answer["window"]["complete"] == true));
}

TEST_CASE("yield and resume of an open window are answered when CUPTI has changed hands") {
  Control control;
  control.exchange(R"({"command":"start"})");
  control.target.yields_at_once = false;

  CHECK(control.exchange(R"({"command":"yield"})")["error"] == "a window is open: send stop first");
  CHECK(control.exchange(R"({"command":"yield","keep_window":true,"cause":"torch.profiler"})") == nullptr);
  CHECK(control.target.gap_cause == "torch.profiler");
  control.target.now.yielded = true;
  control.turn();
  CHECK(control.answer()["yielded"] == true);

  CHECK(control.exchange(R"({"command":"resume"})") == nullptr);
  control.target.now.yielded = false;
  control.turn();
  const Json resumed = control.answer();
  CHECK(resumed["state"] == "recording");
  CHECK(resumed["yielded"] == false);
}

TEST_CASE("yield is refused where threads call without a pause") {
  Control control;
  control.exchange(R"({"command":"start"})");
  control.target.yields_at_once = false;

  CHECK(control.exchange(R"({"command":"yield","keep_window":true})") == nullptr);
  control.target.now.yield_refused = true;
  control.turn();
  const Json refused = control.answer();
  CHECK(refused["ok"] == false);
  CHECK(refused["error"].get<std::string>().find("without a pause") != std::string::npos);
}

TEST_CASE("the cause of yield is a short text, by default yield") {
  Control control;
  control.exchange(R"({"command":"start"})");

  CHECK(control.exchange(R"({"command":"yield","keep_window":1})")["ok"] == false);
  const std::string long_cause(65, 'a');
  CHECK(control.exchange(R"({"command":"yield","keep_window":true,"cause":")" + long_cause + "\"}")["ok"] ==
        false);
  CHECK(control.exchange(R"({"command":"yield","keep_window":true})")["yielded"] == true);
  CHECK(control.target.gap_cause == "yield");
}

TEST_CASE("a window of seconds is opened at its time and closed at its end") {
  Control control;
  control.send(R"({"command":"window","seconds":2,"at_unix_ns":"5000000000"})");
  CHECK(control.target.now.state == SessionState::idle);

  control.now_ns = 5'000'000'000;
  control.turn();
  CHECK(control.target.now.state == SessionState::recording);
  CHECK(control.commands.next_tick_ms(control.now_ns) >= 0);
  control.now_ns = 6'999'000'000;
  control.turn();
  CHECK(control.target.now.state == SessionState::recording);
  control.now_ns += 1'000'000;
  control.turn();
  control.turn();

  CHECK(control.target.closed_by == "window");
  CHECK(control.answer()["window"]["number"] == 1);
}

TEST_CASE("a window of N launches is closed after N launches") {
  Control control;
  control.target.now.launches = 1000;
  control.send(R"({"command":"window","launches":50})");
  control.turn();
  CHECK(control.target.now.state == SessionState::recording);

  control.target.now.launches = 1050;
  control.turn();
  control.turn();

  CHECK(control.answer()["window"]["number"] == 1);
}

TEST_CASE("the pending requests of a client end when it disconnects") {
  Control control;
  control.target.completes_at_once = false;
  CHECK(control.exchange(R"({"command":"start"})")["ok"] == true);
  control.send(R"({"command":"stop"})");
  control.send(R"({"command":"subscribe","every_ms":100})");
  CHECK(control.commands.next_tick_ms(control.now_ns) >= 0);
  CHECK(control.commands.waits(1));

  close(control.client);
  control.turn();
  control.client = connect_control_socket(control.server.path());

  CHECK(control.commands.next_tick_ms(control.now_ns) == -1);
  CHECK_FALSE(control.commands.waits(1));
}

TEST_CASE("more than 64 pending requests are refused") {
  Control control;
  control.target.completes_at_once = false;
  CHECK(control.exchange(R"({"command":"start"})")["ok"] == true);
  for (int i = 0; i < 64; ++i) control.send(R"({"command":"stop"})");

  CHECK(control.exchange(R"({"command":"stop"})")["error"] == "too many requests are pending");
}

TEST_CASE("a subscription reports what changed, and the state between windows") {
  Control control;
  CHECK(control.exchange(R"({"command":"subscribe","every_ms":1000})")["ok"] == true);
  CHECK(control.answer()["event"] == "state");
  CHECK(control.target.begin_window({}).empty());
  control.target.text = R"({"duration_ns":10,"modules":[{"path":"m","depth":1,"kernels":4,"gpu_ns":100},
                            {"path":"still","depth":1,"kernels":1}],"loss":{"events_dropped":2}})";
  control.now_ns += 1'000'000'000;
  control.turn();
  control.target.now.window.written = 1;
  control.turn();
  control.turn();
  const Json first = control.answer();
  control.target.text = R"({"duration_ns":30,"modules":[{"path":"m","depth":1,"kernels":7,"gpu_ns":250},
                            {"path":"still","depth":1,"kernels":1}],"loss":{"events_dropped":2}})";
  control.now_ns += 1'000'000'000;
  control.turn();
  control.target.now.window.written = 2;
  control.turn();
  control.turn();
  const Json second = control.answer();

  CHECK(first["event"] == "delta");
  CHECK(first["modules"].size() == 2);
  REQUIRE(second["modules"].size() == 1);
  CHECK(second["modules"][0] == Json({{"path", "m"}, {"depth", 1}, {"kernels", 3.0}, {"gpu_ns", 150.0}}));
  CHECK(second["duration_ns"] == 20.0);
  CHECK(second["loss"].empty());
}
