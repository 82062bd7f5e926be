// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/base/text_parts.h"
#include "tools/serve/flat_rows.h"
#include "tools/serve/process_ledger.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace rangefinder;

namespace {

using Json = nlohmann::json;

Json summary(std::vector<Json> modules) {
  return {
      {"process", {{"tool_version", "1"}, {"pid", 7}}},
      {"duration_ns", 5},
      {"gpus", Json::array({{{"id", 0}, {"uuid", "GPU-1"}, {"name", "G"}, {"peak_dram_bytes_per_s", 100}}})},
      {"modules", std::move(modules)}};
}

Json module(const std::string& path, std::uint64_t kernels, std::uint64_t own_ns) {
  return {{"path", path}, {"depth", 1}, {"kernels", kernels}, {"gpu_ns_exclusive", own_ns}};
}

std::string text_of(const ProcessLedger& ledger) {
  std::string out;
  ledger.families().append(out);
  return out;
}

/// The value after "name{…module="MODULE"}"; -1: there is no such line.
std::int64_t launches(const ProcessLedger& ledger, const std::string& module) {
  const std::string text = text_of(ledger);
  const std::string key =
      "rangefinder_kernel_launches_total{gpu=\"0\",uuid=\"GPU-1\",module=\"" + module + "\"} ";
  const std::size_t at = text.find(key);
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + key.size()));
}

}  // namespace

TEST_CASE("a module's row has its own work only: work below it is in the rows below") {
  ProcessLedger ledger({});
  ledger.note("7", 1,
              summary({module("model", 10, 0), module("model/a", 6, 60), module("model/a/x\\/y", 2, 20),
                       module("model/b", 4, 40)}));

  CHECK(launches(ledger, "model") == -1);  // nothing of its own
  CHECK(launches(ledger, "model/a") == 4);
  CHECK(launches(ledger, "model/a/x\\\\/y") == 2);
  CHECK(launches(ledger, "model/b") == 4);
}

TEST_CASE("sums continue from window to window and never decrease") {
  ProcessLedger ledger({});
  ledger.note("7", 1, summary({module("m", 10, 100)}));
  ledger.note("7", 1, summary({module("m", 8, 90)}));  // later samples correct the sum
  CHECK(launches(ledger, "m") == 10);

  ledger.note("7", 2, summary({module("m", 3, 30)}));
  CHECK(launches(ledger, "m") == 13);
  ledger.note("7", 1, summary({module("m", 11, 100)}));  // too late: that window is closed
  CHECK(launches(ledger, "m") == 13);
  ledger.close("7");

  CHECK(launches(ledger, "m") == 13);
  ledger.note("8", 1, summary({module("m", 1, 10)}));
  CHECK(launches(ledger, "m") == 14);
}

TEST_CASE(
    "a live summary's modules have the names of reports, so its completed summary counts nothing twice") {
  ProcessLedger ledger({});
  const auto live = [](std::vector<Json> modules) {
    Json out = summary(std::move(modules));
    out["live"] = true;
    return out;
  };
  ledger.note("7", 1,
              live({module("step 1", 6, 0), module("step 1/", 6, 0), module("step 1//a.0.b\\/c", 6, 60)}));
  CHECK(launches(ledger, "step */a.0.b\\\\/c") == 6);

  ledger.note("7", 1,
              live({module("step 1", 6, 0), module("step 1/", 6, 0), module("step 1//a.0.b\\/c", 6, 60),
                    module("step 2", 5, 30), module("step 2/model", 2, 10),
                    module("step 2/model/model.a.0", 1, 10)}));
  ledger.note(
      "7", 1,
      summary({module("step *", 11, 30), module("step */a.0.b\\/c", 6, 60), module("step */model", 2, 10),
               module("step */model/a", 1, 0), module("step */model/a/0", 1, 10)}));

  CHECK(launches(ledger, "step *") == 3);
  CHECK(launches(ledger, "step */a.0.b\\\\/c") == 6);
  CHECK(launches(ledger, "step */model") == 1);
  CHECK(launches(ledger, "step */model/a/0") == 1);
  CHECK(text_of(ledger).find("step 1") == std::string::npos);
}

