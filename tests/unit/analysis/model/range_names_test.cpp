// SPDX-License-Identifier: Apache-2.0
//
// Names that frameworks give their own ranges, as recorded from JAX 0.11 (tests/replay/jax_*).
#include "tools/analysis/model/range_names.h"

#include "tests/catch.h"

namespace rangefinder {
namespace {

using Place = NameMeaning::Place;
using Levels = std::vector<std::string>;

NameMeaning meaning(std::string_view name) {
  return meaning_of(name).value_or(NameMeaning{Place::below, {"(as it is)"}, false});
}

/// Of an operation with this name and HLO operation.
Levels levels(const std::string& name, const std::string& op = "loop_add_fusion.3") {
  const std::string named = name.empty() ? "" : "name=" + name + ",";
  const NameMeaning out = meaning("Thunk:#" + named + "hlo_op=" + op + ",unique_hlo_op_id=34359738384#");
  CHECK(out.place == Place::in_function);
  return out.levels;
}

TEST_CASE("a compiled function is a module, whichever of its programs runs") {
  for (const char* const name : {"XlaModule:#hlo_module=jit_step,program_id=5972#",
                                 "XlaModule:#prefix=args[0],hlo_module=jit_step,program_id=0#"}) {
    const NameMeaning out = meaning(name);
    CHECK(out.levels == Levels{"jit_step"});
    CHECK(out.is_function);
    CHECK(out.place == Place::below);
  }
}

TEST_CASE("scopes are levels, and operations leaves") {
  CHECK(levels("jit(step)/mlp/dot_general", "custom-call.2") == Levels{"mlp", "dot_general"});
  CHECK(levels("jit(step)/mlp", "loop_multiply_fusion") == Levels{"mlp", "loop_multiply_fusion"});
  CHECK(levels("jit(step)/layers/3/attn/bsd,dhe->bshe/dot_general", "gemm_fusion_dot.87") ==
        Levels{"layers", "3", "attn", "bsd,dhe->bshe"});
  CHECK(levels("jit(step)/attn/bqhe,bkhe->bhqk", "loop_transpose_fusion") ==
        Levels{"attn", "bqhe,bkhe->bhqk"});
  CHECK(levels("jit(step)/mlp/jit(gelu)/mul") == Levels{"mlp", "gelu", "mul"});
  CHECK(levels("jit(_normal)/jit(_normal_real)") == Levels{"_normal_real", "loop_add_fusion"});
  CHECK(levels("jit(step)/while/body/closed_call/mlp/add") == Levels{"mlp", "add"});
  CHECK(levels("jit(step)/jit(main)/mlp/add") == Levels{"mlp", "add"});
  CHECK(levels("jit(step)/main/body/add") == Levels{"main", "body", "add"});  // scopes of the program
  CHECK(levels("jit(step)/cond/branch_1_fun/mlp/add") == Levels{"mlp", "add"});
  CHECK(levels("jit(step)") == Levels{"loop_add_fusion"});
  CHECK(levels("") == Levels{"(compiled: no scope)", "loop_add_fusion"});
}

TEST_CASE("what operations run in is no level of its own") {
  for (const char* const op : {"command_buffer_1", "while.2", "call.1", "conditional.7"})
    CHECK(levels("", op).empty());
}

TEST_CASE("a transposed scope is the backward pass of that scope") {
  CHECK(levels("jit(train_step)/jvp(layers_0)/mlp/dot_general") == Levels{"layers_0", "mlp", "dot_general"});
  CHECK(levels("jit(train_step)/transpose(jvp(layers_0))/mlp/transpose") ==
        Levels{"backward", "layers_0", "mlp", "transpose"});
  CHECK(levels("jit(train_step)/transpose(jvp())/mul") == Levels{"backward", "mul"});
  CHECK(levels("jit(train_step)/vmap(transpose(jvp(mlp)))/mul") == Levels{"backward", "mlp", "mul"});
  CHECK(levels("jit(train_step)/transpose(jvp(model/mlp))/mul") == Levels{"backward", "model", "mlp", "mul"});
  CHECK(levels("jit(train_step)/transpose(jvp(layers_0))/jvp(layers_0)/checkpoint/mlp/dot_general") ==
        Levels{"backward", "layers_0", "mlp", "dot_general"});
  CHECK(levels("jit(train_step)/transpose(jvp(layers_0))/jvp(layers_0)/checkpoint/rematted_computation/attn/"
               "exp") == Levels{"backward", "layers_0", "recomputation", "attn", "exp"});
}

TEST_CASE("compilation and autotuning are rows of their own") {
  for (const char* const name :
       {"XlaCompile:#module=jit_step#", "XlaPass:#name=algsimp,module=jit_step,program_id=0#",
        "XlaCompileBackend:#module=jit_stage,program_id=0#", "XlaEmitGpuAsm:#module=a#"}) {
    CHECK(meaning(name).levels == Levels{"(compilation)"});
    CHECK(meaning(name).place == Place::set_up);
  }
  CHECK(meaning("XlaModule:#hlo_module=gemm_fusion_dot.7#").levels == Levels{"(autotuning)"});
}

TEST_CASE("other names are what they are") {
  for (const char* const name :
       {"", "step", "Thunk", "Thunk:", "Thunk:#", ":##", "layer:#3", "Memcpy:#bytes=3#", "mlp#", "XlaModule"})
    CHECK_FALSE(meaning_of(name));
  // Damaged ones never fail.
  for (const char* const name : {"Thunk:##", "Thunk:#,#", "Thunk:#=#", "Thunk:#name=#", "Thunk:#name=),,(/#",
                                 "Thunk:#name=jit(step)/transpose(#", "XlaModule:#hlo_module=#"})
    CHECK(meaning_of(name));
}

}  // namespace
}  // namespace rangefinder
