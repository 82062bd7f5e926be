// SPDX-License-Identifier: Apache-2.0
//
// Source lines of PyTorch modules. The hooks of rangefinder.torch make one mark at the first call of a
// module, in its range (tools/python/rangefinder/torch/sources.py):
//
//   domain rangefinder.source    /app/model.py:214     forward() of its class; may be empty
//                                /app/train.py:30      its call; may be empty
//                                decoder               names of the modules, the outermost first
//                                attn
//
// and, for compiled code, one mark for each line of the program that a generated kernel computes, in the
// range of its launch:
//
//   domain rangefinder.source    kernel
//                                triton_poi_fused_mul_silu_7
//                                silu, mul             operators
//                                /app/model.py:220     their line; may be empty
//
// Such a mark is not recorded. It becomes a module_source or kernel_origin event, which holds for later
// windows too (naming_log.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace rangefinder {

class ThreadState;

inline constexpr std::string_view kSourceDomain = "rangefinder.source";

/// A domain was created. Any thread.
void note_domain(std::string_view name, std::uint32_t domain) noexcept;
/// Its marks are source lines. Any thread.
[[nodiscard]] bool is_source_domain(std::uint32_t domain) noexcept;
/// Keeps the source lines, or the kernel's origin, in the text of a mark. Without effect if it is malformed,
/// or if the innermost range of the thread is not the module's.
void record_source(ThreadState& state, std::string_view text) noexcept;

}  // namespace rangefinder