TEST_CASE("windows between two polls are counted, those before the first poll are not") {
  ProcessLedger ledger({});
  ledger.note("7", 5, summary({module("m", 1, 1)}));
  CHECK(ledger.windows_missed() == 0);

  ledger.note("7", 8, summary({module("m", 1, 1)}));

  CHECK(ledger.windows_missed() == 2);
}

TEST_CASE("a module keeps its row, and one without a row is in (other), counted once") {
  ProcessLedger ledger({2, 0});
  ledger.note("7", 1, summary({module("light", 1, 1), module("heavy", 5, 50), module("middle", 2, 20)}));
  CHECK(launches(ledger, "heavy") == 5);
  CHECK(launches(ledger, "middle") == 2);
  CHECK(launches(ledger, "(other)") == 1);

  ledger.note("7", 1, summary({module("light", 100, 1000), module("heavy", 5, 50), module("new", 7, 7)}));

  CHECK(launches(ledger, "light") == -1);
  CHECK(launches(ledger, "middle") == 2);
  CHECK(launches(ledger, "(other)") == 107);
  CHECK(text_of(ledger).find("rangefinder_modules_left_out 2\n") != std::string::npos);
}

TEST_CASE("bytes that were not measured have no rows, and the peak of a GPU is not summed") {
  ProcessLedger ledger({});
  Json measured = module("m", 2, 20);
  measured["dram_read_bytes"] = 30;
  measured["dram_write_bytes"] = 4;
  measured["l2_bytes"] = 50;
  measured["bytes_source"] = "sampled";
  ledger.note("7", 1, summary({measured, module("n", 1, 10)}));
  ledger.note("8", 1, summary({module("n", 1, 10)}));

  const std::string text = text_of(ledger);

  test::check_has(text, {"module=\"m\",op=\"read\",source=\"sampled\"} 30\n",
                         "rangefinder_gpu_dram_peak_bytes_per_second{gpu=\"0\",uuid=\"GPU-1\"} 100\n",
                         "rangefinder_gpu_info{gpu=\"0\",uuid=\"GPU-1\",name=\"G\"} 1\n"});
  test::check_lacks(text, {R"(module="n",op=)"});
}

TEST_CASE("whole graphs are counted separately from kernels, and their time is included") {
  ProcessLedger ledger({});
  Json replayed = module("m", 0, 70);
  replayed["graphs"] = 7;
  ledger.note("7", 1, summary({replayed}));

  test::check_has(text_of(ledger),
                  {"rangefinder_graph_launches_total{gpu=\"0\",uuid=\"GPU-1\",module=\"m\"} 7\n",
                   "rangefinder_kernel_seconds_total{gpu=\"0\",uuid=\"GPU-1\",module=\"m\"} 0.000000070\n"});
}

TEST_CASE("a summary of another shape adds nothing and throws nothing") {
  ProcessLedger ledger({2, 2});
  ledger.note("7", 1, Json::object());
  ledger.note("7", 1, {{"modules", Json::array({Json::object(), {{"path", "m"}, {"kernels", -5}}})}});
  ledger.note("7", 1, {{"modules", {{"path", 5}}}, {"gpus", "none"}});

  CHECK(launches(ledger, "m") == -1);
}

TEST_CASE("rows have no nested values, and their keys no dots") {
  const nlohmann::ordered_json row = {
      {"a", {{"b.c", 1}, {"d", {{"e", 2}}}}}, {"list", {"x", "y", 3}}, {"empty", nullptr}};

  const auto flat = flat_row(row);

  CHECK(flat.dump() == R"({"a_b_c":1,"a_d_e":2,"list":"x, y, 3","empty":null})");
}

TEST_CASE("work outside of any range is the last module") {
  const nlohmann::ordered_json report = {{"modules", {{{"path", "m"}}}}, {"outside", {{"kernels", 4}}}};

  const auto rows = flat_modules(report);

  REQUIRE(rows.size() == 2);
  CHECK(rows[1]["path"] == "(outside of any range)");
  CHECK(rows[1]["kernels"] == 4);
}
