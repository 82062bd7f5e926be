// SPDX-License-Identifier: Apache-2.0
//
// Every case runs in its own process (load_cupti_once.cpp), because a mapped library stays mapped.
#include "profiler/cupti/loader.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

const std::string kFake = RANGEFINDER_TEST_FAKE_CUPTI;

/// What load_cupti_once prints. `variables` as in "NAME=value NAME=value"; `program`: a copy of it.
std::map<std::string, std::string> load(const std::string& arguments, const std::string& variables = {},
                                        const std::string& program = RANGEFINDER_TEST_LOAD_CUPTI) {
  const std::string command = variables + " " + program + " " + arguments;
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  REQUIRE(pclose(pipe) == 0);
  std::map<std::string, std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at), equals = text.find('=', at);
    out[text.substr(at, equals - at)] = text.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
  return out;
}

/// A folder for copies of the fake libcupti.
class Machine {
 public:
  Machine() { std::filesystem::create_directories(root_); }
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] std::string path(const std::string& inside) const { return (root_ / inside).string(); }

  /// Copies `file` to `inside`; returns the path of the copy.
  [[nodiscard]] std::string copy(const std::string& file, const std::string& inside) const {
    std::filesystem::create_directories((root_ / inside).parent_path());
    std::filesystem::copy_file(file, root_ / inside);
    return path(inside);
  }

  /// For load(). The fake is of an unsupported version, so that `refused` is the path of what was loaded.
  [[nodiscard]] std::string variables(const std::string& cupti_folder) const {
    return "FAKE_CUPTI_VERSION=120800 CUDA_HOME=" + path("toolkit") +
           " RANGEFINDER_CUPTI_FOLDER=" + path(cupti_folder);
  }

 private:
  std::filesystem::path root_ = std::filesystem::canonical(std::filesystem::temp_directory_path()) /
                                ("rangefinder-machine-" + std::to_string(getpid()));
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("versions are written as NVIDIA writes them") {
  CHECK(cupti_version_text(130'001) == "13.0 Update 1");
  CHECK(cupti_version_text(130'000) == "13.0");
  CHECK(cupti_version_text(130'200) == "13.2");
  CHECK(cupti_version_text(120'801) == "12.8 Update 1");
  CHECK(cupti_version_text(26) == "interface 26 (before CUDA 12)");
}

TEST_CASE("a result has a text even without one from CUPTI") {
  CHECK(cupti_result_text(CuptiFunctions{}, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) == "CUPTI error 35");
}

TEST_CASE("an override that does not exist is reported with its name and the variable") {
  auto said = load("/nowhere/libcupti.so.13");

  CHECK(said["loaded"] == "0");
  CHECK(said["reason"] == "cannot load /nowhere/libcupti.so.13, named by RANGEFINDER_CUPTI");
  CHECK(said["refused"].empty());
  CHECK(said["refused_version"] == "0");
}

TEST_CASE("an override that is not a shared library is refused") {
  const std::string file =
      (std::filesystem::temp_directory_path() / "rangefinder-no-library-XXXXXX").string();
  std::string made = file;
  const int descriptor = mkstemp(made.data());
  REQUIRE(descriptor >= 0);
  REQUIRE(write(descriptor, "not ELF", 7) == 7);
  close(descriptor);

  auto said = load(made);

  CHECK(said["loaded"] == "0");
  CHECK(contains(said["reason"], "cannot load " + made));
  std::filesystem::remove(made);
}

TEST_CASE("a library that is not libcupti is refused with its name") {
  auto said = load("libm.so.6");

  CHECK(said["loaded"] == "0");
  CHECK(contains(said["reason"], "libm.so.6 is not libcupti: it has no cuptiGetVersion"));
  CHECK(contains(said["refused"], "libm.so.6"));
}

TEST_CASE("a libcupti that cannot report its version is refused") {
  auto said = load(kFake);

  CHECK(said["loaded"] == "0");
  CHECK(contains(said["reason"], "is not libcupti"));
}

TEST_CASE("versions before 13.0 Update 1, and later major versions, are refused with the supported ones") {
  const std::pair<const char*, const char*> refused[] = {
      {"120800", "CUPTI 12.8 is not supported"},
      {"130000", "CUPTI 13.0 is not supported"},
      {"18", "CUPTI interface 18 (before CUDA 12) is not supported"},
      {"140000", "CUPTI 14.0 is not supported"},
  };
  for (const auto& [version, sentence] : refused) {
    INFO(version);
    auto said = load(kFake, std::string("FAKE_CUPTI_VERSION=") + version);

    CHECK(said["loaded"] == "0");
    CHECK(contains(said["reason"], sentence));
    CHECK(contains(said["reason"], "13.0 Update 1"));
    CHECK(said["refused"] == kFake);
    CHECK(said["refused_version"] == version);
  }
}

TEST_CASE("a supported version that lacks a function is refused with the name of the function") {
  for (const char* version : {"130001", "130200"}) {
    INFO(version);
    auto said = load(kFake, std::string("FAKE_CUPTI_VERSION=") + version);

    CHECK(said["loaded"] == "0");
    CHECK(said["reason"] == kFake + " lacks cuptiActivityDisable");
  }
}

TEST_CASE("a copy that the program has mapped is used instead of the override, with a remark") {
  auto said = load("--mapped " + kFake + " /usr/lib/another/libcupti.so.13", "FAKE_CUPTI_VERSION=130001");

  CHECK(said["remark"] ==
        "the program has " + kFake +
            " loaded already, so RANGEFINDER_CUPTI=/usr/lib/another/libcupti.so.13 is not used");
  CHECK(said["refused"] == kFake);
}

TEST_CASE("a mapped copy that is the override, or without an override, gives no remark") {
  CHECK(load("--mapped " + kFake + " " + kFake, "FAKE_CUPTI_VERSION=130001")["remark"].empty());
  CHECK(load("--mapped " + kFake, "FAKE_CUPTI_VERSION=130001")["remark"].empty());
}

TEST_CASE("a mapped copy under another link name is recognised as the override") {
  const std::filesystem::path link =
      std::filesystem::temp_directory_path() / ("rangefinder-cupti-link-" + std::to_string(getpid()));
  std::filesystem::create_symlink(kFake, link);

  auto said = load("--mapped " + kFake + " " + link.string(), "FAKE_CUPTI_VERSION=130001");

  CHECK(said["remark"].empty());
  std::filesystem::remove(link);
}

TEST_CASE("CUDA_HOME is searched before the usual folder of the toolkit") {
  const std::filesystem::path home =
      std::filesystem::temp_directory_path() / ("rangefinder-cuda-home-" + std::to_string(getpid()));
  std::filesystem::create_directories(home / "lib64");
  std::filesystem::copy_file(kFake, home / "lib64" / "libcupti.so.13");

  auto said = load("", "FAKE_CUPTI_VERSION=120800 CUDA_HOME=" + home.string());

  CHECK(said["refused"] == (home / "lib64" / "libcupti.so.13").string());
  std::filesystem::remove_all(home);
}

TEST_CASE("the Python environment's copy is used before the toolkit's") {
  const Machine machine;
  const std::string pip = machine.copy(kFake, "environment/libcupti.so.13"),
                    toolkit = machine.copy(kFake, "toolkit/lib64/libcupti.so.13");

  auto said = load("", machine.variables("environment"));

  CHECK(said["refused"] == pip);
  CHECK(said["copy " + pip] == "in the Python environment, taken");
  CHECK(said["copy " + toolkit] == "in the toolkit, not tried");
  CHECK(said["copy " + machine.path("toolkit/extras/CUPTI/lib64/libcupti.so.13")] ==
        "in the toolkit, absent");
}

TEST_CASE("without a copy in the Python environment the toolkit's is used") {
  const Machine machine;
  const std::string toolkit = machine.copy(kFake, "toolkit/lib64/libcupti.so.13");

  auto said = load("", machine.variables("environment"));

  CHECK(said["refused"] == toolkit);
  CHECK(said["copy " + machine.path("environment/libcupti.so.13")] == "in the Python environment, absent");
}

TEST_CASE("a copy that cannot be loaded is skipped, with the linker's reason") {
  const Machine machine;
  const std::string toolkit = machine.copy(kFake, "toolkit/lib64/libcupti.so.13"),
                    broken = machine.path("environment/libcupti.so.13");
  std::filesystem::create_directory(machine.path("environment"));
  std::ofstream(broken) << "not ELF";

  auto said = load("", machine.variables("environment"));

  CHECK(said["refused"] == toolkit);
  CHECK(said["copy " + broken] == "in the Python environment, not loaded: file too short");
}

TEST_CASE("the environment around the wheel is found without a variable") {
  const Machine machine;
  const std::string program = machine.copy(RANGEFINDER_TEST_LOAD_CUPTI,
                                           "site-packages/rangefinder/_tree/lib/rangefinder/load_cupti_once"),
                    pip = machine.copy(kFake, "site-packages/nvidia/cu13/lib/libcupti.so.13"),
                    toolkit = machine.copy(kFake, "toolkit/lib64/libcupti.so.13");
  const std::string variables = machine.variables("nowhere");

  CHECK(load("", variables, program)["refused"] == pip);
  CHECK(load("", variables,
             "cd " + machine.path("site-packages/rangefinder/_tree") + " && " + variables +
                 " lib/rangefinder/load_cupti_once")["refused"] == pip);
}

TEST_CASE("a program outside of a wheel has no environment around it") {
  const Machine machine;
  const std::string program =
                        machine.copy(RANGEFINDER_TEST_LOAD_CUPTI, "a/b/lib/rangefinder/load_cupti_once"),
                    planted = machine.copy(kFake, "nvidia/cu13/lib/libcupti.so.13"),
                    toolkit = machine.copy(kFake, "toolkit/lib64/libcupti.so.13");

  auto said = load("", machine.variables("nowhere"), program);

  CHECK(said["refused"] == toolkit);
  CHECK(said.count("copy " + planted) == 0);
}

TEST_CASE("a mapped copy and the override come before the Python environment's") {
  const Machine machine;
  const std::string pip = machine.copy(kFake, "environment/libcupti.so.13");
  const std::string variables = machine.variables("environment");

  auto mapped = load("--mapped " + kFake, variables);
  auto named = load(kFake, variables);

  CHECK(mapped["refused"] == kFake);
  CHECK(mapped["copy " + kFake] == "already loaded by the program, taken");
  CHECK(mapped["copy " + pip] == "in the Python environment, not tried");
  CHECK(named["refused"] == kFake);
  CHECK(named["copy " + kFake] == "named by RANGEFINDER_CUPTI, taken");
  CHECK(named["copy " + pip] == "in the Python environment, not tried");
}

TEST_CASE("a file with two names is one candidate") {
  const Machine machine;
  const std::string pip = machine.copy(kFake, "toolkit/lib64/libcupti.so.13");
  std::filesystem::create_symlink("lib64", machine.path("toolkit/lib"));

  auto said = load("", machine.variables("toolkit/lib"));

  CHECK(said["copy " + machine.path("toolkit/lib/libcupti.so.13")] == "in the Python environment, taken");
  CHECK(said.count("copy " + pip) == 0);
}

TEST_CASE("without an override the libcupti of this machine is found, with all functions") {
  auto said = load("");
  if (contains(said["reason"], "was not found")) {
    WARN("skipped: " << said["reason"]);
    return;
  }

  CHECK(said["loaded"] == "1");
  CHECK(contains(said["path"], "libcupti.so"));
  CHECK(std::stoul(said["version"]) >= kOldestCupti);
  CHECK(said["result"] == "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
}
