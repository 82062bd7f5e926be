// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/http_head.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <utility>

namespace rangefinder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kEnd = "\r\n\r\n";
/// Interval in which waiting threads check whether the server stops.
constexpr int kStopPollMs = 200;

constexpr int kBadRequest = 400, kForbidden = 403, kWrongMethod = 405, kBodyTooLarge = 413,
              kTargetTooLong = 414, kForeignHost = 421;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

/// Removes and returns the next line, without its end.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 2, text.size()));
  return line;
}

/// True for loopback names at our port.
bool is_own_host(std::string_view host, int port) {
  const std::string suffix = ":" + std::to_string(port);
  const std::string name = lower(host);
  return name == "127.0.0.1" + suffix || name == "localhost" + suffix;
}

struct HeadFacts {
  std::string_view host, origin, site, mode;
  std::size_t hosts = 0, origins = 0;
  bool body = false, ranges = false, broken = false;
};

HeadFacts read_facts(std::string_view lines) {
  HeadFacts out;
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
      out.broken = true;
      break;
    }
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "host") out.host = value, ++out.hosts;
    if (name == "origin") out.origin = value, ++out.origins;
    if (name == "sec-fetch-site") out.site = value;
    if (name == "sec-fetch-mode") out.mode = value;
    if (name == "transfer-encoding" || (name == "content-length" && value != "0")) out.body = true;
    if (name == "range") out.ranges = true;
  }
  return out;
}

/// Browsers name the requesting page. A followed link is harmless: the linking page cannot read the answer.
bool is_foreign_page(const HeadFacts& facts, int port) {
  if (facts.origins > 1) return true;
  constexpr std::string_view kScheme = "http://";
  if (facts.origins == 1 &&
      !(facts.origin.starts_with(kScheme) && is_own_host(facts.origin.substr(kScheme.size()), port)))
    return true;
  if (facts.site.empty() || facts.site == "same-origin" || facts.site == "none") return false;
  return facts.mode != "navigate";
}

}  // namespace

int judge_head(std::string_view head, int port, const HttpLimits& limits) {
  // No control characters except CR LF pairs, so that all parsers read the head the same way.
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    const bool pair = (c == '\r' && i + 1 < head.size() && head[i + 1] == '\n') ||
                      (c == '\n' && i > 0 && head[i - 1] == '\r');
    if ((c < 0x20 && c != '\t' && !pair) || c >= 0x7f) return kBadRequest;
  }
  const std::string_view line = next_line(head);
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return kBadRequest;
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, last - first - 1),
                         version = line.substr(last + 1);
  if (target.find(' ') != std::string_view::npos || !is_token(method)) return kBadRequest;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return kBadRequest;
  if (target.size() > limits.target_bytes) return kTargetTooLong;
  const HeadFacts facts = read_facts(head);
  if (facts.broken || facts.hosts != 1) return kBadRequest;
  if (!is_own_host(facts.host, port)) return kForeignHost;
  if (is_foreign_page(facts, port)) return kForbidden;
  if (method != "GET" && method != "HEAD") return kWrongMethod;
  if (facts.body) return kBodyTooLarge;
  if (facts.ranges || !target.starts_with('/')) return kBadRequest;
  return 0;
}

std::string_view http_reason(int status) noexcept {
  constexpr std::array<std::pair<int, std::string_view>, 8> kReasons{
      {{kForbidden, "Forbidden"},
       {kWrongMethod, "Method Not Allowed"},
       {408, "Request Timeout"},
       {kBodyTooLarge, "Content Too Large"},
       {kTargetTooLong, "URI Too Long"},
       {kForeignHost, "Misdirected Request"},
       {431, "Request Header Fields Too Large"},
       {503, "Service Unavailable"}}};
  for (const auto& [code, reason] : kReasons) {
    if (code == status) return reason;
  }
  return "Bad Request";
}

HeadEnd read_head(int socket, const HttpLimits& limits, const std::atomic<bool>& stopping, std::string& rest,
                  std::string& head) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(limits.head_ms);
  for (;;) {
    if (const std::size_t end = rest.find(kEnd); end != std::string::npos && end <= limits.head_bytes) {
      head = rest.substr(0, end + kEnd.size());
      rest.erase(0, end + kEnd.size());
      return HeadEnd::whole;
    }
    if (rest.size() > limits.head_bytes) return HeadEnd::too_large;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (stopping.load(std::memory_order_relaxed)) return HeadEnd::closed;
    // No byte of a request: an idle keep-alive connection.
    if (left <= 0) return rest.empty() ? HeadEnd::closed : HeadEnd::too_slow;
    pollfd waited{socket, POLLIN, 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::min<long>(left, kStopPollMs)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return HeadEnd::closed;
    std::array<char, 4096> part;
    const ssize_t n = recv(socket, part.data(), part.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return HeadEnd::closed;
    rest.append(part.data(), static_cast<std::size_t>(n));
  }
}

bool write_text(int socket, std::string_view text, int timeout_ms) {
  while (!text.empty()) {
    const ssize_t n = send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd waited{socket, POLLOUT, 0};
    if (poll(&waited, 1, timeout_ms) == 0) return false;
  }
  return true;
}

}  // namespace rangefinder
