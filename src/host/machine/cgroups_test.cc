// Where cgroups are put on several kinds of machine, from what their /proc says.
#include "host/machine/cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hutch::host {
namespace {

using plan::CgroupKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kV2Mount =
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kV1Mounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:3 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n";
constexpr const char* kV1Memberships = "9:name=systemd:/\n8:pids:/\n4:memory:/jobs/one\n1:cpu,cpuacct:/\n";

// A machine whose directories are these; every other one cannot be written.
CgroupLook machine(std::map<std::string, CgroupDirectory> directories) {
  return [directories](const std::string& path) {
    const auto found = directories.find(path);
    return found == directories.end() ? CgroupDirectory{} : found->second;
  };
}

CgroupDirectory v1_writable() { return {.writable = true, .occupied = false, .available = {}, .enabled = {}}; }

TEST(CgroupParsing, Memberships) {
  const auto found =
      parse_memberships("0::/user.slice/a:b\n4:memory:/x\n1:cpu,cpuacct:/\n7:name=systemd:/\nbroken\n3:\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_TRUE(found[0].is_v2);
  EXPECT_EQ(found[0].path, "/user.slice/a:b");
  EXPECT_FALSE(found[1].is_v2);
  EXPECT_THAT(found[2].controllers, UnorderedElementsAre("cpu", "cpuacct"));
}

TEST(CgroupParsing, Mounts) {
  const auto found = parse_cgroup_mounts(
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "35 24 0:30 /../a\\040b /mnt/c\\134d rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw\n"
      "36 24 0:31 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu,cpuacct\n"
      "37 24 0:31 / /x rw - cgroupfs none rw\n"
      "38 - cgroup\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].is_v2);
  EXPECT_EQ(found[0].root, "/../a b");
  EXPECT_EQ(found[0].point, "/mnt/c\\d");
  EXPECT_TRUE(found[1].controllers.contains("cpu"));
}

// Of an engine's container, as the host reads it.
TEST(CgroupEvents, AreCountedWhereTheProcessIs) {
  const CgroupEventFiles v2 = event_files("0::/system.slice/docker-1f.scope\n", kV2Mount);
  EXPECT_EQ(v2.memory, "/sys/fs/cgroup/system.slice/docker-1f.scope/memory.events");
  EXPECT_EQ(v2.pids, "/sys/fs/cgroup/system.slice/docker-1f.scope/pids.events");
  const char* memberships = "9:name=systemd:/docker/1f\n8:pids:/docker/1f\n4:memory:/docker/1f\n";
  const CgroupEventFiles v1 = event_files(memberships, kV1Mounts);
  EXPECT_EQ(v1.memory, "/sys/fs/cgroup/memory/docker/1f/memory.oom_control");
  EXPECT_EQ(v1.pids, "/sys/fs/cgroup/pids/docker/1f/pids.events");
  // Both versions at once: each controller is of one of them.
  const std::string hybrid = std::string(kV1Mounts) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(event_files("4:memory:/docker/1f\n0::/docker/1f\n", hybrid).memory, v1.memory);
  EXPECT_EQ(event_files("4:memory:/docker/1f\n0::/docker/1f\n", hybrid).pids,
            "/sys/fs/cgroup/unified/docker/1f/pids.events");
}

TEST(CgroupEvents, OfWhatCannotBeSeenThereAreNone) {
  for (const char* memberships : {"", "0::/../../other\n", "4:memory:/x\n", "garbage"}) {
    const CgroupEventFiles files = event_files(memberships, kV2Mount);
    EXPECT_EQ(files.memory, "") << memberships;
  }
  EXPECT_EQ(event_files("0::/a\n", "35 24 0:30 /own /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n").memory, "");
  EXPECT_EQ(read_events({}).killed_for_memory, 0U);
  EXPECT_EQ(read_events({"/no/such/file", "/no/such/file"}).pids_refused, 0U);
}

TEST(CgroupEvents, OfEitherVersionAreRead) {
  std::string directory = "/var/tmp/hutch-cgroup-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const auto file = [&](const char* name, const char* text) {
    std::ofstream(directory + "/" + name) << text;
    return directory + "/" + name;
  };
  const std::string v2 = file("memory.events", "low 0\nhigh 0\nmax 17\noom 1\noom_kill 2\noom_group_kill 0\n");
  const std::string v1 = file("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  const std::string pids = file("pids.events", "max 5\n");
  EXPECT_EQ(read_events({v2, pids}).killed_for_memory, 2U);
  EXPECT_EQ(read_events({v1, pids}).killed_for_memory, 3U);
  EXPECT_EQ(read_events({v1, pids}).pids_refused, 5U);
  std::filesystem::remove_all(directory);
}

TEST(CgroupPlaces, V1AsRoot) {
  const CgroupSources sources = {.uid = 0, .memberships = kV1Memberships, .mountinfo = kV1Mounts};
  const CgroupPlace place = choose_cgroup_place(sources, machine({{"/sys/fs/cgroup/memory/jobs/one", v1_writable()},
                                                                  {"/sys/fs/cgroup/pids", v1_writable()},
                                                                  {"/sys/fs/cgroup/cpu,cpuacct", v1_writable()}}));
  EXPECT_EQ(place.kind, CgroupKind::kV1);
  EXPECT_THAT(place.directories,
              ElementsAre(Pair("cpu", "/sys/fs/cgroup/cpu,cpuacct"), Pair("memory", "/sys/fs/cgroup/memory/jobs/one"),
                          Pair("pids", "/sys/fs/cgroup/pids")));
  EXPECT_TRUE(place.enable.empty());
}

TEST(CgroupPlaces, V1AsUser) {
  const CgroupSources sources = {.uid = 1000, .memberships = kV1Memberships, .mountinfo = kV1Mounts};
  const CgroupPlace place = choose_cgroup_place(sources, machine({}));
  EXPECT_EQ(place.kind, CgroupKind::kNone);
  EXPECT_THAT(place.note, HasSubstr("root alone"));
}

TEST(CgroupPlaces, HybridUsesV1WhereV2HasNoControllers) {
  const std::string mounts = std::string(kV1Mounts) + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  const CgroupSources sources = {.uid = 0, .memberships = std::string(kV1Memberships) + "0::/\n", .mountinfo = mounts};
  const CgroupPlace place = choose_cgroup_place(
      sources, machine({{"/sys/fs/cgroup/unified", {.writable = true, .available = {"hugetlb"}, .enabled = {}}},
                        {"/sys/fs/cgroup/memory/jobs/one", v1_writable()}}));
  EXPECT_EQ(place.kind, CgroupKind::kV1);
  EXPECT_THAT(place.directories, ElementsAre(Pair("memory", "/sys/fs/cgroup/memory/jobs/one")));
}

TEST(CgroupPlaces, V2SiblingOfADelegatedScope) {
  // A shell in a scope of the user manager: its own cgroup has the shell in it, the slice above it is the user's.
  const std::string slice = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
  const CgroupSources sources = {.uid = 1000,
                                 .memberships = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/t.scope\n",
                                 .mountinfo = kV2Mount,
                                 .user_manager = true};
  const CgroupPlace place = choose_cgroup_place(
      sources, machine({{slice + "/t.scope", {.writable = true, .occupied = true, .available = {"memory", "pids"}}},
                        {slice, {.writable = true, .available = {"memory", "pids"}, .enabled = {"memory", "pids"}}}}));
  EXPECT_EQ(place.kind, CgroupKind::kV2);
  EXPECT_THAT(place.directories, ElementsAre(Pair("memory", slice), Pair("pids", slice)));
  EXPECT_TRUE(place.enable.empty());
}

TEST(CgroupPlaces, V2DelegatedAndEmptyIsEnabledFirst) {
  // The parent is delegated and this process lives in a leaf of it.
  const CgroupSources sources = {.uid = 1000, .memberships = "0::/given/leaf\n", .mountinfo = kV2Mount};
  const CgroupPlace place = choose_cgroup_place(
      sources, machine({{"/sys/fs/cgroup/given/leaf", {.writable = true, .occupied = true, .available = {}}},
                        {"/sys/fs/cgroup/given",
                         {.writable = true, .available = {"cpu", "memory", "pids", "io"}, .enabled = {"cpu"}}}}));
  EXPECT_EQ(place.kind, CgroupKind::kV2);
  EXPECT_EQ(place.directories.size(), 3u);
  EXPECT_THAT(place.enable, ElementsAre("memory", "pids"));
}

TEST(CgroupPlaces, V2TakesTheNearestWithMost) {
  const CgroupSources sources = {.uid = 0, .memberships = "0::/a/b/c\n", .mountinfo = kV2Mount};
  const std::set<std::string, std::less<>> all = {"cpu", "memory", "pids"};
  const CgroupPlace place = choose_cgroup_place(
      sources,
      machine({{"/sys/fs/cgroup/a/b", {.writable = true, .occupied = true, .available = all, .enabled = {"pids"}}},
               {"/sys/fs/cgroup/a", {.writable = true, .available = all, .enabled = all}},
               {"/sys/fs/cgroup", {.writable = true, .available = all, .enabled = all}}}));
  EXPECT_EQ(place.directories.at("memory"), "/sys/fs/cgroup/a");
}

TEST(CgroupPlaces, V2LoginSessionAsksSystemd) {
  // An ssh login: its scope belongs to root, the user manager is beside it.
  const std::string manager = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service";
  CgroupSources sources = {.uid = 1000,
                           .memberships = "0::/user.slice/user-1000.slice/session-2.scope\n",
                           .mountinfo = kV2Mount,
                           .user_manager = true};
  const CgroupLook look = machine({{manager, {.writable = false, .available = {"memory", "pids"}}}});
  const CgroupPlace place = choose_cgroup_place(sources, look);
  EXPECT_EQ(place.kind, CgroupKind::kSystemdScope);
  EXPECT_THAT(place.directories, ElementsAre(Pair("memory", manager), Pair("pids", manager)));

  sources.user_manager = false;
  const CgroupPlace none = choose_cgroup_place(sources, look);
  EXPECT_EQ(none.kind, CgroupKind::kNone);
  EXPECT_THAT(none.note, HasSubstr("systemd-run --user"));
}

TEST(CgroupPlaces, ContainerWithReadOnlyCgroups) {
  const CgroupSources sources = {
      .uid = 0,
      .memberships = "0::/\n",
      .mountinfo = "900 880 0:30 / /sys/fs/cgroup ro,nosuid,nodev,noexec - cgroup2 cgroup rw\n"};
  const CgroupPlace place = choose_cgroup_place(sources, machine({}));
  EXPECT_EQ(place.kind, CgroupKind::kNone);
  EXPECT_THAT(place.note, HasSubstr("container"));
}

TEST(CgroupPlaces, ContainerThatSeesOnlyItsOwnPartOfV1) {
  const CgroupSources sources = {.uid = 0,
                                 .memberships = "4:memory:/docker/abc\n8:pids:/docker/xyz\n",
                                 .mountinfo =
                                     "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                                     "39 31 0:36 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"};
  const CgroupPlace place = choose_cgroup_place(
      sources, machine({{"/sys/fs/cgroup/memory", v1_writable()}, {"/sys/fs/cgroup/pids", v1_writable()}}));
  EXPECT_THAT(place.directories, ElementsAre(Pair("memory", "/sys/fs/cgroup/memory")));
}

TEST(CgroupPlaces, OutsideOfTheNamespaceOrNothingAtAll) {
  // A path above the cgroup namespace's root is shown as "/..": no directory here is that cgroup.
  const CgroupSources above = {.uid = 0, .memberships = "0::/../other\n", .mountinfo = kV2Mount};
  const CgroupLook everything = [](const std::string&) {
    return CgroupDirectory{.writable = true, .available = {"memory"}, .enabled = {"memory"}};
  };
  EXPECT_EQ(choose_cgroup_place(above, everything).kind, CgroupKind::kNone);
  EXPECT_THAT(choose_cgroup_place({}, everything).note, HasSubstr("no cgroup file system"));
}

TEST(CgroupPlaces, OfThisMachineAreThere) {
  const CgroupPlace place = find_cgroup_place(0);
  EXPECT_FALSE(place.note.empty());
  EXPECT_EQ(place.kind == CgroupKind::kNone, place.directories.empty());
}

}  // namespace
}  // namespace hutch::host
