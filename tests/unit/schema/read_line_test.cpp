// SPDX-License-Identifier: Apache-2.0
#include "schema/read_line.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/schema/example_trace.h"

using namespace rangefinder;
using Json = nlohmann::json;

namespace {

std::string error_of(const std::string& text) {
  LineReader reader;
  Line line;
  return reader.read(text, line) ? "no error" : reader.error();
}

// A line of the example with a part of its text replaced.
std::string changed(std::string_view kind, const std::string& from, const std::string& to) {
  for (const Line& line : example::lines()) {
    std::string text = example::text_of(line);
    const auto at = text.find(from);
    if (line_kind(line) == kind && at != std::string::npos) return text.replace(at, from.size(), to);
  }
  FAIL("no " << kind << " line with " << from);
  return {};
}

Json trace_schema() {
  return Json::parse(std::ifstream(std::filesystem::path(RANGEFINDER_SCHEMA_FOLDER) / "trace.schema.json"));
}

// Keys of a kind, including those of referenced definitions.
std::set<std::string> required_keys(const Json& schema, const Json& definition) {
  std::set<std::string> keys;
  const auto include = [&](const Json& part) {
    if (!part.contains("$ref")) return;
    const std::string name = part["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
    keys.merge(required_keys(schema, schema["$defs"][name]));
  };
  for (const Json& key : definition.value("required", Json::array())) keys.insert(key.get<std::string>());
  for (const Json& part : definition.value("allOf", Json::array())) include(part);
  include(definition);
  return keys;
}

struct Change {
  const char *kind, *from, *to;
  const char* error;  // without the kind before it
};

void check_errors(std::initializer_list<Change> changes) {
  for (const Change& one : changes) {
    INFO(one.kind << ": " << one.from << " becomes " << one.to);
    CHECK(error_of(changed(one.kind, one.from, one.to)) == std::string(one.kind) + ": " + one.error);
  }
}

// Errors of lines of this kind, which begin with `start`.
using RestAndError = std::pair<const char*, const char*>;
void check_errors(const std::string& kind, const std::string& start,
                  std::initializer_list<RestAndError> lines) {
  for (const auto& [rest, error] : lines) {
    INFO(rest);
    CHECK(error_of(start + rest + "}") == kind + ": " + error);
  }
}

}  // namespace

TEST_CASE("a missing key is reported with its place") {
  CHECK(error_of(changed("end", R"("lost":0)", R"("gone":0)")) ==
        R"(end.launches.kernel: key "lost" is missing)");
  CHECK(error_of(R"({"start":1})") == R"(line: key "t" is missing)");
}

TEST_CASE("the reader requires all keys that the JSON Schema requires") {
  const Json schema = trace_schema();
  std::size_t removed = 0;
  for (const Line& line : example::lines()) {
    const std::string kind(line_kind(line));
    const Json whole = Json::parse(example::text_of(line));
    for (const std::string& key : required_keys(schema, schema["$defs"][kind])) {
      Json without = whole;
      without.erase(key);
      CHECK(error_of(without.dump()) == kind + ": key \"" + key + "\" is missing");
      ++removed;
    }
  }
  CHECK(removed > 180);
}

TEST_CASE("a value of the wrong type is reported with the expected type") {
  for (const char* const value : {R"("7")", "-1", "4294967296", "7.5", "null"}) {
    INFO(value);
    CHECK(error_of(changed("kernel", R"("stream":7)", R"("stream":)" + std::string(value))) ==
          R"(kernel: key "stream" must be an integer from 0 to 4294967295)");
  }
  check_errors(
      {{"thread", R"("main")", "5", R"(key "name" must be a string)"},
       {"memcpy", R"("async":true)", R"("async":1)", R"(key "async" must be true or false)"},
       {"config", "[128,2,1]", "[128,2]",
        R"(key "grid" must be an array of three integers from 0 to 4294967295)"},
       {"header", R"("detector",)", "1,", R"(key "command" must be an array of strings)"},
       {"header", R"("1763712000123456789")", "1763712000123456789",
        R"(key "base_unix_ns" must be an integer written as a string)"},
       {"alloc", R"("0x7f0000000000")", R"("7f00")", R"(key "address" must be a string like "0x7f00")"},
       {"gpu", "[9,0]", "[9]", R"(key "compute_capability" must be an array of two integers)"},
       {"payload_schema", R"({"type")", R"(1,"x":{"type")", R"(key "definition" must be an object)"}});
  CHECK(error_of(changed("gpu", "9.895e+14", "true")) ==
        R"(gpu.peak_flops: key "fp16_tensor" must be a number)");
}

TEST_CASE("an unknown enumerator is reported") {
  check_errors({{"memcpy", "HtoD", "HtoX", R"(key "kind" has the unknown value "HtoX")"},
                {"mark", R"("payload_schema":16777216)", R"("payload":1,"payload_type":"")",
                 R"(key "payload_type" has the unknown value "")"}});
}

TEST_CASE("a key that another one requires is missing: start, a peer copy, a range without a name") {
  check_errors({{"kernel", R"("end":16000,)", "", R"(key "end" is missing)"},
                {"memcpy", R"("src_gpu":0,)", "", R"(key "src_gpu" is missing)"},
                {"range", R"("path":2,)", "", R"(key "path" is missing)"}});
  // Without both times the work was not timed.
  CHECK(error_of(changed("kernel", R"("start":6000,"end":16000,)", "")) == "no error");
}

TEST_CASE("an exact line has all four values or a reason") {
  check_errors({{"exact", R"("dram_write_bytes":0,)", "", R"(key "dram_write_bytes" is missing)"},
                {"exact", R"("gpu_ns":9900)", R"("gpu_ns":9900,"unmeasured":"x")",
                 R"(keys "unmeasured" and "gpu_ns" exclude each other)"}});
}

TEST_CASE("a metric set without bytes needs its values, a line with bytes needs all of them") {
  constexpr const char* kSet = R"("set":1,"values":[65536,null])";
  check_errors(
      {{"exact", kSet, R"("set":1)", R"(key "values" is missing)"},
       {"exact", kSet, "\"x\":1", R"(key "dram_read_bytes" is missing)"},
       {"exact", R"("set":1,)", R"("set":1,"dram_read_bytes":5,)", R"(key "dram_write_bytes" is missing)"},
       {"exact", "[65536,null]", R"([65536,"nan"])",
        R"(key "values" must be an array of numbers and nulls)"}});
}

TEST_CASE("a launch that shares a counter range has no values; the range counts its launches") {
  constexpr const char* kShared = R"("shared_range":1)";
  constexpr const char* kExclude = R"(keys "shared_range" and those of values exclude each other)";
  check_errors({{"exact", kShared, R"("shared_range":1,"gpu_ns":5)", kExclude},
                {"exact", kShared, R"("shared_range":1,"unmeasured":"x")", kExclude},
                {"exact", R"("counter_range":1,)", "", R"(key "counter_range" is missing)"},
                {"exact", R"("launches":2,)", "", R"(key "launches" is missing)"},
                {"exact", R"("kernels":1,)", "", R"(key "kernels" is missing)"}});
}

TEST_CASE("a samples line has as many values in each column as samples in its runs") {
  const std::string start = R"({"t":"samples","gpu":0,"runs":)";
  CHECK(error_of(start + R"([[0,40000,2]],"l2":[1,2]})") == "no error");
  check_errors(
      "samples", start,
      {{R"([[0,40000,2]],"l2":[1])", R"(key "l2" must be one number for each sample of "runs")"},
       {R"([[0,40000,2]],"l2":{"2":1})",
        R"(key "l2" must be numbers by the index of their sample in "runs")"},
       {"[[0,40000]]", R"(key "runs" must be an array of [start, end, samples])"},
       {"[[0,40000,0]]", R"(key "runs" must be runs of samples, each with a span)"},
       {R"([[0,40000,4294967295]],"l2":{"9":1})", R"(key "runs" must be runs of at most a million samples)"},
       {R"([],"idle_samples":3)", R"(key "idle" is missing)"}});
}

TEST_CASE("invalid NVTX extras are refused") {
  check_errors(
      "mark", R"({"t":"mark","at":1,"thread":2,"name":3,)",
      {{R"("payload":1)", R"(key "payload_type" is missing)"},
       {R"("payload_type":"u64")", R"(key "payload" is missing)"},
       {R"("payload":-1,"payload_type":"u32")", R"(key "payload" must be an integer from 0 to 4294967295)"},
       {R"("payload":"12x","payload_type":"u64")", R"(key "payload" must be a number of its payload_type)"},
       {R"("payload":"big","payload_type":"f64")",
        R"(key "payload" must be a number, "nan", "inf" or "-inf")"},
       {R"("color":"#12345")", R"(key "color" must be a string like "#FF00AA33")"},
       {R"("payload_schema":1,"payload_data":"abc")",
        R"(key "payload_data" must be pairs of hexadecimal digits)"}});
}

TEST_CASE("a line that is not a JSON object is refused") {
  for (const char* const text :
       {"", R"({"t":"kernel","start":1)", "{\"t\":\"\xff\"}", R"({"t":"x"}{"t":"y"})"}) {
    INFO(text);
    CHECK(error_of(text).find("the line is not JSON: ") == 0);
  }
  CHECK(error_of("[1]") == "the line is not a JSON object");
  CHECK(error_of(R"({"t":7})") == R"(line: key "t" must be a string)");
}

TEST_CASE("a header of another format or a newer major version is refused with a sentence") {
  constexpr const char* kVersion = R"("version":"1.2")";
  check_errors({{"header", "rangefinder.trace", "other",
                 R"(this is not a Rangefinder trace: schema is "other", not "rangefinder.trace")"},
                {"header", kVersion, R"("version":"2.0")",
                 "the trace has format 2.0, this program reads up to 1.x: use a newer Rangefinder"},
                {"header", kVersion, R"("version":"one")", R"(version "one" is not MAJOR.MINOR)"}});
  CHECK(error_of(changed("header", kVersion, R"("version":"1.7")")) == "no error");
  CHECK(error_of(changed("header", kVersion, R"("version":"1.0")")) == "no error");
}

TEST_CASE("unknown keys are ignored; an unknown kind keeps its name") {
  CHECK(error_of(changed("kernel", R"("stream":7)", R"("new":{"a":[1]},"stream":7)")) == "no error");
  LineReader reader;
  Line line;

  REQUIRE(reader.read(R"({"t":"sample","x":1})", line));

  CHECK(std::get<UnknownLine>(line).kind == "sample");
  CHECK(line_kind(line) == "sample");
}

TEST_CASE("keys may come in any order") {
  LineReader reader;
  Line line;

  REQUIRE(reader.read(
      R"({"config":9,"corr":1,"stream":7,"name":8,"ctx":2,"gpu":3,"end":5,"start":4,"t":"kernel"})", line));

  const auto& kernel = std::get<KernelRecord>(line);
  CHECK(kernel.work.start_ns == 4);
  CHECK(kernel.work.end_ns == 5);
  CHECK(kernel.work.gpu == 3);
  CHECK(kernel.work.context == 2);
  CHECK(kernel.name == 8);
  CHECK(kernel.config == 9);
}

TEST_CASE("views stay valid after the reader has read other lines") {
  LineReader reader;
  Line first, other;
  REQUIRE(reader.read(R"({"t":"sync","start":1,"end":2,"thread":3,"api":"cuStreamSynchronize"})", first));
  for (int i = 0; i < 1000; ++i) {
    const std::string api = "api" + std::to_string(i) + std::string(64, 'x');
    REQUIRE(reader.read(R"({"t":"sync","start":1,"end":2,"thread":3,"api":")" + api + "\"}", other));
  }

  CHECK(std::get<SyncRecord>(first).api == "cuStreamSynchronize");
}

TEST_CASE("an error is cleared by the next valid line") {
  LineReader reader;
  Line line;
  REQUIRE_FALSE(reader.read("{", line));
  REQUIRE(reader.read(R"({"t":"clock","at":1,"monotonic":2})", line));

  CHECK(reader.error().empty());
}
