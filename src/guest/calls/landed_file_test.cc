// Files of judged contents: whole when they have their name, and nobody else's.
#include "guest/calls/landed_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/directory_testing.h"
#include "base/unique_fd.h"
#include "guest/must_testing.h"
#include "sys/files/tree.h"

namespace hutch::guest {
namespace {

namespace fs = std::filesystem;

class LandedFiles {
 protected:
  LandedFiles() : before_(fs::current_path()), directory_fd_(must(sys::open_listing(directory_.path()))) {
    fs::current_path("/proc");
  }
  ~LandedFiles() { fs::current_path(before_); }
  std::string text(const std::string& name) const {
    std::ifstream file(fs::path(directory_.path()) / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What inotify(7) saw of the directory's names, "+" for one that appeared.
  static std::vector<std::string> names_seen(int watch) {
    alignas(inotify_event) std::array<char, 4096> events{};
    std::vector<std::string> seen;
    const ssize_t size = ::read(watch, events.data(), events.size());
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
      seen.push_back(std::string((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0 ? "+" : "-") + event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return seen;
  }

  fs::path before_;
  TestDirectory directory_{"landed"};
  UniqueFd directory_fd_;
};
class LandedFileTest : public LandedFiles, public testing::TestWithParam<Landing> {};
class LandedLinkTest : public LandedFiles, public testing::Test {};

TEST_P(LandedFileTest, NoOtherNameIsThereMeanwhile) {
  std::ofstream(fs::path(directory_.path()) / "f") << "old";
  const UniqueFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(watch.get(), directory_.path().c_str(), IN_CREATE | IN_MOVE | IN_DELETE), 0);
  const sys::Resolved made = must(land_file(directory_fd_.get(), "f", {"new", 0755, 7'000'000'000}, GetParam()));
  EXPECT_EQ(names_seen(watch.get()), (std::vector<std::string>{"-f", "+f"}));
  EXPECT_EQ(text("f"), "new");
  struct stat there{};
  ASSERT_EQ(::lstat((fs::path(directory_.path()) / "f").c_str(), &there), 0);
  EXPECT_EQ(there.st_ino, made.inode);
  EXPECT_EQ(there.st_mode & 07777, 0755U);
  EXPECT_EQ(there.st_mtime, 7);
}

TEST_P(LandedFileTest, ADirectoryIsNotReplaced) {
  fs::create_directory(fs::path(directory_.path()) / "d");
  EXPECT_FALSE(land_file(directory_fd_.get(), "d", {"new", 0644, 0}, GetParam()));
  EXPECT_TRUE(fs::is_directory(fs::path(directory_.path()) / "d"));
}

INSTANTIATE_TEST_SUITE_P(Ways, LandedFileTest, testing::Values(Landing::kNameless, Landing::kNamed));

TEST_F(LandedLinkTest, LinksReplaceFiles) {
  std::ofstream(fs::path(directory_.path()) / "f") << "old";
  (void)must(land_link(directory_fd_.get(), "f", "there"));
  EXPECT_EQ(fs::read_symlink(fs::path(directory_.path()) / "f"), "there");
}

}  // namespace
}  // namespace hutch::guest
