// SPDX-License-Identifier: Apache-2.0
//
// Ranges of XLA, in its NVTX domain TSL: "Kind:#key=value,key=value#". An operation's `name` is JAX's stack
// of scopes,
//
//   jit(step)/transpose(jvp(layers_0))/checkpoint/rematted_computation/mlp/dot_general
//
// with the transformations around the scopes. An operation made of several has the scopes that they share, or
// no name. Source: XLA's annotations of JAX 0.11, recorded (tests/replay/jax_*).
#include <utility>

#include "tools/analysis/model/range_names.h"

namespace rangefinder {
namespace {

constexpr std::string_view kOpen = ":#", kClose = "#";

/// Functions of JAX around a scope's name. `transpose` makes the backward pass of what it is around.
constexpr std::string_view kTransformations =
    " checkpoint custom_jvp custom_vjp jit jvp linearize pjit pmap remat transpose vmap ";

/// How JAX calls functions: no scope of the program. kOfLoop: behind `while` only.
constexpr std::string_view kCalls =
    " checkpoint closed_call core_call custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr eval_jaxpr"
    " pjit remat remat2 while ";
constexpr std::string_view kOfLoop = " body body_fun cond cond_fun ";

/// Operations of JAX (jax.lax) that end a name. Any other last part is a scope.
constexpr std::string_view kOperations =
    " abs acos acosh add add_any all_gather all_to_all and argmax argmin asin asinh atan atan2 atanh"
    " bitcast_convert_type broadcast_in_dim cbrt ceil cholesky clamp complex concatenate conj"
    " conv_general_dilated convert_element_type copy copy_p cos cosh cummax cummin cumprod cumsum"
    " cumlogsumexp digamma div dot_general dynamic_slice dynamic_update_slice eigh eq erf erf_inv erfc"
    " exp exp2 expand_dims expm1 fft floor gather ge gt imag integer_pow iota is_finite le lgamma log"
    " log1p logistic lt lu max min mul ne neg nextafter not or pad pallas_call pmax pmin"
    " population_count pow ppermute psum qr ragged_dot random_bits random_fold_in random_seed"
    " random_split random_unwrap random_wrap real reduce reduce_and reduce_max reduce_min reduce_or"
    " reduce_precision reduce_prod reduce_scatter reduce_sum reduce_window reduce_window_sum rem"
    " reshape rev rng_bit_generator rng_uniform round rsqrt scatter scatter-add scatter-max scatter-min"
    " scatter-mul scatter_add scatter_mul select_and_gather_add select_and_scatter_add select_n"
    " shift_left shift_right_arithmetic shift_right_logical sign sin sinh slice sort split sqrt square"
    " squeeze stop_gradient sub svd tan tanh threefry2x32 top_k transpose ";

/// `words`: with a space around each.
bool is_one_of(std::string_view words, std::string_view name) {
  return name.find(' ') == std::string_view::npos &&
         words.find(" " + std::string(name) + " ") != std::string_view::npos;
}

/// The '=' behind the key that begins at `at`; npos: none does.
std::size_t key_end(std::string_view fields, std::size_t at) {
  const std::size_t end = fields.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
  return end != std::string_view::npos && end > at && fields[end] == '=' ? end : std::string_view::npos;
}

/// "name=a,b/c,hlo_op=d", "name" ─▶ "a,b/c": a value may have commas. Absent: no such key.
std::optional<std::string_view> field(std::string_view fields, std::string_view key) {
  for (std::size_t at = 0; at < fields.size();) {
    const std::size_t equals = key_end(fields, at);
    if (equals == std::string_view::npos) break;
    std::size_t end = equals + 1;
    while (end < fields.size() && (fields[end] != ',' || key_end(fields, end + 1) == std::string_view::npos))
      ++end;
    if (fields.substr(at, equals - at) == key) return fields.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
  return std::nullopt;
}

/// Parts of "a/b(c/d)/e": "a", "b(c/d)", "e".
template <typename See>
void each_part(std::string_view name, See&& see) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i == name.size() || (name[i] == '/' && depth == 0)) {
      if (i > begin) see(name.substr(begin, i - begin));
      begin = i + 1;
    } else {
      depth += name[i] == '(' ? 1 : name[i] == ')' ? -1 : 0;
    }
  }
}

