// SPDX-License-Identifier: Apache-2.0
//
// The late rank and its cause in recorded jobs: slow_rank.py and tensor_parallel.py of tests/gpu on two
// H200s, 2026-11-29.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/queries/made_stacks.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/report/read_job.h"

namespace rangefinder {
namespace {
using namespace test;

ReadJob recorded_job(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(RANGEFINDER_TEST_JOBS) / name;
  return ReadJob({open_trace_folder(folder / "rank=0"), open_trace_folder(folder / "rank=1")});
}

/// slow_backward_gpu spins for 30 million cycles at 1,980 MHz. The others: what the program printed: the late
/// rank, and what it did more, as it measured itself.
struct Truth {
  const char* job;
  std::size_t rank;
  LateCause cause;
  const char* module;
  double ms;
};

/// Lines of what began in that time, as of a window or a killed program.
std::vector<std::string> lines_between(TimeNs from, TimeNs to, const std::filesystem::path& folder) {
  constexpr std::string_view kStart = "\"start\":";
  std::vector<std::string> out;
  TraceFolder files = open_trace_folder(folder);
  files.recorded_paths = true;
  LineReader reader;
  static_cast<void>(read_lines(files, reader, [&](const Line& line, const LinePlace&) {
    std::string text = line_of(line);
    const std::size_t start = text.find(kStart);
    const TimeNs began = start == std::string::npos ? from : std::stoll(text.substr(start + kStart.size()));
    if (began >= from && began <= to && !std::holds_alternative<EndRecord>(line))
      out.push_back(std::move(text));
  }));
  return out;
}

TEST_CASE("the late rank of a recorded job is named with its cause, module and milliseconds") {
  const std::vector<Truth> jobs{{"host", 1, LateCause::host, "step/data", 8.095},
                                {"backward_host", 0, LateCause::host, "step/backward", 8.100},
                                {"loader", 1, LateCause::host, "", 8.087},
                                {"copies", 0, LateCause::copies, "step/data", 4.595},
                                {"launches", 1, LateCause::launching, "step/forward/extra", 15.308},
                                {"hooks_loader", 1, LateCause::loading, "step/dataloader", 8.092},
                                {"bare_host", 1, LateCause::host, "", 8.085},
                                {"gpu", 1, LateCause::gpu, "step/forward/extra", 4.253},
                                {"layer", 1, LateCause::gpu, "step/forward/layers/2/attention", 4.291},
                                {"backward_gpu", 0, LateCause::gpu, "step/backward", 4.139},
                                {"graph", 1, LateCause::gpu, "decoder/layers\\/5/mlp", 0.692},
                                {"graph_one_shot", 0, LateCause::gpu, "decoder/layers\\/5/mlp", 0.692},
                                {"slow_backward_gpu", 1, LateCause::gpu, "step/backward", 15.15}};
  for (const Truth& truth : jobs) {
    CAPTURE(truth.job);
    const ReadJob job = recorded_job(truth.job);

    REQUIRE(job->compared.stragglers.size() == 1);
    const Straggler& late = job->compared.stragglers.front();
    CHECK(late.rank == truth.rank);
    CHECK(key_of(late.cause) == key_of(truth.cause));
    CHECK(late.module == truth.module);
    CHECK(std::abs(late.excess_ns / 1e6 - truth.ms) < 0.15 * truth.ms);
    CHECK(late.made_wait_ns <= late.excess_ns);
    CHECK(straggler_lines(*job).starts_with("Rank " + std::to_string(truth.rank) + " makes the other wait "));
  }
}

/// Exposed waits of a rank by module, mean over the compared iterations, in us.
double waited_us(const ReadJob& job, std::size_t rank, const std::string& path) {
  const std::vector<RankModule>& modules = job->modules.all();
  const RankModules::Waits waits = job->modules.waits(modules, rank, job->compared.iterations);
  for (std::size_t m = 0; m < modules.size(); ++m) {
    if (modules[m].path == path) return waits.waited_ns[m] / 1e3;
  }
  return -1;
}

// Each step is a replay. 16 all-reduces, those of the second job of symmetric memory, without NVTX ranges.
TEST_CASE("collectives of replayed graphs have their waits in the layers in which they were captured") {
  for (const auto& [name, late] :
       {std::pair("graph", std::size_t{1}), std::pair("graph_one_shot", std::size_t{0})}) {
    CAPTURE(name);
    const ReadJob job = recorded_job(name);
    const std::size_t other = 1 - late;

    CHECK(job->waits.collectives >= 16 * 33);
    CHECK(job->waits.unmatched == 0);
    CHECK(std::abs(waited_us(job, other, "decoder/layers\\/5/mlp") - 692) < 35);
    CHECK(waited_us(job, late, "decoder/layers\\/5/mlp") < 10);
    CHECK(waited_us(job, other, "decoder/layers\\/4/mlp") < 10);
  }
}

TEST_CASE("where no rank does more than the other, none is late") {
  const ReadJob job = recorded_job("none");

  CHECK(job->compared.stragglers.empty());
  CHECK(straggler_lines(*job).starts_with("No rank is late: communication itself takes "));
  CHECK(lateness_lines(*job, 110).empty());
}

TEST_CASE("the table of modules has own times, and each module below its own parent") {
  const ReadJob job = recorded_job("host");
  const Table table = job_module_table(*job, 0, true);

  std::vector<std::string> paths;
  for (const auto& row : table.rows) paths.push_back(std::get<std::string>(row[0].value));
  CHECK(paths == std::vector<std::string>{"step", "step/data", "step/forward", "step/forward/layers",
                                          "step/forward/layers/*", "step/forward/layers/*/attention",
                                          "step/forward/layers/*/mlp", "step/backward", "step/optimizer",
                                          "(outside of any range)"});
  const auto& data = table.rows[1];
  CHECK(std::get<std::string>(data[8].value) == "rank 1");  // host code: it sleeps there
  CHECK(data[5].empty());                                   // its GPU times are alike
}

/// Eight iterations of 10 ms: data, the own stage of a pipeline for 4 ms, an AllReduce, for which the host
/// waits from `wait_from_ms` on. `data_ms`: host time.
void write_stage(TraceOnDisk& out, int rank, TimeNs data_ms, TimeNs wait_ms, TimeNs wait_from_ms) {
  constexpr TimeNs kMs = 1'000'000;
  Header of_rank = header();
  of_rank.rank = std::to_string(rank);
  KernelNameRecord all_reduce = kernel_name(2, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
  all_reduce.from_library = "NCCL";
  out.lines = {line_of(of_rank),
               line_of(gpu()),
               line_of(path(1, 0, "step")),
               line_of(path(2, 1, "data")),
               line_of(path(3, 1, rank == 0 ? "encoder" : "decoder")),
               line_of(kernel_name(1, "gemm")),
               line_of(all_reduce),
               line_of(config(1))};
  for (TimeNs i = 0; i < 8; ++i) {
    const TimeNs at = i * 10 * kMs;
    const auto id = static_cast<std::uint64_t>(3 * i + 1);
    const TimeNs computes = at + data_ms * kMs, meets = at + 9 * kMs;
    out.lines.push_back(line_of(range(id + 1, 2, at + 10, computes)));
    out.lines.push_back(line_of(range(id + 2, 3, computes, computes + kMs / 2)));
    out.lines.push_back(line_of(range(id, 1, at, computes + kMs)));
    SyncRecord sync;
    sync.host = {at + wait_from_ms * kMs, meets, 4711, 0, 0};
    sync.api = "cuStreamSynchronize";
    out.lines.push_back(line_of(sync));
    const auto launch = static_cast<std::uint32_t>(2 * i + 1);
    out.lines.push_back(line_of(kernel(launch, 3, computes, computes + 4 * kMs, id + 2)));
    KernelRecord collective = kernel(launch + 1, 1, meets - wait_ms * kMs, meets, id);
    collective.name = 2;
    collective.work.stream = 8;
    out.lines.push_back(line_of(collective));
  }
  out.lines.push_back(line_of(end_record()));
  out.write();
}

TEST_CASE("stages of a pipeline, which one rank has, are no cause; the host code of both is") {
  TraceOnDisk first, second;
  write_stage(first, 0, 1, 4, 2);
  write_stage(second, 1, 4, 1, 5);
  const ReadJob job({open_trace_folder(first.folder.path()), open_trace_folder(second.folder.path())});

  REQUIRE(job->compared.stragglers.size() == 1);
  const Straggler& late = job->compared.stragglers.front();
  CHECK(late.rank == 1);
  CHECK(late.module == "step/data");
  CHECK(late.excess_ns == 3'000'000);
  CHECK(late.made_wait_ns == 3'000'000);
  const Table modules = job_module_table(*job, 0, true);
  const auto row = [&modules](const std::string& of) -> const std::vector<Cell>& {
    return *std::find_if(modules.rows.begin(), modules.rows.end(),
                         [&of](const auto& cells) { return std::get<std::string>(cells[0].value) == of; });
  };
  CHECK(std::get<std::uint64_t>(row("step/encoder")[1].value) == 4'000'000);  // of the rank that has it
  CHECK(std::get<std::uint64_t>(row("step/encoder").back().value) == 1);
  CHECK(row("step/encoder")[5].empty());
}

TEST_CASE("the function of a late rank's host code is named, of samples in the module and outside of calls") {
  TraceOnDisk first, second;
  write_stage(first, 0, 1, 4, 2);
  write_stage(second, 1, 4, 1, 5);
  MadeStacks made;
  const std::uint32_t load = made.stack({{"train", "/app/train.py", 30}, {"load", "/app/data.py", 41}});
  StackSampleRecord samples{100, 80'000'100, 4711, 500'000, {}};
  for (std::uint32_t i = 0; i < 160; ++i)  // 4 ms in step/data, then in step and in its wait
    samples.samples.push_back({i * 500, i % 20 < 8 ? load : 1});
  for (const auto& record : made.records)
    std::visit([&second](const auto& one) { second.lines.push_back(line_of(one)); }, record);
  second.lines.push_back(line_of(samples));
  second.write();
  const ReadJob job({open_trace_folder(first.folder.path()), open_trace_folder(second.folder.path())});

  REQUIRE(job->compared.stragglers.size() == 1);
  const Straggler& late = job->compared.stragglers.front();
  REQUIRE(late.function);
  CHECK(late.function->function.text() == "data.py:41 load");
  CHECK(late.function->share(late.function->function) == 1);
  CHECK(late.function->all.samples == 8 * job->compared.iterations.size());
  CHECK(straggler_lines(*job).find(
            "more in `step/data`; host code there: data.py:41 load (100 % of that time, of ") !=
        std::string::npos);
  CHECK(straggler_table(*job).columns.back().key == "function");
}

TEST_CASE("collectives that belong to none of another rank are told") {
  TraceOnDisk first, second;
  write_stage(first, 0, 1, 4, 2);
  write_stage(second, 1, 4, 1, 5);
  LaunchConfigRecord larger = config(1);
  larger.grid.x *= 2;
  std::replace(second.lines.begin(), second.lines.end(), line_of(config(1)), line_of(larger));
  second.write();
  const ReadJob job({open_trace_folder(first.folder.path()), open_trace_folder(second.folder.path())});

  CHECK(job->waits.collectives == 0);
  CHECK(rank_table(*job).remarks.find("16 collectives without NCCL's ranges are not compared") !=
        std::string::npos);
}

TEST_CASE("a range between iterations that only the late rank has is the cause") {
  TraceOnDisk first, second;
  write_stage(first, 0, 1, 4, 2);
  write_stage(second, 1, 1, 1, 8);
  second.lines.insert(second.lines.begin() + 5, line_of(path(4, 0, "checkpoint")));
  for (TimeNs i = 0; i < 8; ++i) {  // after the 2 ms of the iteration
    const auto id = static_cast<std::uint64_t>(100 + i);
    second.lines.insert(second.lines.end() - 1,
                        line_of(range(id, 4, i * 10'000'000 + 5'000'000, i * 10'000'000 + 8'000'000)));
  }
  second.write();
  const ReadJob job({open_trace_folder(first.folder.path()), open_trace_folder(second.folder.path())});

  REQUIRE(job->compared.stragglers.size() == 1);
  CHECK(job->compared.stragglers.front().module == "checkpoint");
  CHECK(job->compared.stragglers.front().cause == LateCause::host);
}

TEST_CASE("a wait for another rank is no finding about a grid, a stream or a kernel") {
  for (const char* const rank : {"rank=0", "rank=1"}) {
    const SectionRun run("findings",
                         std::filesystem::path(RANGEFINDER_TEST_JOBS) / "slow_backward_gpu" / rank);
    CHECK(run.shown().find("nccl") == std::string::npos);
  }
}

TEST_CASE("a rank that is absent, has no end or recorded less is said") {
  const std::filesystem::path folder = std::filesystem::path(RANGEFINDER_TEST_JOBS) / "host";
  TraceOnDisk cut;
  cut.lines = lines_between(0, 4'900'000'000, folder / "rank=1");  // after 14 of 25 iterations
  cut.write();
  const ReadJob job({open_trace_folder(folder / "rank=0"), open_trace_folder(cut.folder.path())});

  const std::vector<MissingRank> missing = missing_ranks(*job);

  REQUIRE(missing.size() == 2);
  CHECK(missing[0].problem == "no_end");
  CHECK(missing[1].problem == "fewer_iterations");
  CHECK(missing_text(missing).starts_with("Missing: rank 1 has no end: it was killed, or still runs."));
  // Compared over the common time.
  REQUIRE(job->compared.stragglers.size() == 1);
  CHECK(job->compared.stragglers.front().module == "step/data");
}

TEST_CASE("ranks whose windows begin at other iterations are said, and compared in those that both have") {
  const std::filesystem::path folder = std::filesystem::path(RANGEFINDER_TEST_JOBS) / "host";
  TraceOnDisk late;
  late.lines = lines_between(4'800'000'000, 9'000'000'000, folder / "rank=1");  // from iteration 8 on
  late.write();
  const ReadJob job({open_trace_folder(folder / "rank=0"), open_trace_folder(late.folder.path())});

  const std::vector<MissingRank> missing = missing_ranks(*job);

  REQUIRE(missing.size() == 2);
  CHECK(missing[1].problem == "later_begin");
  CHECK(missing[1].text.starts_with("rank 1 begins 8 iterations after another rank: the 16 that all have"));
  REQUIRE(job->compared.stragglers.size() == 1);
  CHECK(job->compared.stragglers.front().module == "step/data");
  CHECK(std::abs(job->compared.stragglers.front().excess_ns / 1e6 - 8.095) < 0.15 * 8.095);
}

TEST_CASE("gaps in the numbers of the ranks are absent ranks") {
  const std::filesystem::path folder = std::filesystem::path(RANGEFINDER_TEST_JOBS) / "host";
  const ReadJob job({open_trace_folder(folder / "rank=1")});

  REQUIRE(missing_ranks(*job).size() == 1);
  CHECK(missing_ranks(*job).front().text == "no trace of rank 0");
}

}  // namespace
}  // namespace rangefinder
