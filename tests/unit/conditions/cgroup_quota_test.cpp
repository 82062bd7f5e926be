// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/cgroup_quota.h"

#include "tests/catch.h"
#include "tests/unit/conditions/fake_tree.h"

namespace rangefinder {
namespace {

using test::FakeTree;

constexpr const char* kMountV2 =
    "21 1 0:19 / /proc rw - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

void write_v2_level(const FakeTree& tree, const std::string& folder, const std::string& max,
                    const std::string& throttled_us) {
  tree.write(folder + "/cpu.max", max + "\n");
  tree.write(
      folder + "/cpu.stat",
      "usage_usec 900\nuser_usec 400\nnr_periods 9\nnr_throttled 3\nthrottled_usec " + throttled_us + "\n");
}

void write_v1_level(const FakeTree& tree, const std::string& folder, const std::string& quota,
                    const std::string& throttled_ns) {
  tree.write(folder + "/cpu.cfs_quota_us", quota + "\n");
  tree.write(folder + "/cpu.cfs_period_us", "100000\n");
  tree.write(folder + "/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time " + throttled_ns + "\n");
}

TEST_CASE("v2: the smallest quota of all levels counts, with its own throttled time") {
  const FakeTree tree;
  tree.write("/proc/self/cgroup", "0::/pods/pod7/main\n");
  tree.write("/proc/self/mountinfo", kMountV2);
  write_v2_level(tree, "/sys/fs/cgroup/pods", "max 100000", "1000");
  write_v2_level(tree, "/sys/fs/cgroup/pods/pod7", "250000 100000", "2000000");
  write_v2_level(tree, "/sys/fs/cgroup/pods/pod7/main", "400000 100000", "3000");

  CgroupQuota quota(tree.root());
  CHECK(quota.millicores() == 2500);
  CHECK(quota.throttled_ms() == 2000);

  write_v2_level(tree, "/sys/fs/cgroup/pods/pod7/main", "50000 100000", "7000");
  quota.read();
  CHECK(quota.millicores() == 500);
  CHECK(quota.throttled_ms() == 7);
}

TEST_CASE("v2: a container sees its own cgroup as the root, mounted from further down") {
  const FakeTree tree;
  tree.write("/proc/self/cgroup", "0::/docker/4a\n");
  tree.write("/proc/self/mountinfo", "31 23 0:28 /docker/4a /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write_v2_level(tree, "/sys/fs/cgroup", "150000 100000", "5000");

  CHECK(CgroupQuota(tree.root()).millicores() == 1500);

  tree.write("/proc/self/cgroup", "0::/\n");
  tree.write("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  CHECK(CgroupQuota(tree.root()).millicores() == 1500);

  // Outside of the cgroup namespace's root.
  tree.write("/proc/self/cgroup", "0::/../../other\n");
  CHECK(CgroupQuota(tree.root()).millicores() == 1500);
}

TEST_CASE("v2: no quota at any level") {
  const FakeTree tree;
  tree.write("/proc/self/cgroup", "0::/user.slice\n");
  tree.write("/proc/self/mountinfo", kMountV2);
  write_v2_level(tree, "/sys/fs/cgroup/user.slice", "max 100000", "0");

  const CgroupQuota quota(tree.root());

  CHECK_FALSE(quota.millicores());
  CHECK_FALSE(quota.throttled_ms());
}

TEST_CASE("v1: nested quotas, and throttled time in ns") {
  const FakeTree tree;
  tree.write("/proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/kube/pod\n0::/init.scope\n");
  tree.write("/proc/self/mountinfo",
             "30 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
             "31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
             "32 23 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write_v1_level(tree, "/sys/fs/cgroup/cpu,cpuacct", "-1", "0");
  write_v1_level(tree, "/sys/fs/cgroup/cpu,cpuacct/kube", "300000", "9000000");
  write_v1_level(tree, "/sys/fs/cgroup/cpu,cpuacct/kube/pod", "-1", "0");

  const CgroupQuota quota(tree.root());

  CHECK(quota.millicores() == 3000);
  CHECK(quota.throttled_ms() == 9);
}

TEST_CASE("a mount point with a space is found") {
  const FakeTree tree;
  tree.write("/proc/self/cgroup", "0::/\n");
  tree.write("/proc/self/mountinfo", "31 23 0:28 / /my\\040cgroups rw - cgroup2 cgroup2 rw\n");
  write_v2_level(tree, "/my cgroups", "100000 100000", "0");

  CHECK(CgroupQuota(tree.root()).millicores() == 1000);
}

TEST_CASE("of two mounts the one that shows the process's cgroup is used") {
  const FakeTree tree;
  tree.write("/proc/self/cgroup", "0::/b/job\n");
  tree.write("/proc/self/mountinfo",
             "31 23 0:28 /bb /one rw - cgroup2 cgroup2 rw\n"
             "32 23 0:28 /b /two rw - cgroup2 cgroup2 rw\n");
  write_v2_level(tree, "/one", "100000 100000", "0");
  write_v2_level(tree, "/two/job", "200000 100000", "0");

  CHECK(CgroupQuota(tree.root()).millicores() == 2000);
}

TEST_CASE("no cgroup, no files and damaged files give no quota") {
  const FakeTree tree;
  CHECK_FALSE(CgroupQuota(tree.root()).millicores());

  tree.write("/proc/self/cgroup", "0::/\nx\n:::\n");
  tree.write("/proc/self/mountinfo", "31 23\n - \n - cgroup2\n");
  CHECK_FALSE(CgroupQuota(tree.root()).millicores());

  tree.write("/proc/self/mountinfo", kMountV2);
  for (const char* max : {"", "100000", "100000 0", "99999999999999999999999 1", "x y", "-1 100000"}) {
    tree.write("/sys/fs/cgroup/cpu.max", max);
    CHECK_FALSE(CgroupQuota(tree.root()).millicores());
  }
}

TEST_CASE("of a deeper hierarchy the levels next to the process are read") {
  const FakeTree tree;
  std::string path;
  for (std::size_t i = 0; i < CgroupQuota::kMaxLevels; ++i) path += "/level";
  tree.write("/proc/self/cgroup", "0::/top" + path + "\n");
  tree.write("/proc/self/mountinfo", kMountV2);
  for (std::string folder = "/sys/fs/cgroup/top" + path; folder != "/sys/fs/cgroup/top";
       folder.resize(folder.rfind('/')))
    write_v2_level(tree, folder, "200000 100000", "0");
  write_v2_level(tree, "/sys/fs/cgroup/top", "100000 100000", "0");

  CHECK(CgroupQuota(tree.root()).millicores() == 2000);
}

}  // namespace
}  // namespace rangefinder
