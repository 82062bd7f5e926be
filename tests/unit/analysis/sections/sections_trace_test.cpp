// SPDX-License-Identifier: Apache-2.0
//
// Sections about memory, one kernel and the trace itself; and all sections over an empty trace.
#include "schema/key_names.h"
#include "tests/catch.h"
#include "tests/unit/analysis/sections/section_run.h"
#include "tools/analysis/sections/section_kinds.h"

using namespace rangefinder;
using test::kernel_on;
using test::line_of;
using test::recorded;
using test::SectionRun;
using test::TraceOnDisk;

namespace {

std::string alloc_line(std::uint64_t address, std::uint64_t bytes, TimeNs at, std::uint32_t path) {
  AllocRecord out;
  out.host = {at, at + 5, 4711, path, 0};
  out.api = "cuMemAlloc";
  out.address = address;
  out.bytes = bytes;
  return line_of(out);
}

std::string free_line(std::uint64_t address, TimeNs at) {
  AllocRecord out;
  out.host = {at, at + 5, 4711, 0, 0};
  out.api = "cuMemFree";
  out.is_free = true;
  out.address = address;
  return line_of(out);
}

SectionView named(const char* name) {
  SectionView out;
  out.name = name;
  return out;
}

}  // namespace

TEST_CASE("memory: peaks of paths include the paths below, and live memory is listed by path") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(test::path(1, 0, "model")), line_of(test::path(2, 1, "head")),
                      line_of(test::path(3, 1, "body")), alloc_line(1, 100, 10, 2), alloc_line(2, 40, 20, 3),
                      free_line(1, 30), alloc_line(3, 30, 40, 0)});

  const SectionRun run("memory", trace.folder.path());

  CHECK(run.number("memory", {{"path", "(all)"}}, "peak_bytes") == 140);
  CHECK(run.number("memory", {{"path", "(all)"}}, "live_bytes") == 70);
  CHECK(run.number("memory", {{"path", "model"}}, "peak_bytes") == 140);
  CHECK(run.number("memory", {{"path", "model"}}, "live_bytes") == 40);
  CHECK(run.number("memory", {{"path", "model/head"}}, "peak_bytes") == 100);
  CHECK(run.number("memory", {{"path", "model/head"}}, "frees") == 1);
  REQUIRE(run.table("memory_live").rows.size() == 2);
  CHECK(run.text("memory_live", 0U, "path") == "model/body");
  CHECK(run.text("memory_live", 1U, "path") == "(outside of any range)");
  CHECK(run.number("memory_kinds", {{"memory", "device"}}, "allocated_bytes") == 170);
}

TEST_CASE("memory: a path is omitted if one child has all of its memory") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(test::path(1, 0, "model")), line_of(test::path(2, 1, "head")),
                      alloc_line(1, 100, 10, 2)});
  SectionView shallow;
  shallow.depth = 1;

  CHECK_FALSE(SectionRun("memory", trace.folder.path()).find("memory", {{"path", "model"}}));
  CHECK(SectionRun("memory", trace.folder.path(), shallow).find("memory", {{"path", "model"}}));
}

TEST_CASE("memory: allocations and frees between iterations do not count per iteration") {
  TraceOnDisk trace;
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
  write_trace(trace, lines);

  const SectionRun run("memory", trace.folder.path());

  CHECK(run.number("memory", {{"path", "step"}}, "allocations_per_iteration") == 3);
  CHECK(run.number("memory", {{"path", "(all)"}}, "allocations") == 13);
  CHECK(run.number("memory", {{"path", "(all)"}}, "allocations_per_iteration") == 3);
  CHECK(run.number("memory", {{"path", "step"}}, "frees") == 8);
  CHECK(run.number("memory", {{"path", "step"}}, "frees_per_iteration") == 1);
  CHECK(run.number("memory_kinds", {{"memory", "device"}}, "frees_per_iteration") == 1);
}

TEST_CASE("memory: allocations of a recorded model that frees none of them") {
  const SectionRun run("memory", recorded("hf_rtdetr_trace"));

  CHECK(run.number("memory", {{"path", "(all)"}}, "peak_bytes") == 297'953'028);
  CHECK(run.number("memory", {{"path", "(all)"}}, "host_peak_bytes") == 4);
  CHECK(run.number("memory", {{"path", "(all)"}}, "allocations") == 38);
  CHECK(run.number("memory_kinds", {{"memory", "device"}}, "allocations") == 37);
  CHECK(SectionRun("memory", recorded("managed_memory")).table("memory_live").rows.empty());
}

