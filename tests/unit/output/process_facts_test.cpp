// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/process_facts.h"

#include <unistd.h>

#include <string>

#include "tests/catch.h"

using namespace rangefinder;

TEST_CASE("the release is read from the text of the open kernel module") {
  // From a machine with an H200.
  CHECK(
      driver_release_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
                        "(nixbld@)  \n") == "580.159.04");
}

TEST_CASE("the release is read from the text of the proprietary module, with two numbers, and for aarch64") {
  CHECK(driver_release_in(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n"
            "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n") == "550.54.14");
  CHECK(driver_release_in(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  510.54  Tue Feb  8 04:42:21 UTC 2022") ==
        "510.54");
  CHECK(driver_release_in("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build  "
                          "(buildbrain@mobile-u64)\n") == "540.4.0");
}

TEST_CASE("a text without a release gives none, not the compiler's version") {
  CHECK(driver_release_in("").empty());
  CHECK(driver_release_in("NVRM version:").empty());
  CHECK(driver_release_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  unknown\n"
                          "GCC version:  gcc version 12.3.0 \n")
            .empty());
  CHECK(driver_release_in("GCC version:  gcc version 12.3.0 \n").empty());
  for (const char* const word : {"580", "580.", ".580", "580..04", "580.x", "580.04,", "12:30"}) {
    INFO(word);
    CHECK(driver_release_in(std::string("NVRM version: ") + word + " \n").empty());
  }
}

TEST_CASE("the facts of this process hold the driver release of the machine") {
  const Header header = read_process_facts();

  CHECK(header.pid == getpid());
  CHECK(header.driver_release == read_driver_release());
  CHECK(read_driver_release().empty() == (access("/proc/driver/nvidia/version", R_OK) != 0));
}
