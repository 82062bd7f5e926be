// SPDX-License-Identifier: Apache-2.0
//
// Findings as text, JSON and a section of a report; and the comparison of several ranks.
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tests/unit/analysis/model/read_once.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/model/selection.h"

namespace rangefinder {
namespace {
using namespace test;

Finding made(std::string id, std::optional<std::uint64_t> saving) {
  Finding out;
  out.id = std::move(id);
  out.title = "`iteration/load` leaves the GPU idle: up to 12.0 ms, 25 % of an iteration";
  out.effect = "leaves the GPU idle";
  out.where = "iteration/load";
  out.severity = Severity::notable;
  out.saving_ns = saving;
  if (saving) out.saving_each_ns = *saving / 4;
  out.share = 0.25;
  out.why = "The GPU is idle for 12 ms an iteration. The host works.";
  out.evidence = {{"idle_ns", "GPU idle time", std::uint64_t{48'100'000}, Unit::ns},
                  {"share_of_time", "share of the analysed time", 0.25, Unit::share}};
  out.next_step = "load ahead";
  out.code = "load(ahead);";
  return out;
}

TEST_CASE("a finding as JSON has plain numbers under the keys of its evidence") {
  CHECK(findings_json({made("idle_in_range", 48'100'000)}).dump() ==
        R"([{"id":"idle_in_range","severity":"notable",)"
        R"("title":"`iteration/load` leaves the GPU idle: up to 12.0 ms, 25 % of an iteration",)"
        R"("where":"iteration/load","prize_ns":48100000,"saving_per_iteration_ns":12025000,"share":0.25,)"
        R"("experimental":false,"why":"The GPU is idle for 12 ms an iteration. The host works.",)"
        R"("evidence":{"idle_ns":48100000,"share_of_time":0.25},"next_step":"load ahead",)"
        R"("code":"load(ahead);"}])");
}

TEST_CASE("a finding without a potential saving has none in JSON") {
  CHECK_FALSE(findings_json({made("memory_bound", std::nullopt)})[0].contains("prize_ns"));
}

TEST_CASE("a finding as text has severity, share, saving, evidence and next step, wrapped to the width") {
  TextStyle style;
  style.width = 60;
  const std::string text = findings_text({made("idle_in_range", 48'100'000)}, style);

  CHECK(text ==
        "severity     share     saving  finding    module\n"
        "notable     25.0 %    12.0 ms  leaves t…  iteration/load\n"
        "\n"
        "1. `iteration/load` leaves the GPU idle: up to 12.0 ms,\n"
        "   25 % of an iteration\n"
        "   The GPU is idle for 12 ms an iteration. The host works.\n"
        "   Next: load ahead.\n"
        "      load(ahead);\n"
        "   [idle_in_range]\n");
}

TEST_CASE("a rule that no recording has fired is marked in text and JSON") {
  Finding finding = made("small_copies", 1);
  finding.experimental = true;

  CHECK(findings_text({finding}, TextStyle{}).find("[small_copies, experimental") != std::string::npos);
  CHECK(findings_json({finding})[0]["experimental"] == true);
}

TEST_CASE("severity is a colour where colours are wanted") {
  TextStyle style;
  style.colour = true;
  CHECK(findings_text({made("idle_in_range", 1)}, style).find("\033[33mnotable") != std::string::npos);
  CHECK(findings_text({made("idle_in_range", 1)}, TextStyle{}).find('\033') == std::string::npos);
}

TEST_CASE("control characters of a name do not reach the terminal") {
  Finding finding = made("idle_in_range", 1);
  finding.title = "GPU waits in \033[2Jrange";
  CHECK(findings_text({finding}, TextStyle{}).find('\033') == std::string::npos);
}

TEST_CASE("without findings the text has one line") {
  CHECK(findings_text({}, TextStyle{}) == "No findings.\n");
}

TEST_CASE("the section shows one row per finding, and their evidence in JSON") {
  const SectionRun run("findings", std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / "hf_rtdetr_trace");
  const Table table = run.made->tables(run.input()).front();
  const auto json = run.made->json(run.input());

  CHECK(table.rows.size() == json["findings"].size());
  CHECK(json["findings"][0]["evidence"]["kernels_per_repetition"] == 1183);
}

// The first of the three may have waited for one that was not selected: its wall time is unknown.
TEST_CASE("iterations come from the whole trace, and findings are about the selected ones") {
  MadeTrace made;
  const auto iteration = made.add_path("iteration");
  const auto name = made.add_name("step(float*)"), config = made.add_config(grid_of(4096, 256));
  made.repeat(6, [&](TimeNs at) { return made.add(iteration, name, config, at + 6'000'000, 3'000'000); });
  made.write();
  SelectionOptions selected;
  selected.window = {28'000'000, 60'000'000};  // the last three

  const SectionRun run("findings", made.folder.path(), {}, selected);
  const auto found = run.made->json(run.input())["findings"];

  REQUIRE(run.trace().kernels == 3);
  REQUIRE(found.size() == 1);
  CHECK(found[0]["id"] == "idle_in_range");
  CHECK(found[0]["evidence"]["repetitions"] == 2);
}

}  // namespace
}  // namespace rangefinder
