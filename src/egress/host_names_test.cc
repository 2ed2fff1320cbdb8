// The host's hosts file: its names, that changes are noticed, and that hutch never waits for any kind of file.
#include "egress/host_names.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace hutch::egress {
namespace {

class HostNamesTest : public ::testing::Test {
 protected:
  HostNamesTest() : path_(testing::TempDir() + "hosts-" + std::to_string(::getpid())) { clear(); }
  ~HostNamesTest() override { clear(); }
  void clear() const { std::filesystem::remove_all(path_); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string first_of(std::string_view name) const {
    HostNames names(path_);
    const auto* found = names.find(name);
    return found == nullptr ? "" : to_string(found->front());
  }

  std::string path_;
};

TEST_F(HostNamesTest, NamesHaveTheirAddresses) {
  write("10.0.0.5 git.corp git\n");
  EXPECT_EQ(first_of("git.corp"), "10.0.0.5");
  EXPECT_EQ(first_of("git"), "10.0.0.5");
  EXPECT_EQ(first_of("other"), "");
}

TEST_F(HostNamesTest, LocalNamesHaveLoopbackAddressesAlone) {
  write("127.0.1.1 box app.test\n::1 app.test\n127.0.0.1 both\n10.0.0.5 both\n");
  HostNames names(path_);
  EXPECT_NE(names.find_local("box"), nullptr);
  EXPECT_EQ(names.find_local("app.test")->size(), 2U);
  EXPECT_EQ(names.find_local("both"), nullptr);
  EXPECT_EQ(names.find_local("other"), nullptr);
}

TEST_F(HostNamesTest, AnAbsentFileOrAnotherKindOfFileHasNoNames) {
  EXPECT_EQ(first_of("git.corp"), "");
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(first_of("git.corp"), "");
  clear();
  std::filesystem::create_directory(path_);
  EXPECT_EQ(first_of("git.corp"), "");
}

TEST_F(HostNamesTest, OnlyAFileThatRootAloneWritesIsTheAdministratorsWord) {
  using policy::AddressSource;
  const auto source = [&](mode_t mode) {
    EXPECT_EQ(::chmod(path_.c_str(), mode), 0);
    HostNames names(path_);
    EXPECT_NE(names.find("git.corp"), nullptr);
    return names.source();
  };
  write("10.0.0.5 git.corp\n");
  EXPECT_EQ(source(0644), ::geteuid() == 0 ? AddressSource::kHostsFile : AddressSource::kDns);
  EXPECT_EQ(source(0664), AddressSource::kDns);
  EXPECT_EQ(source(0646), AddressSource::kDns);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path_.c_str(), 4242, 0), 0);
  EXPECT_EQ(source(0644), AddressSource::kDns);
}

TEST_F(HostNamesTest, AFileThatIsTooLargeHasNoNames) {
  write("10.0.0.5 git.corp\n" + std::string(plan::kHostsBytesMax, '\n'));
  EXPECT_EQ(first_of("git.corp"), "");
}

}  // namespace
}  // namespace hutch::egress
