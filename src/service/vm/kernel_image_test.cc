// The tests of what is read of a kernel.
#include "service/vm/kernel_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace hutch::service {
namespace {

using testing::HasSubstr;

std::string bzimage(std::string_view version = "6.1.0-18-cloud-amd64 (someone@there) #1 SMP") {
  std::string image(0x4000, '\0');
  image.replace(0, 2, "MZ");
  image[0x1fe] = '\x55';
  image[0x1ff] = '\xaa';
  image.replace(0x202, 4, "HdrS");
  image[0x206] = '\x0f';
  image[0x207] = '\x02';
  image[0x20e] = '\x00';
  image[0x20f] = '\x30';  // 0x3200
  image[0x211] = '\x01';
  image[0x236] = '\x3f';
  image.replace(0x3200, version.size(), version);
  return image;
}

TEST(KernelImage, SaysItsRelease) {
  EXPECT_EQ(kernel_release(bzimage()).value(), "6.1.0-18-cloud-amd64");
  EXPECT_EQ(kernel_release(bzimage("5.4.0")).value(), "5.4.0");
}

TEST(KernelImage, IsRefusedWhereNoneCanBeStarted) {
  struct Case {
    std::function<void(std::string&)> spoil;
    const char* why;
  };
  const Case cases[] = {
      {[](std::string& image) { image.clear(); }, "it is empty"},
      {[](std::string& image) { image = "text\n"; }, "no Linux's header"},
      {[](std::string& image) {
         image
             .replace(0, 4,
                      "\x7f"
                      "ELF")
             .resize(0x100);
       },
       "bzImage is the one"},
      {[](std::string& image) { image.resize(0x267); }, "firmware"},
      {[](std::string& image) { image[0x1ff] = 0; }, "firmware"},
      {[](std::string& image) { image[0x205] = 's'; }, "firmware"},
      {[](std::string& image) { image[0x206] = '\x0b'; }, "older"},
      {[](std::string& image) { image[0x211] = 0; }, "zImage"},
      {[](std::string& image) { image[0x236] = '\x3e'; }, "x86-64"},
      {[](std::string& image) { image[0x20f] = '\x7f'; }, "its release"},
      {[](std::string& image) { image[0x20f] = 0; }, "its release"},
      {[](std::string& image) { image.replace(0x3200, 4, "../x"); }, "its release"},
      {[](std::string& image) { image.replace(0x3200, 100, std::string(100, 'a')); }, "its release"},
  };
  for (const Case& one : cases) {
    std::string image = bzimage();
    one.spoil(image);
    const auto release = kernel_release(image);
    ASSERT_FALSE(release) << one.why;
    EXPECT_THAT(release.error().message, HasSubstr(one.why));
  }
}

}  // namespace
}  // namespace hutch::service
