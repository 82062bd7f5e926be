// SPDX-License-Identifier: Apache-2.0
//
// Sections about memory, one kernel and the trace itself; and all sections over an empty trace.
#include "profiler/metrics/metric_formula.h"
#include "schema/key_names.h"
#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/report/section_kinds.h"

using namespace rangefinder;
using test::kernel_on;
using test::line_of;
using test::recorded;
using test::run_over;
using test::SectionRun;

namespace {

std::string alloc_line(std::uint64_t address, std::uint64_t bytes, TimeNs at, std::uint32_t path) {
  return line_of(
      AllocRecord{{at, at + 5, 4711, path, 0}, "cuMemAlloc", false, AllocKind::device, address, bytes});
}

std::string free_line(std::uint64_t address, TimeNs at) {
  return line_of(AllocRecord{{at, at + 5, 4711, 0, 0}, "cuMemFree", true, AllocKind::device, address});
}

SectionView named(const char* name) {
  SectionView out;
  out.name = name;
  return out;
}

}  // namespace

TEST_CASE("memory: peaks of paths include the paths below, and live memory is listed by path") {
  const SectionRun run =
      run_over("memory", {line_of(test::path(1, 0, "model")), line_of(test::path(2, 1, "head")),
                          line_of(test::path(3, 1, "body")), alloc_line(1, 100, 10, 2),
                          alloc_line(2, 40, 20, 3), free_line(1, 30), alloc_line(3, 30, 40, 0)});

  run.check("memory", {{"path", "(all)"}}, {{"peak_bytes", 140}, {"live_bytes", 70}});
  run.check("memory", {{"path", "model"}}, {{"peak_bytes", 140}, {"live_bytes", 40}});
  run.check("memory", {{"path", "model/head"}}, {{"peak_bytes", 100}, {"frees", 1}});
  REQUIRE(run.table("memory_live").rows.size() == 2);
  run.check("memory_live", 0U, {{"path", "model/body"}});
  run.check("memory_live", 1U, {{"path", "(outside of any range)"}});
  run.check("memory_kinds", {{"memory", "device"}}, {{"allocated_bytes", 170}});
}

TEST_CASE("memory: a path is omitted if one child has all of its memory") {
  const std::vector<std::string> lines{line_of(test::path(1, 0, "model")), line_of(test::path(2, 1, "head")),
                                       alloc_line(1, 100, 10, 2)};
  SectionView shallow;
  shallow.depth = 1;

  CHECK_FALSE(run_over("memory", lines).find("memory", {{"path", "model"}}));
  CHECK(run_over("memory", lines, shallow).find("memory", {{"path", "model"}}));
}

TEST_CASE("memory: allocations and frees between iterations do not count per iteration") {
  std::vector<std::string> lines{line_of(test::path(1, 0, "step")), alloc_line(99, 10, 1, 0)};
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto start = static_cast<TimeNs>(100 + i * 100);
    for (std::uint64_t k = 0; k < 3; ++k) {
      lines.push_back(alloc_line(i * 3 + k + 1, 10, start + static_cast<TimeNs>(k) * 10, 1));
    }
    lines.push_back(free_line(i * 3 + 1, start + 40));  // within the iteration
    lines.push_back(free_line(i * 3 + 2, start + 60));  // after it
    lines.push_back(line_of(test::range(i + 1, 1, start, start + 50)));
  }
  const SectionRun run = run_over("memory", lines);

  run.check("memory", {{"path", "step"}},
            {{"allocations_per_iteration", 3}, {"frees", 8}, {"frees_per_iteration", 1}});
  run.check("memory", {{"path", "(all)"}}, {{"allocations", 13}, {"allocations_per_iteration", 3}});
  run.check("memory_kinds", {{"memory", "device"}}, {{"frees_per_iteration", 1}});
}

TEST_CASE("memory: allocations of a recorded model that frees none of them") {
  const SectionRun run("memory", recorded("hf_rtdetr_trace"));

  run.check("memory", {{"path", "(all)"}},
            {{"peak_bytes", 312'633'092}, {"host_peak_bytes", 4}, {"allocations", 39}});
  run.check("memory_kinds", {{"memory", "device"}}, {{"allocations", 38}});
  CHECK(SectionRun("memory", recorded("managed_memory")).table("memory_live").rows.empty());
}

