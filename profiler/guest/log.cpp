// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace rangefinder {
namespace {

// Leaked on purpose: the drain thread may log while static destructors run. Not spdlog's default
// logger, which prints to the host's stdout.
std::atomic<spdlog::logger*> logger{nullptr};

template <typename Level>
void log(Level level, const std::string& text) noexcept {
  spdlog::logger* const out = logger.load(std::memory_order_acquire);
  if (out == nullptr) return;
  try {
    out->log(level, text);
  } catch (...) {
    // A lost message must not disturb the host.
  }
}

}  // namespace

void start_log(const std::string& level) {
  if (level.empty() || logger.load() != nullptr) return;
  auto out =
      std::make_unique<spdlog::logger>("rangefinder", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  out->set_level(spdlog::level::from_str(level));
  out->set_pattern("rangefinder [%T.%e] [%t] %v");
  logger.store(out.release(), std::memory_order_release);
}

void say_once(const std::string& text) noexcept {
  static std::atomic<bool> said{false};
  log(spdlog::level::warn, text);
  if (said.exchange(true)) return;
  try {
    std::string line = "rangefinder: " + text + "\n";
    // The text may quote a value or a name, which must not start a new line or control the terminal.
    std::replace_if(
        line.begin(), line.end() - 1,
        [](unsigned char character) { return character < ' ' || character == 0x7f; }, '?');
    // Writing to a pipe without a reader would raise SIGPIPE, to a full one would block the program.
    pollfd place{STDERR_FILENO, POLLOUT, 0};
    if (poll(&place, 1, 0) != 1 || (place.revents & (POLLERR | POLLNVAL)) != 0) return;
    (void)!write(STDERR_FILENO, line.data(), line.size());  // one write, not through the host's stdio
  } catch (...) {
  }
}

void log_info(const std::string& text) noexcept {
  log(spdlog::level::info, text);
}

bool logs_debug() noexcept {
  const spdlog::logger* const out = logger.load(std::memory_order_acquire);
  return out != nullptr && out->should_log(spdlog::level::debug);
}

void log_debug(const std::string& text) noexcept {
  log(spdlog::level::debug, text);
}

}  // namespace rangefinder
