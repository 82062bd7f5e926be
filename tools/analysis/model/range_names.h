// SPDX-License-Identifier: Apache-2.0
//
// What ranges that frameworks open for themselves mean. The trace keeps the names as they are.
//
//   XlaModule:#hlo_module=jit_step,program_id=3981#                   jit_step
//   Thunk:#name=jit(step)/mlp/dot_general,hlo_op=gemm.4,…#            jit_step/mlp/dot_general
//   Thunk:#name=jit(step)/transpose(jvp(mlp))/mul,hlo_op=fusion,…#    jit_step/backward/mlp/mul
//   XlaPass:#name=algsimp,module=jit_step,…#                          (compilation)
//
// A new framework is one reader in one file, and its row in range_names.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

/// Names of the rows of set-up work, which is no iteration.
inline constexpr std::string_view kCompilation = "(compilation)", kAutotuning = "(autotuning)";
inline constexpr std::string_view kNoScope = "(compiled: no scope)";  ///< operations that XLA gives no scope
[[nodiscard]] constexpr bool is_set_up(std::string_view name) {
  return name == kCompilation || name == kAutotuning;
}

/// In lower case: "Data_Loader 2" ─▶ "dataloader2".
[[nodiscard]] std::string letters_and_digits(std::string_view name);

struct NameMeaning {
  enum class Place : std::uint8_t {
    below,        ///< the levels lie in the range around it
    in_function,  ///< in the compiled function around it, whatever is between them
    set_up,       ///< outermost; ranges in it are no levels
  };

  Place place = Place::below;
  std::vector<std::string> levels;  ///< the outermost first; empty: no level
  bool is_function = false;         ///< compiled code: its repetitions are iterations
};

/// Absent: the name says what it means.
[[nodiscard]] std::optional<NameMeaning> meaning_of(std::string_view name);

/// XLA, which JAX compiles with (xla_names.cpp).
[[nodiscard]] std::optional<NameMeaning> meaning_in_xla(std::string_view name);

}  // namespace rangefinder