TEST_CASE("overhead: records by kind, and the cost of recording from the end line") {
  const auto overhead = [](const char* what, TimeNs start, TimeNs end) {
    return line_of(OverheadRecord{start, end, what, 4711, 0});
  };
  EndRecord end = test::end_record();
  end.own_cost.launch_callbacks = 12;
  end.own_cost.launch_callback_median_ns = 130;
  end.own_cost.launch_callback_p99_ns = 700;
  end.own_cost.drain_cpu_ns = 5'000;
  end.own_cost.bytes_written = 4'096;
  end.own_cost.activity_buffers_peak = 3;
  end.own_cost.activity_buffer_bytes = 1'000;
  end.own_cost.stacks_cpu_ns = 700;
  const SectionRun run = run_over(
      "overhead", {overhead("lazy_function_loading", 0, 100), overhead("lazy_function_loading", 100, 400),
                   overhead("cupti_resource", 0, 900), line_of(end)});

  run.check("overhead", 0U, {{"what", "cupti_resource"}});
  run.check("overhead", {{"what", "lazy_function_loading"}}, {{"total_ns", 400}, {"mean_ns", 200}});
  run.check("own_cost", 0U, {{"count", 12}, {"median_ns", 130}});
  run.check("own_cost", 1U, {{"ns", 5'000}});
  run.check("own_cost", {{"what", "trace files"}}, {{"bytes", 4'096}});
  run.check("own_cost", {{"what", "activity buffers at once"}}, {{"bytes", 3'000}});
  run.check("own_cost", {{"what", "thread that reads host stacks, CPU time"}}, {{"ns", 700}});
}

TEST_CASE("overhead: times in which threads were held, by cause, and their sum") {
  const auto hold = [](HoldCause cause, TimeNs start, TimeNs end, std::uint32_t thread) {
    return line_of(HoldRecord{start, end, thread, cause});
  };
  EndRecord end = test::end_record();
  end.own_cost.held_ns = 900;
  const SectionRun run =
      run_over("overhead", {hold(HoldCause::lock, 0, 100, 1), hold(HoldCause::counter_batch, 100, 400, 1),
                            hold(HoldCause::counter_batch, 400, 900, 2), line_of(end)});

  run.check("holds", 0U, {{"cause", "counter_batch"}, {"count", 2}, {"total_ns", 800}, {"max_ns", 500}});
  run.check("holds", 1U, {{"cause", "lock"}, {"threads", 1}});
  run.check("own_cost", {{"what", "application threads held, taken out of host times"}}, {{"ns", 900}});
}

TEST_CASE("loss: causes with their meaning, largest first, and the balance of launches") {
  EndRecord end = test::end_record();
  end.loss[static_cast<std::size_t>(Loss::events_dropped)] = 7;
  end.loss[static_cast<std::size_t>(Loss::nvtx_unclosed)] = 9;
  end.balance[0] = {10, 6, 3, 1};

  const SectionRun run = run_over("loss", {line_of(end)});

  REQUIRE(run.table("loss_causes").rows.size() == 2);
  run.check("loss_causes", 0U, {{"cause", "nvtx_unclosed"}});
  run.check("loss_causes", 1U,
            {{"count", 7}, {"meaning", "host events dropped because the thread's ring was full"}});
  run.check("launch_balance", {{"kind", "kernel"}}, {{"lost_share", Approx(0.1)}});
  run.check("launch_balance", {{"kind", "graph"}}, {{"lost_share", ""}});
}

TEST_CASE("loss: causes that this version does not know are shown as such, and their sum does not wrap") {
  const SectionRun run = run_over(
      "loss",
      {R"({"t":"flush","at":5,"records":0,"loss":{"new":18446744073709551615,"newer":2,"nvtx_unclosed":9}})"
       "\n"});

  REQUIRE(run.table("loss_causes").rows.size() == 2);
  run.check("loss_causes", 0U, {{"cause", "unknown_cause"}, {"count", 0x1p64}});
  run.check("loss_causes", 1U, {{"cause", "nvtx_unclosed"}, {"count", 9}});
}

TEST_CASE("loss: a truncated trace is reported with the place") {
  const SectionRun run = run_over("loss", {line_of(kernel_on(7, 1, 0, 10)), "{\"t\":\"kernel\",\"st"});

  run.check("reading", {{"what", "torn, at the end of a file"}}, {{"where", "trace-00000.ndjson:5"}});
  run.check("reading", {{"what", "end line"}}, {{"count", 0}});
  CHECK(run.shown().find("Nothing was lost until the last heartbeat.") != std::string::npos);
}

TEST_CASE("kernel: time, metrics and paths of one kernel of a recorded run") {
  const SectionRun run("kernel", recorded("rtdetr_rotated"), named("deformable_attention"));

  REQUIRE(run.table("kernel").rows.size() == 1);
  run.check("kernel", 0U, {{"count", 30}, {"total_ns", 133'151}, {"median_ns", Approx(4'448).epsilon(0.01)}});
  run.check("kernel_metrics", {{"metric", "dram__bytes_read.sum"}},
            {{"n", 12}, {"mean", Approx(8'170.6667)}, {"stddev", Approx(12'432.823)}});
  run.check("kernel_metrics", {{"metric", "gr__cycles_active.sum"}},
            {{"n", 18}, {"mean", Approx(12'465.667)}, {"stddev", Approx(258.10714)}});
  run.check("kernel_metrics", {{"metric", "sm__inst_executed.sum"}},
            {{"n", 18}, {"mean", 1'364'420}});  // the same in each launch
  REQUIRE(run.table("kernel_paths").rows.size() == 6);
  run.check("kernel_paths", 0U, {{"path", "iteration/model/decoder/layers/0/encoder_attn"}, {"count", 8}});
}

TEST_CASE("kernel: what a kernel of torch.compile computes, by line of the program") {
  const SectionRun run("kernel", recorded("compiled_origins"), named("mul_silu"));

  REQUIRE(run.table("kernel_origin").rows.size() == 2);
  run.check("kernel_origin", 0U, {{"operators", "silu"}, {"paths", 2}});
  run.check("kernel_origin", 1U, {{"operators", "mul"}, {"paths", 2}});
  CHECK(run.shown().find("modeling_llama.py:175") != std::string::npos);
}

TEST_CASE("kernel: its launch configuration with occupancy, limiter and waves") {
  const SectionRun run("kernel", recorded("rtdetr_rotated"), named("deformable_attention"));

  REQUIRE(run.table("kernel_configurations").rows.size() == 1);
  // 56 registers: 1,792 per warp, 9 warps per scheduler, 36 per SM, so 9 blocks of 4 warps: 36 of 64.
  run.check("kernel_configurations", 0U, {{"grid", "300x1x1"}, {"block", "128x1x1"}, {"registers", 56}});
  run.check("kernel_configurations", 0U, {{"blocks_per_sm", 9}, {"occupancy", Approx(0.5625)}});
  run.check("kernel_configurations", 0U,
            {{"occupancy_limiter", "registers"}, {"waves", Approx(300.0 / (9 * 132))}});
}

TEST_CASE("kernel: stalls are shares of all warp cycles, and issued instructions are no stall") {
  const MetricSetRecord set{2, "stalls", collected_for(*find_named_metric("stall_wait"))};
  ExactRecord exact;
  exact.launch = test::call("cuLaunchKernel", 1, 0, 10);
  exact.name = 1;
  exact.measured = true;
  exact.gpu_ns = 100;
  exact.has_bytes = false;
  exact.metric_set = 2;
  for (const std::string& name : set.metrics) {
    exact.values.push_back(name.ends_with("long_scoreboard.sum")                                    ? 300
                           : name.ends_with("_wait.sum")                                            ? 100
                           : name.ends_with("_selected.sum") && !name.ends_with("not_selected.sum") ? 600
                                                                                                    : 0);
  }
  const SectionRun run =
      run_over("kernel",
               {line_of(test::kernel_name(1, "void gemm<float>(float*, int)")), line_of(test::config(1)),
                line_of(set), line_of(exact), line_of(kernel_on(7, 1, 20, 120))},
               named("gemm<float>(float*"));

  REQUIRE(run.table("kernel_stalls").rows.size() == 18);
  run.check("kernel_stalls", 0U, {{"reason", "stall_long_scoreboard"}, {"stall_share", Approx(30)}});
  run.check("kernel_stalls", 1U, {{"reason", "stall_wait"}, {"stall_share", Approx(10)}});
}

TEST_CASE("kernel: throughputs, accesses and pipes of a recorded kernel, each with its launches") {
  const SectionRun run("kernel", recorded("case_transpose_metrics"), named("transpose_naive"));

  run.check("kernel_speed_of_light", 1U,
            {{"metric", "memory_throughput"},
             {"value", Approx(76.6).margin(0.1)},
             {"busiest", "SM to L2"},
             {"n", 2}});
  run.check("kernel_accesses", 1U,
            {{"access", "store"},
             {"sectors_per_request", Approx(32).margin(0.01)},
             {"bytes_used", Approx(12.5).margin(0.01)}});
  run.check("kernel_stalls", 0U,
            {{"reason", "stall_long_scoreboard"}, {"stall_share", Approx(67.7).margin(0.1)}});
  run.check("kernel_pipes", 0U, {{"pipe", "lsu_pipe"}, {"n", 2}});
  CHECK(run.find("kernel_memory", {{"level", "l2"}}));
}

TEST_CASE("kernel: a regular expression may match several kernels, and each row names its kernel") {
  const SectionRun run("kernel", recorded("rtdetr_rotated"), named("(deformable_)?attention_kernel"));

  REQUIRE(run.table("kernel").rows.size() == 2);
  CHECK(run.text("kernel_paths", 0U, "kernel").find("attention_kernel") != std::string::npos);
}

TEST_CASE("kernel: an unknown name gives a message with the name") {
  const SectionRun run("kernel", recorded("rtdetr_rotated"), named("no_such_kernel"));

  CHECK(run.shown() == "No kernel of this trace has a name that matches no_such_kernel.\n");
}

TEST_CASE("metrics: a kernel's sums per launch are those of its measured launches") {
  const MetricSetRecord set{
      2,
      "memory",
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"}};
  ExactRecord exact;
  exact.launch = test::call("cuLaunchKernel", 1, 0, 10);
  exact.name = 1;
  exact.measured = true;
  exact.gpu_ns = 100;
  exact.has_bytes = false;
  exact.metric_set = 2;
  exact.values = {300, 100};
  const SectionRun run = run_over(
      "metrics", {line_of(test::kernel_name(1, "spill(float*)")), line_of(test::config(1)), line_of(set),
                  line_of(MetricSetRecord{3, "stalls", {}}), line_of(MetricSetRecord{66, "memory", {}}),
                  line_of(exact), line_of(kernel_on(7, 1, 20, 120)), line_of(kernel_on(7, 2, 130, 230)),
                  line_of(kernel_on(7, 3, 240, 340))});

  run.check("metrics_kernels", 0U, {{"launches", 3}, {"local_bytes_per_launch", 400 * 32}});
  // A set of several GPUs counts once.
  CHECK(run.shown().find("1 of 2 metric sets measured nothing here (stalls)") != std::string::npos);
}

TEST_CASE("every section has text for an empty trace") {
  for (const SectionKind& kind : section_kinds()) {
    if (kind.name == "findings") continue;
    CAPTURE(kind.name);
    const SectionRun run = run_over(std::string(kind.name), {});
    REQUIRE_FALSE(run.tables.empty());
    CHECK((!run.tables.front().empty.empty() || !run.tables.front().rows.empty()));
    CHECK_FALSE(run.shown().empty());
  }
}

TEST_CASE("rows have as many cells as columns, keys are unique, and tables can be made twice") {
  for (const char* const name :
       {"hf_rtdetr_trace", "multi_stream", "graph_replay", "copy_storm", "rtdetr_rotated"}) {
    for (const SectionKind& kind : section_kinds()) {
      if (kind.name == "findings") continue;
      CAPTURE(name, kind.name);
      SectionRun run(std::string(kind.name), recorded(name), named(kind.name == "kernel" ? "kernel" : ""));
      const std::string first = run.shown();
      for (const Table& table : run.tables) {
        for (const auto& row : table.rows) REQUIRE(row.size() == table.columns.size());
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
          for (std::size_t k = 0; k < i; ++k) CHECK(table.columns[i].key != table.columns[k].key);
        }
      }
      run.tables = shown_tables(run.made->tables(run.input()), &Outputs::markdown, {});
      CHECK(run.shown() == first);
    }
  }
}