TEST_CASE("overhead: records by kind, and the cost of recording from the end line") {
  TraceOnDisk trace;
  const auto overhead = [](const char* what, TimeNs start, TimeNs end) {
    OverheadRecord out;
    out.what = what;
    out.start_ns = start;
    out.end_ns = end;
    out.thread = 4711;
    return line_of(out);
  };
  EndRecord end = test::end_record();
  end.own_cost.launch_callbacks = 12;
  end.own_cost.launch_callback_median_ns = 130;
  end.own_cost.launch_callback_p99_ns = 700;
  end.own_cost.drain_cpu_ns = 5'000;
  end.own_cost.bytes_written = 4'096;
  end.own_cost.activity_buffers_peak = 3;
  end.own_cost.activity_buffer_bytes = 1'000;
  write_trace(trace, {overhead("lazy_function_loading", 0, 100), overhead("lazy_function_loading", 100, 400),
                      overhead("cupti_resource", 0, 900), line_of(end)});

  const SectionRun run("overhead", trace.folder.path());

  CHECK(run.text("overhead", 0U, "what") == "cupti_resource");
  CHECK(run.number("overhead", {{"what", "lazy_function_loading"}}, "total_ns") == 400);
  CHECK(run.number("overhead", {{"what", "lazy_function_loading"}}, "mean_ns") == 200);
  CHECK(run.number("own_cost", 0U, "count") == 12);
  CHECK(run.number("own_cost", 0U, "median_ns") == 130);
  CHECK(run.number("own_cost", 1U, "ns") == 5'000);
  CHECK(run.number("own_cost", {{"what", "trace files"}}, "bytes") == 4'096);
  CHECK(run.number("own_cost", {{"what", "activity buffers at once"}}, "bytes") == 3'000);
}

TEST_CASE("loss: causes with their meaning, largest first, and the balance of launches") {
  TraceOnDisk trace;
  EndRecord end = test::end_record();
  end.loss[static_cast<std::size_t>(Loss::events_dropped)] = 7;
  end.loss[static_cast<std::size_t>(Loss::nvtx_unclosed)] = 9;
  end.balance[0] = {10, 6, 3, 1};
  write_trace(trace, {line_of(end)});

  const SectionRun run("loss", trace.folder.path());

  REQUIRE(run.table("loss_causes").rows.size() == 2);
  CHECK(run.text("loss_causes", 0U, "cause") == "nvtx_unclosed");
  CHECK(run.number("loss_causes", 1U, "count") == 7);
  CHECK(run.text("loss_causes", 1U, "meaning") == "host events dropped because the thread's ring was full");
  CHECK(run.number("launch_balance", {{"kind", "kernel"}}, "lost_share") == Approx(0.1));
  CHECK(run.text("launch_balance", {{"kind", "graph"}}, "lost_share").empty());
}

TEST_CASE("loss: a truncated trace is reported with the place") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(kernel_on(7, 1, 0, 10)), "{\"t\":\"kernel\",\"st"});

  const SectionRun run("loss", trace.folder.path());

  CHECK(run.text("reading", {{"what", "torn, at the end of a file"}}, "where") == "trace-00000.ndjson:5");
  CHECK(run.number("reading", {{"what", "end line"}}, "count") == 0);
  CHECK(run.shown().find("Nothing was lost until the last heartbeat.") != std::string::npos);
}

