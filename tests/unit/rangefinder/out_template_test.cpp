// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/out_template.h"

#include <fstream>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/rangefinder/out_template.h"
#include "tools/rangefinder/verb.h"

using namespace rangefinder;

namespace {

struct FakeEnvironment {
  std::map<std::string, std::string> values;
  const char* operator()(const char* name) const {
    const auto it = values.find(name);
    return it == values.end() ? nullptr : it->second.c_str();
  }
};

const OutTemplateValues kAll{"4711", "node7", "3"};
const OutTemplateValues kWithoutPid{"", "node7", "3"};

void touch(const std::filesystem::path& path) {
  std::ofstream(path) << "x";
}

}  // namespace

TEST_CASE("every placeholder of a template is expanded") {
  const FakeEnvironment environment{{{"JOB", "j9"}}};

  const ExpandedOut out = expand_out_template("/d/%h/%q{JOB}/r%r-%p-100%%", kAll, environment);

  CHECK(out.text == "/d/node7/j9/r3-4711-100%");
  CHECK(out.problem.empty());
}

TEST_CASE("without a rank variable the rank is 0") {
  CHECK(expand_out_template("r%r", {"1", "h", ""}, FakeEnvironment{}).text == "r0");
}

TEST_CASE("without a process id %p stays") {
  const ExpandedOut out = expand_out_template("a%%-%p-%h", kWithoutPid, FakeEnvironment{});

  CHECK(out.text == "a%%-%p-node7");
}

TEST_CASE("expanding in two steps gives the same as in one, even if values contain percent signs") {
  const FakeEnvironment environment{{{"ODD", "50%p%h"}}};
  const std::string text = "%q{ODD}/%%p/%p";

  const std::string partly = expand_out_template(text, kWithoutPid, environment).text;
  const std::string twice = expand_out_template(partly, kAll, environment).text;

  CHECK(twice == expand_out_template(text, kAll, environment).text);
  CHECK(twice == "50%p%h/%p/4711");
}

TEST_CASE("a variable that is not set is a problem, and the text stays usable") {
  const ExpandedOut out = expand_out_template("x-%q{MISSING}", kAll, FakeEnvironment{});

  CHECK(out.text == "x-unset");
  CHECK(out.problem.find("MISSING") != std::string::npos);
}

TEST_CASE("an unknown placeholder and an unclosed brace are problems") {
  CHECK(expand_out_template("a%z", kAll, FakeEnvironment{}).problem.find("%z") != std::string::npos);
  CHECK_FALSE(expand_out_template("a%q{B", kAll, FakeEnvironment{}).problem.empty());
  CHECK(expand_out_template("a%", kAll, FakeEnvironment{}).text == "a%");
}

TEST_CASE("only %p makes the folder depend on the process") {
  CHECK(names_process("a-%p"));
  CHECK_FALSE(names_process("a-%%p"));
  CHECK_FALSE(names_process("a-%h"));
}

TEST_CASE("the first rank variable that is set wins") {
  CHECK(rank_from(FakeEnvironment{{{"SLURM_PROCID", "5"}, {"PMI_RANK", "2"}}}) == "2");
  CHECK(rank_from(FakeEnvironment{{{"RANK", ""}, {"SLURM_PROCID", "5"}}}) == "5");
  CHECK(rank_from(FakeEnvironment{}).empty());
}

TEST_CASE("run makes the template absolute and keeps %p") {
  const std::string prepared = prepare_out_template("trace-%p");

  CHECK(prepared.front() == '/');
  CHECK(prepared.ends_with("/trace-%p"));
  CHECK(fixed_folder(prepared).empty());
  CHECK(fixed_folder(prepare_out_template("/tmp/100%%")) == "/tmp/100%");
}

TEST_CASE("run refuses a template that it cannot expand") {
  CHECK_THROWS_AS(prepare_out_template("%q{RANGEFINDER_TEST_NOT_SET}"), WrongUse);
  CHECK_THROWS_AS(prepare_out_template(""), WrongUse);
}

TEST_CASE("a folder that holds a trace is refused without force") {
  const test::TemporaryFolder folder;
  touch(folder.path() / "trace-00000.ndjson.zst");

  CHECK_THROWS_AS(clear_folder(folder.path(), false), WrongUse);
  CHECK(std::filesystem::exists(folder.path() / "trace-00000.ndjson.zst"));
}

TEST_CASE("force removes the trace's own files and no others") {
  const test::TemporaryFolder folder;
  for (const char* const name :
       {"trace-00000.ndjson", "trace-00001.ndjson.zst", "summary.json", "trace-notes.txt", "results.csv"}) {
    touch(folder.path() / name);
  }

  clear_folder(folder.path(), true);

  for (const char* const name : {"trace-00000.ndjson", "trace-00001.ndjson.zst", "summary.json"})
    CHECK_FALSE(std::filesystem::exists(folder.path() / name));
  CHECK(std::filesystem::exists(folder.path() / "trace-notes.txt"));
  CHECK(std::filesystem::exists(folder.path() / "results.csv"));
}

TEST_CASE("a file in the place of the folder is refused even with force") {
  const test::TemporaryFolder folder;
  touch(folder.path() / "out");

  CHECK_THROWS_AS(clear_folder(folder.path() / "out", true), WrongUse);
}
