// SPDX-License-Identifier: Apache-2.0
//
// Findings as text, JSON and a section of a report; and the comparison of several ranks.
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tools/analysis/findings/rank_imbalance.h"
#include "tools/analysis/read/selection.h"

namespace rangefinder {
namespace {
using namespace test;

Finding made(std::string id, std::optional<std::uint64_t> saving) {
  Finding out;
  out.id = std::move(id);
  out.title = "The GPU waits";
  out.where = "iteration/load";
  out.severity = Severity::notable;
  out.saving_ns = saving;
  out.evidence = {{"idle_ns", "GPU idle time", std::uint64_t{48'100'000}, Unit::ns},
                  {"share_of_time", "share of the analysed time", 0.25, Unit::share}};
  out.next_step = "load ahead";
  return out;
}

TEST_CASE("a finding as JSON has plain numbers under the keys of its evidence") {
  CHECK(
      findings_json({made("idle_in_range", 48'100'000)}).dump() ==
      R"([{"id":"idle_in_range","severity":"notable","title":"The GPU waits","where":"iteration/load",)"
      R"("prize_ns":48100000,"evidence":{"idle_ns":48100000,"share_of_time":0.25},"next_step":"load ahead"}])");
}

TEST_CASE("a finding without a potential saving has none in JSON") {
  CHECK_FALSE(findings_json({made("memory_bound", std::nullopt)})[0].contains("prize_ns"));
}

TEST_CASE("a finding as text has title, place, evidence and next step, wrapped to the width") {
  TextStyle style;
  style.width = 60;
  const std::string text = findings_text({made("idle_in_range", 48'100'000)}, style);

  CHECK(text ==
        "1. The GPU waits; potential saving up to 48.1 ms  [idle_in_range]\n"
        "   Where: iteration/load\n"
        "   Why: GPU idle time 48.1 ms, share of the analysed time\n"
        "   25.0 %.\n"
        "   Next: load ahead.\n");
}

TEST_CASE("control characters of a name do not reach the terminal") {
  Finding finding = made("idle_in_range", 1);
  finding.title = "GPU waits in \033[2Jrange";
  CHECK(findings_text({finding}, TextStyle{}).find('\033') == std::string::npos);
}

TEST_CASE("without findings the text has one line") {
  CHECK(findings_text({}, TextStyle{}) == "No findings.\n");
}

TEST_CASE("every finding of every recording has evidence and a next step, and they are in order") {
  for (const char* const name : {"hf_rtdetr_trace", "rtdetr_sampled", "multi_stream", "known_bytes_exact"}) {
    const auto found = recorded(name);
    REQUIRE_FALSE(found.empty());
    for (std::size_t i = 0; i < found.size(); ++i) {
      INFO(name << ": " << found[i].id);
      CHECK(found[i].evidence.size() >= 3);
      CHECK_FALSE(found[i].next_step.empty());
      if (i > 0) CHECK(found[i - 1].saving_ns.value_or(0) >= found[i].saving_ns.value_or(0));
    }
  }
}

TEST_CASE("the section shows one row per finding, and their evidence in JSON") {
  const auto section = make_findings_section({});
  const auto trace =
      load_trace(open_trace_folder(std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / "hf_rtdetr_trace"),
                 nullptr, section.get());
  const RowValues values(trace);
  const SectionView view;

  const Table table = section->tables({trace, values, view}).front();
  const auto json = section->json({trace, values, view});

  CHECK(table.rows.size() == json["findings"].size());
  CHECK(json["findings"][0]["evidence"]["kernels_per_repetition"] == 1204);
}

TEST_CASE("iterations come from the whole trace, even if only a part of it was selected") {
  MadeTrace made;
  const auto iteration = made.add_path("iteration");
  const auto name = made.add_name("step(float*)"), config = made.add_config(grid_of(4096, 256));
  made.repeat(6, [&](TimeNs at) { return made.add(iteration, name, config, at + 6'000'000, 3'000'000); });
  made.write();
  SelectionOptions selected;
  selected.window = {28'000'000, 60'000'000};  // the last three
  const TraceFolder files = open_trace_folder(made.folder.path());

  const auto section = make_findings_section({});
  Selection selection(selected, files);
  const auto trace = load_trace(files, &selection, section.get());
  const RowValues values(trace);
  const auto found = section->json({trace, values, {}})["findings"];

  REQUIRE(trace.kernels == 3);
  REQUIRE(found.size() == 1);
  CHECK(found[0]["id"] == "idle_in_range");
  CHECK(found[0]["evidence"]["repetitions"] == 5);
}

/// A rank whose attention takes `us`.
struct Rank : MadeTrace {
  explicit Rank(TimeNs us) {
    add_path("attention");
    const auto name = add_name("attention(float*)"), config = add_config(grid_of(4096, 256));
    add(1, name, config, 1'000'000, us * 1'000);
    write();
    totals = load_trace(open_trace_folder(folder.path()));
  }
  TraceTotals totals;
};

TEST_CASE("a rank that takes longer than the others is named with its path") {
  const Rank a(1'000), b(1'020), c(1'500), d(990);
  const auto found = find_rank_imbalance(
      {{"rank 0", &a.totals}, {"rank 1", &b.totals}, {"rank 2", &c.totals}, {"rank 3", &d.totals}});

  REQUIRE(found.size() == 1);
  CHECK(found.front().where == "attention");
  CHECK(text(found.front(), "slowest_rank") == "rank 2");
  CHECK(*found.front().saving_ns == 490'000);
}

TEST_CASE("ranks that differ by a few percent are balanced") {
  const Rank a(1'000), b(1'020), c(1'040);
  CHECK(find_rank_imbalance({{"rank 0", &a.totals}, {"rank 1", &b.totals}, {"rank 2", &c.totals}}).empty());
}

}  // namespace
}  // namespace rangefinder
