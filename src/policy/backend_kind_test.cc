// The table of backends, and lists made from one.
#include "policy/backend_kind.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

TEST(BackendKindTest, NameAndKindAreEachOthers) {
  for (const BackendTraits& one : kBackends) {
    EXPECT_EQ(backend_named(one.name), one.kind);
    EXPECT_EQ(name_of(one.kind), one.name);
  }
  for (const char* wrong : {"", "Namespace", "namespace ", "seatbelt", "vm\n"})
    EXPECT_EQ(backend_named(wrong), std::nullopt);
}

TEST(BackendKindTest, OnlyTheBackendNoneDoesNotIsolate) {
  for (const BackendTraits& one : kBackends) EXPECT_EQ(one.isolates, one.kind != BackendKind::kNone) << one.name;
}

TEST(BackendKindTest, TraitsImplyEachOther) {
  for (const BackendTraits& one : kBackends) {
    if (one.guest_mounts) EXPECT_TRUE(one.isolates && one.file_rules && !one.host_paths) << one.name;
    if (one.pooled || one.e2b_template) EXPECT_TRUE(one.isolates) << one.name;
    if (one.own_kernel) EXPECT_FALSE(one.host_paths || one.file_rules) << one.name;
  }
}

TEST(BackendKindTest, ListsHaveABackendThatIsAddedToTheTable) {
  std::vector<BackendTraits> table(kBackends.begin(), kBackends.end());
  BackendTraits made_up = table.front();
  made_up.name = "jail";
  made_up.holds_disk = true;
  table.push_back(made_up);
  EXPECT_EQ(backend_names(nullptr, table).back(), "jail");
  EXPECT_EQ(backend_list("or", &BackendTraits::holds_disk, table), "container or jail");
  EXPECT_EQ(backend_list("and", &BackendTraits::pooled, table), "namespace, bwrap, container and jail");
}

TEST(BackendKindTest, ListOfOneHasNoConjunction) {
  EXPECT_EQ(backend_list("or", &BackendTraits::holds_disk), "container");
  EXPECT_EQ(backend_list("or", nullptr, {}), "");
}

}  // namespace
}  // namespace hutch::policy