TEST_CASE("kernel: time, metrics and paths of one kernel of a recorded run") {
  const SectionRun run("kernel", recorded("rtdetr_rotated"), named("deformable_attention"));

  REQUIRE(run.table("kernel").rows.size() == 1);
  CHECK(run.number("kernel", 0U, "count") == 30);
  CHECK(run.number("kernel", 0U, "total_ns") == 133'151);
  CHECK(run.number("kernel", 0U, "median_ns") == Approx(4'448).epsilon(0.01));
  const SectionRun::Where read{{"metric", "dram__bytes_read.sum"}};
  CHECK(run.number("kernel_metrics", read, "n") == 12);
  CHECK(run.number("kernel_metrics", read, "mean") == Approx(8'170.6667));
  CHECK(run.number("kernel_metrics", read, "stddev") == Approx(12'432.823));
  const SectionRun::Where cycles{{"metric", "gr__cycles_active.sum"}};
  CHECK(run.number("kernel_metrics", cycles, "n") == 18);
  CHECK(run.number("kernel_metrics", cycles, "mean") == Approx(12'465.667));
  CHECK(run.number("kernel_metrics", cycles, "stddev") == Approx(258.10714));
  const SectionRun::Where instructions{{"metric", "sm__inst_executed.sum"}};
  CHECK(run.number("kernel_metrics", instructions, "n") == 18);
  CHECK(run.number("kernel_metrics", instructions, "mean") == 1'364'420);  // the same in each launch
  REQUIRE(run.table("kernel_paths").rows.size() == 6);
  CHECK(run.text("kernel_paths", 0U, "path") == "iteration/model/decoder/layers/0/encoder_attn");
  CHECK(run.number("kernel_paths", 0U, "count") == 8);
}

TEST_CASE("kernel: its launch configuration with occupancy, limiter and waves") {
  const SectionRun run("kernel", recorded("rtdetr_rotated"), named("deformable_attention"));

  REQUIRE(run.table("kernel_configurations").rows.size() == 1);
  CHECK(run.text("kernel_configurations", 0U, "grid") == "300x1x1");
  CHECK(run.text("kernel_configurations", 0U, "block") == "128x1x1");
  CHECK(run.number("kernel_configurations", 0U, "registers") == 56);
  // 56 registers: 1,792 per warp, 9 warps per scheduler, 36 per SM, so 9 blocks of 4 warps: 36 of 64.
  CHECK(run.number("kernel_configurations", 0U, "blocks_per_sm") == 9);
  CHECK(run.number("kernel_configurations", 0U, "occupancy") == Approx(0.5625));
  CHECK(run.text("kernel_configurations", 0U, "occupancy_limiter") == "registers");
  CHECK(run.number("kernel_configurations", 0U, "waves") == Approx(300.0 / (9 * 132)));
}

TEST_CASE("kernel: stalls are shares of all stalls, and issued instructions are no stall") {
  TraceOnDisk trace;
  MetricSetRecord set;
  set.id = 2;
  set.name = "stalls";
  set.metrics = {"smsp__warps_issue_stalled_long_scoreboard.sum", "smsp__warps_issue_stalled_wait.sum",
                 "smsp__warps_issue_stalled_selected.sum"};
  ExactRecord exact;
  exact.launch = test::call("cuLaunchKernel", 1, 0, 10);
  exact.name = 1;
  exact.measured = true;
  exact.gpu_ns = 100;
  exact.has_bytes = false;
  exact.metric_set = 2;
  exact.values = {300, 100, 500};
  write_trace(trace,
              {line_of(test::kernel_name(1, "void gemm<float>(float*, int)")), line_of(test::config(1)),
               line_of(set), line_of(exact), line_of(kernel_on(7, 1, 20, 120))});

  const SectionRun run("kernel", trace.folder.path(), named("gemm<float>(float*"));

  REQUIRE(run.table("kernel_stalls").rows.size() == 2);
  CHECK(run.text("kernel_stalls", 0U, "reason") == "long_scoreboard");
  CHECK(run.number("kernel_stalls", 0U, "stall_share") == Approx(0.75));
  CHECK(run.number("kernel_stalls", 1U, "mean") == 100);
  CHECK_FALSE(run.find("kernel_metrics", {{"metric", "smsp__warps_issue_stalled_wait.sum"}}));
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

TEST_CASE("every section has text for an empty trace") {
  TraceOnDisk trace;
  write_trace(trace, {});

  for (const SectionKind& kind : section_kinds()) {
    if (kind.name == "findings") continue;
    CAPTURE(kind.name);
    const SectionRun run(std::string(kind.name), trace.folder.path());
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
      run.tables = run.made->tables({*run.trace, *run.values, run.view});
      CHECK(run.shown() == first);
    }
  }
}
