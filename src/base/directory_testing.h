// A directory of a test's own, which goes with all that is in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace hutch {

class TestDirectory {
 public:
  explicit TestDirectory(std::string_view name) : path_(::testing::TempDir()) {
    path_.append(name).append("-XXXXXX");
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hutch
