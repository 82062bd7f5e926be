// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

std::vector<char*> exec_vector(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Blocks the signals that we forward, while the child runs. Resets SIGCHLD: if it was inherited as
/// ignored, the child's exit status would be lost.
class SignalGate {
 public:
  SignalGate() {
    sigemptyset(&waited_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&waited_, signal);
    sigprocmask(SIG_BLOCK, &waited_, &before_);
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &plain, &child_before_);
  }
  ~SignalGate() { restore(); }
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  /// Restores the previous state. The child calls this too.
  void restore() const noexcept {
    sigaction(SIGCHLD, &child_before_, nullptr);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  [[nodiscard]] const sigset_t& waited() const noexcept { return waited_; }

 private:
  sigset_t waited_{};
  sigset_t before_{};
  struct sigaction child_before_ {};
};

int wait_for(pid_t child, const SignalGate& gate) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    siginfo_t info{};
    const int signal = sigwaitinfo(&gate.waited(), &info);
    // si_code > 0: the kernel sent it, as for Ctrl-C, and the terminal has sent it to the program too.
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(child, signal);
  }
}

[[noreturn]] void exec_program(char* const* arguments, char* const* environment, const SignalGate& gate,
                               int report) {
  gate.restore();
  execvpe(arguments[0], arguments, environment);
  const int error = errno;
  (void)!write(report, &error, sizeof(error));
  _exit(127);
}

}  // namespace

int ChildEnd::shell_code() const noexcept {
  if (start_error != 0) return start_error == ENOENT || start_error == ENOTDIR ? 127 : 126;
  return signal != 0 ? 128 + signal : exit_code;
}

ChildEnd run_child(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  const std::vector<char*> argument_pointers = exec_vector(arguments);
  const std::vector<char*> environment_pointers = exec_vector(environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    throw Missing(std::string("cannot create a pipe: ") + std::strerror(errno));
  const SignalGate gate;
  const pid_t child = fork();
  if (child < 0) throw Missing(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) exec_program(argument_pointers.data(), environment_pointers.data(), gate, report[1]);

  close(report[1]);
  ChildEnd end;
  ssize_t got = 0;
  do {
    got = read(report[0], &end.start_error, sizeof(end.start_error));
  } while (got < 0 && errno == EINTR);
  close(report[0]);
  const int status = wait_for(child, gate);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  return end;
}

}  // namespace rangefinder