struct Scopes {
  std::vector<std::string> levels;
  bool backward = false;
  bool loop = false;  ///< the part before was `while`

  void add(std::string_view part, bool transformed = false) {
    const std::size_t open = part.find('(');
    if (open != std::string_view::npos && part.ends_with(')') &&
        is_one_of(kTransformations, part.substr(0, open))) {
      backward = backward || part.substr(0, open) == "transpose";
      each_part(part.substr(open + 1, part.size() - open - 2),
                [this](std::string_view inner) { add(inner, true); });
      return;
    }
    const bool in_loop = std::exchange(loop, part == "while");
    if (is_one_of(kCalls, part) || (in_loop && is_one_of(kOfLoop, part))) return;
    if (part.starts_with("branch_") && part.ends_with("_fun")) {  // cond/branch_1_fun
      if (!levels.empty() && levels.back() == "cond") levels.pop_back();
      return;
    }
    if (transformed && part == "main") return;  // jit(main), of older versions of JAX
    const std::string_view level = part == "rematted_computation" ? "recomputation" : part;
    // The backward pass names the scopes that it computes again a second time.
    if (levels.empty() || levels.back() != level) levels.emplace_back(level);
  }
};

/// "loop_add_fusion.12" ─▶ "loop_add_fusion".
std::string_view without_number(std::string_view op) {
  const std::size_t last = op.find_last_not_of("0123456789");
  return last != std::string_view::npos && op[last] == '.' && last > 0 ? op.substr(0, last) : op;
}

NameMeaning operation(std::string_view fields) {
  const std::string_view name = field(fields, "name").value_or("");
  const std::string_view op = without_number(field(fields, "hlo_op").value_or("operation"));
  Scopes scopes;
  std::string_view last;
  bool first = true;  // the function itself
  each_part(name, [&](std::string_view part) {
    if (!std::exchange(first, false)) scopes.add(last = part);
  });
  std::vector<std::string>& levels = scopes.levels;
  NameMeaning out{NameMeaning::Place::in_function, {}, false};
  if (name.empty() &&
      (op.starts_with("command_buffer") || op == "while" || op == "call" || op == "conditional"))
    return out;  // operations run in it
  const auto is_product = [](std::string_view level) { return level.find("->") != std::string_view::npos; };
  const bool named =
      !levels.empty() && levels.back() == last && (is_one_of(kOperations, last) || is_product(last));
  if (name.empty()) levels.emplace_back(kNoScope);  // coverage.h counts it
  if (!named) levels.emplace_back(op);
  // A product of jnp.einsum: "bsd,dhe->bshe/dot_general".
  if (named && levels.size() > 1 && is_product(levels[levels.size() - 2])) levels.pop_back();
  if (scopes.backward) levels.insert(levels.begin(), "backward");
  out.levels = std::move(levels);
  return out;
}

}  // namespace

std::optional<NameMeaning> meaning_in_xla(std::string_view name) {
  const std::size_t open = name.find(kOpen);
  if (open == std::string_view::npos || !name.ends_with(kClose) || name.size() < open + 3)
    return std::nullopt;
  const std::string_view kind = name.substr(0, open);
  const std::string_view fields = name.substr(open + 2, name.size() - open - 3);
  if (kind == "Thunk") return operation(fields);
  if (kind == "XlaModule") {
    // The autotuner runs parts of a program, which are no programs.
    const std::optional<std::string_view> function = field(fields, "hlo_module");
    if (!function || !field(fields, "program_id"))
      return NameMeaning{NameMeaning::Place::set_up, {std::string(kAutotuning)}, false};
    return NameMeaning{NameMeaning::Place::below, {std::string(*function)}, true};
  }
  if (kind.starts_with("Xla"))
    return NameMeaning{NameMeaning::Place::set_up, {std::string(kCompilation)}, false};
  return std::nullopt;
}

}  // namespace rangefinder
