// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/process_conditions.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "profiler/conditions/condition_value.h"
#include "tests/catch.h"
#include "tests/unit/conditions/fake_tree.h"

namespace rangefinder {
namespace {

using test::FakeTree;

constexpr const char* kNetworkHeadings =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
    "carrier compressed\n";
constexpr std::uint64_t kMib = 1 << 20;

std::string interface_line(const std::string& name, std::uint64_t received, std::uint64_t sent) {
  return name + ": " + std::to_string(received) + " 29 0 0 0 0 0 0 " + std::to_string(sent) +
         " 29 0 0 0 0 0 0\n";
}

std::optional<std::uint64_t> value(ProcessConditions& conditions, Condition condition) {
  return value_of(conditions.read(), condition);
}

TEST_CASE("values of this process are read from the kernel") {
  ProcessConditions conditions;

  const ConditionValues& values = conditions.read();

  CHECK(value_of(values, Condition::cpu_ms));
  CHECK(value_of(values, Condition::rss_mib).value_or(0) > 0);
  CHECK(value_of(values, Condition::minor_faults).value_or(0) > 0);
  CHECK(value_of(values, Condition::major_faults));
  CHECK(value_of(values, Condition::involuntary_switches));
  CHECK(value_of(values, Condition::swap_mib));
  CHECK(value_of(values, Condition::millicores).value_or(0) > 0);
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    if (kConditions[i].subject != ConditionOf::process) CHECK_FALSE(values[i]);
  }
}

TEST_CASE("memory, disk and swap are read in MiB") {
  const FakeTree tree;
  const auto pages_per_mib = kMib / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  tree.write("/proc/self/statm", "900000 " + std::to_string(812 * pages_per_mib) + " 100 1 0 200 0\n");
  tree.write("/proc/self/status", "Name:\tpython3\nVmRSS:\t  831488 kB\nVmSwap:\t    3072 kB\nThreads:\t8\n");
  tree.write("/proc/self/io",
             "rchar: 999999999\nwchar: 1\nsyscr: 2\nsyscw: 3\nread_bytes: 10485760\nwrite_bytes: 5242880\n"
             "cancelled_write_bytes: 0\n");
  ProcessConditions conditions(tree.root());

  const ConditionValues& values = conditions.read();

  CHECK(value_of(values, Condition::rss_mib) == 812);
  CHECK(value_of(values, Condition::swap_mib) == 3);
  CHECK(value_of(values, Condition::read_mib) == 10);
  CHECK(value_of(values, Condition::written_mib) == 5);
}

TEST_CASE("resident memory is read again each turn, through the same descriptor") {
  const FakeTree tree;
  const auto pages_per_mib = kMib / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  tree.write("/proc/self/statm", "9000 " + std::to_string(5 * pages_per_mib) + " 0 0 0 0 0\n");
  ProcessConditions conditions(tree.root());
  CHECK(value(conditions, Condition::rss_mib) == 5);

  tree.write("/proc/self/statm", "9000 " + std::to_string(6 * pages_per_mib) + " 0 0 0 0 0\n");

  CHECK(value(conditions, Condition::rss_mib) == 6);
}

TEST_CASE("bytes of all interfaces but the loopback one are summed") {
  const FakeTree tree;
  tree.write("/proc/self/net/dev", kNetworkHeadings + interface_line("    lo", 100 * kMib, 100 * kMib) +
                                       interface_line("  eth0", 3 * kMib, kMib) +
                                       interface_line("ib0", 2 * kMib, 7 * kMib));
  ProcessConditions conditions(tree.root());

  const ConditionValues& values = conditions.read();

  CHECK(value_of(values, Condition::received_mib) == 5);
  CHECK(value_of(values, Condition::sent_mib) == 8);
}

TEST_CASE("more interfaces than fit into one reading are summed too") {
  const FakeTree tree;
  std::string text = kNetworkHeadings;
  constexpr std::uint64_t kInterfaces = 1000;
  for (std::uint64_t i = 0; i < kInterfaces; ++i)
    text += interface_line("veth" + std::to_string(i), kMib, 2 * kMib);
  tree.write("/proc/self/net/dev", text);
  ProcessConditions conditions(tree.root());

  const ConditionValues& values = conditions.read();

  CHECK(value_of(values, Condition::received_mib) == kInterfaces);
  CHECK(value_of(values, Condition::sent_mib) == 2 * kInterfaces);
}

TEST_CASE("what cannot be read is absent") {
  const FakeTree tree;
  tree.write("/proc/self/statm", "0 0 0 0 0 0 0\n");  // the main thread has ended
  tree.write("/proc/self/status", "Name:\tpython3\n");
  tree.write("/proc/self/io", "");
  tree.write("/proc/self/net/dev", std::string(10'000, 'x'));
  ProcessConditions conditions(tree.root());

  const ConditionValues& values = conditions.read();

  for (const Condition absent :
       {Condition::rss_mib, Condition::swap_mib, Condition::read_mib, Condition::written_mib,
        Condition::received_mib, Condition::sent_mib, Condition::quota_throttled_ms})
    CHECK_FALSE(value_of(values, absent));
  CHECK(value_of(values, Condition::cpu_ms));
}

TEST_CASE("cores are the smaller of affinity and quota") {
  cpu_set_t cores;
  REQUIRE(sched_getaffinity(0, sizeof(cores), &cores) == 0);
  const FakeTree tree;
  ProcessConditions unlimited(tree.root());
  CHECK(value(unlimited, Condition::millicores) == 1000 * static_cast<std::uint64_t>(CPU_COUNT(&cores)));

  tree.write("/proc/self/cgroup", "0::/\n");
  tree.write("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  tree.write("/sys/fs/cgroup/cpu.stat", "throttled_usec 12000\n");
  ProcessConditions limited(tree.root());

  const ConditionValues& values = limited.read();
  CHECK(value_of(values, Condition::millicores) == 500);
  CHECK(value_of(values, Condition::quota_throttled_ms) == 12);
}

TEST_CASE("swap and quotas are read in every tenth turn, and first after a pause") {
  const FakeTree tree;
  tree.write("/proc/self/status", "VmSwap:\t0 kB\n");
  ProcessConditions conditions(tree.root());
  CHECK(value(conditions, Condition::swap_mib) == 0);
  tree.write("/proc/self/status", "VmSwap:\t1024 kB\n");

  int turns_until_seen = 1;
  while (value(conditions, Condition::swap_mib) != 1 && turns_until_seen < 100) ++turns_until_seen;
  tree.write("/proc/self/status", "VmSwap:\t2048 kB\n");
  conditions.restart();

  CHECK(turns_until_seen > 1);
  CHECK(turns_until_seen <= 10);
  CHECK(value(conditions, Condition::swap_mib) == 2);
}

TEST_CASE("a descriptor that the application has closed and used again is neither read nor closed") {
  const FakeTree tree;
  tree.write("/proc/self/io", "read_bytes: 1048576\nwrite_bytes: 0\n");
  tree.write("/application", "read_bytes: 7340032\nwrite_bytes: 0\n");
  const int next = open((tree.root() + "/application").c_str(), O_RDONLY | O_CLOEXEC);
  close(next);
  int file = -1;
  {
    const ProcFile ours(tree.root() + "/proc/self/io");  // gets the number `next`
    char buffer[64];
    REQUIRE(ours.read(buffer).starts_with("read_bytes: 1048576"));
    close(next);
    file = open((tree.root() + "/application").c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(file == next);
    CHECK(ours.read(buffer).empty());
  }

  CHECK(fcntl(file, F_GETFD) != -1);
  close(file);
}

}  // namespace
}  // namespace rangefinder
