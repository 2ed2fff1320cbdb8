// What is read of a kernel before it is started.
#include "service/vm/kernel_image.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace hutch::service {

namespace {

constexpr std::size_t kBootFlag = 0x1fe;
constexpr std::size_t kMagic = 0x202;
constexpr std::size_t kProtocol = 0x206;
constexpr std::size_t kVersion = 0x20e;
constexpr std::size_t kLoadFlags = 0x211;
constexpr std::size_t kMoreLoadFlags = 0x236;
constexpr std::size_t kHeaderEnd = 0x268;
constexpr unsigned kProtocolMin = 0x20c;  // says whether it has 64 bits
constexpr unsigned kIsBig = 1;
constexpr unsigned kHas64Bits = 1;
constexpr std::size_t kReleaseMax = 64;

unsigned byte_at(std::string_view image, std::size_t at) { return static_cast<unsigned char>(image[at]); }
unsigned word_at(std::string_view image, std::size_t at) { return byte_at(image, at) | byte_at(image, at + 1) << 8; }

Error no_kernel(std::string_view why) { return Error::invalid(cat({"is no kernel that can be started: ", why})); }

std::string_view looks_like(std::string_view image) {
  if (image.starts_with("\x7f"
                        "ELF")) {
    return "it is an ELF file; of a kernel that was built, arch/x86/boot/bzImage is the one";
  }
  if (image.starts_with("\x1f\x8b") || image.starts_with("\xfd"
                                                         "7zXZ"))
    return "it is a compressed file";
  if (image.starts_with("MZ")) return "it is a program for the firmware, without a Linux's header";
  return image.empty() ? "it is empty" : "it has no Linux's header (bzImage, vmlinuz)";
}

bool is_of_release(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '_' || c == '+' || c == '~';
}

}  // namespace

Result<std::string> kernel_release(std::string_view image) {
  if (image.size() < kHeaderEnd || word_at(image, kBootFlag) != 0xaa55 || image.substr(kMagic, 4) != "HdrS") {
    return fail(no_kernel(looks_like(image)));
  }
  if (word_at(image, kProtocol) < kProtocolMin) return fail(no_kernel("it is older than Linux 3.8"));
  if ((byte_at(image, kLoadFlags) & kIsBig) == 0)
    return fail(no_kernel("it is a zImage; a bzImage is what is started"));
  if ((word_at(image, kMoreLoadFlags) & kHas64Bits) == 0) return fail(no_kernel("it is not one for x86-64"));
  const std::size_t at = word_at(image, kVersion) + std::size_t{0x200};
  const std::string_view version = at < image.size() ? image.substr(at, kReleaseMax + 1) : std::string_view();
  const std::string_view release(version.begin(), std::ranges::find_if_not(version, is_of_release));
  // It names a directory.
  const bool is_name = !release.empty() && release.size() <= kReleaseMax && release.front() != '.';
  if (word_at(image, kVersion) == 0 || !is_name) return fail(no_kernel("it does not say its release"));
  return std::string(release);
}

}  // namespace hutch::service
