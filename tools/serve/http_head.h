// SPDX-License-Identifier: Apache-2.0
//
// Which requests are let in: looked at before anything of them is parsed.
//
//   socket ─▶ read_head(): whole, in time, not too large ─▶ judge_head(): for us, from us, nothing but a
//   question
//
// The server only answers questions, and only to programs on this machine that mean to ask it. So it refuses
//   * other methods than GET and HEAD, and bodies of any kind;
//   * a Host that is not this machine's own name for itself (a page whose name was made to point at
//   127.0.0.1);
//   * an Origin, or a Sec-Fetch-Site, of another page, except for following a link;
//   * heads that are too large, too slow, or written in a way that two readers could take differently.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "tools/serve/http.h"

namespace rangefinder {

/// HTTP status to answer with; 0: it is let in.
[[nodiscard]] int judge_head(std::string_view head, int port, const HttpLimits& limits);

/// "Bad Request" and the like.
[[nodiscard]] std::string_view http_reason(int status) noexcept;

enum class HeadEnd : std::uint8_t { whole, closed, too_slow, too_large };

/// Reads up to the empty line that ends a head. `rest`: what came behind it, and is taken first the next
/// time.
[[nodiscard]] HeadEnd read_head(int socket, const HttpLimits& limits, const std::atomic<bool>& stopping,
                                std::string& rest, std::string& head);

/// All of `text`, or false: the client did not take it in time, or is gone.
[[nodiscard]] bool write_text(int socket, std::string_view text, int patience_ms);

}  // namespace rangefinder
