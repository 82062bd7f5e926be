// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/forked_question.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace rangefinder {
namespace {

[[noreturn]] void answer_and_leave(const std::function<std::string()>& question, int pipe) {
  std::string text;
  try {
    text = "+" + question();
  } catch (const std::exception& error) {
    text = std::string("-") + error.what();
  } catch (...) {
    text = "-unknown error";
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(pipe, text.data() + done, text.size() - done);
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  _exit(0);  // no destructors: the objects belong to the parent
}

/// Reads until the child closes its end. False: the deadline passed.
bool read_until_closed(int pipe, unsigned seconds, std::string& out) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::array<char, 4096> chunk{};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{pipe, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = read(pipe, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    out.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Answer ask_in_child(const std::function<std::string()>& question, unsigned seconds) {
  int pipes[2];
  if (pipe(pipes) != 0) return {false, std::strerror(errno)};
  const pid_t child = fork();
  if (child < 0) {
    close(pipes[0]);
    close(pipes[1]);
    return {false, std::strerror(errno)};
  }
  if (child == 0) {
    close(pipes[0]);
    answer_and_leave(question, pipes[1]);
  }
  close(pipes[1]);
  std::string text;
  const bool in_time = read_until_closed(pipes[0], seconds, text);
  close(pipes[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return {false, "no answer within " + std::to_string(seconds) + " s"};
  if (WIFSIGNALED(status)) return {false, std::string("crashed: ") + strsignal(WTERMSIG(status))};
  if (text.empty()) return {false, "ended without an answer"};
  return {text.front() == '+', text.substr(1)};
}

}  // namespace rangefinder
