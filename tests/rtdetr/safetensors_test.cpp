// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/safetensors.h"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"

using namespace rangefinder::rtdetr;
using rangefinder::test::TemporaryFolder;

namespace {

/// Writes a file with this header, preceded by its length and followed by these bytes.
std::string write_file(const TemporaryFolder& folder, const std::string& header, const std::string& data) {
  const std::string path = folder.path() / "made.safetensors";
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << data;
  return path;
}

std::string why_refused(const std::string& path) {
  try {
    const SafetensorsFile file(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("written tensors are read back, also scalars and empty ones") {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "all.safetensors";
  SafetensorsWriter writer;
  writer.add("matrix", {2, 3}, std::vector<float>{1, -2, 3.5F, 4, 5, 6});
  writer.add("scalar", {}, std::vector<float>{7});
  writer.add("empty", {0, 4}, std::vector<float>{});
  writer.add("indices", {2}, std::vector<std::int64_t>{-1, std::int64_t{1} << 40});
  writer.write(path);

  const SafetensorsFile file(path);

  CHECK(file.names() == std::vector<std::string>{"empty", "indices", "matrix", "scalar"});
  CHECK(file.shape("matrix") == Shape{2, 3});
  CHECK(file.floats("matrix") == std::vector<float>{1, -2, 3.5F, 4, 5, 6});
  CHECK(file.floats("scalar") == std::vector<float>{7});
  CHECK(file.floats("empty").empty());
  CHECK(file.integers("indices") == std::vector<std::int64_t>{-1, std::int64_t{1} << 40});
  CHECK_THROWS_AS(file.integers("matrix"), std::runtime_error);
  CHECK_THROWS_AS(file.floats("indices"), std::runtime_error);
  CHECK_THROWS_AS(file.floats("absent"), std::runtime_error);
}

TEST_CASE("a tensor is written once and with the number of values of its shape") {
  SafetensorsWriter writer;
  writer.add("a", {1}, std::vector<float>{1});
  CHECK_THROWS_AS(writer.add("a", {1}, std::vector<float>{1}), std::invalid_argument);
  CHECK_THROWS_AS(writer.add("b", {2}, std::vector<float>{1}), std::invalid_argument);
}

TEST_CASE("halves, bfloat16 and doubles are converted, at any alignment") {
  const TemporaryFolder folder;
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"h":{"dtype":"F16","shape":[2],"data_offsets":[1,5]},)"
      R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[5,7]},"d":{"dtype":"F64","shape":[1],"data_offsets":[7,15]}})";
  const double value = -0.1;
  std::string data("\0\x00\x3C\x00\xC0\x80\x3F", 7);  // an unused byte, 1.0, -2.0, 1.0
  data.append(reinterpret_cast<const char*>(&value), sizeof value);

  const SafetensorsFile file(write_file(folder, header, data));

  CHECK(file.names() == std::vector<std::string>{"b", "d", "h"});
  CHECK(file.floats("h") == std::vector<float>{1, -2});
  CHECK(file.floats("b") == std::vector<float>{1});
  CHECK(file.floats("d") == std::vector<float>{-0.1F});
}

TEST_CASE("inconsistent files are refused with the reason") {
  const std::pair<const char*, const char*> cases[]{
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", "outside the file"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "needs 12"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", "impossible shape"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "impossible shape"},
      {R"({"a":{"dtype":"U4","shape":[2],"data_offsets":[0,8]}})", "type U4"},
      {R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "wrong description"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
       "a and b overlap"},
      {"[1]", "not a JSON object"},
      {"{", "not a JSON object"}};
  const TemporaryFolder folder;
  for (const auto& [header, reason] : cases)
    CHECK(contains(why_refused(write_file(folder, header, std::string(8, '\0'))), reason));
}

TEST_CASE("a header longer than the file, a short file and no file are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "short.safetensors";
  std::ofstream(path, std::ios::binary) << std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}", 10);
  CHECK(contains(why_refused(path), "the header length is"));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "1234567";
  CHECK(contains(why_refused(path), "too short"));
  CHECK(contains(why_refused(folder.path() / "absent"), "No such file"));
  CHECK(contains(why_refused(folder.path() / ""), "not a regular file"));
}
