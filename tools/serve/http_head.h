// SPDX-License-Identifier: Apache-2.0
//
// Decides which requests are accepted, before cpp-httplib parses them.
//
//   socket ─▶ read_head(): complete, in time, not too large ─▶ judge_head(): our Host, our Origin, GET or
//   HEAD
//
// The server is read-only and serves only programs on this machine that address it. It refuses
//   * methods other than GET and HEAD, and bodies of any kind;
//   * a Host that is no loopback name (DNS rebinding: a page whose name resolves to 127.0.0.1);
//   * an Origin or Sec-Fetch-Site of another page, except for following a link;
//   * heads that are too large, too slow, or ambiguous to parse.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "tools/serve/http.h"

namespace rangefinder {

/// HTTP status of the refusal; 0: the request is accepted.
[[nodiscard]] int judge_head(std::string_view head, int port, const HttpLimits& limits);

/// "Bad Request" and the like.
[[nodiscard]] std::string_view http_reason(int status) noexcept;

enum class HeadEnd : std::uint8_t { whole, closed, too_slow, too_large };

/// Reads up to the empty line that ends a head. `rest`: bytes after it, which the next call uses first.
[[nodiscard]] HeadEnd read_head(int socket, const HttpLimits& limits, const std::atomic<bool>& stopping,
                                std::string& rest, std::string& head);

/// Writes all of `text`. False: the client did not read it in time, or disconnected.
[[nodiscard]] bool write_text(int socket, std::string_view text, int timeout_ms);

}  // namespace rangefinder
