// Names of an archive, judged before anything is made by them.
#include "unpack/names.h"

#include "base/limits.h"
#include "base/text.h"

namespace hutch::unpack {

namespace {

constexpr std::size_t kPartBytesMax = 255;
constexpr std::size_t kDepthMax = 128;

}  // namespace

Result<std::string> plain_name(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return fail(Error::invalid(cat({"the archive's entry \"", printable(name), "\" ", why})));
  };
  if (name.starts_with('/')) return refuse("has an absolute name");
  if (name.size() >= limits::kPathBytesMax) return refuse("has too long a name");
  if (name.contains('\0')) return refuse("has a NUL byte in its name");
  std::string plain;
  std::size_t depth = 0;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return refuse("leads out of the tree by \"..\"");
    if (part.size() > kPartBytesMax) return refuse("has too long a name");
    if (++depth > kDepthMax) return refuse("lies too deep");
    if (!plain.empty()) plain += '/';
    plain += part;
  }
  return plain;
}

std::string directory_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

std::string last_part(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

}  // namespace hutch::unpack
