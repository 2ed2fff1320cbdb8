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

Result<std::optional<Whiteout>> whiteout_of(const std::string& name) {
  static constexpr std::string_view kMark = ".wh.";
  static constexpr std::string_view kOpaque = ".wh..wh..opq";
  const auto refuse = [&] {
    return fail(
        Error::invalid(cat({"the layer's entry \"", printable(name), "\" takes away nothing that has a name"})));
  };
  const std::string directory = directory_of(name);
  if (directory.starts_with(kMark) || directory.contains("/.wh.")) return refuse();
  const std::string last = last_part(name);
  if (!last.starts_with(kMark)) return std::optional<Whiteout>();
  if (last == kOpaque) return Whiteout{Whiteout::What::kContent, directory};
  const std::string what = last.substr(kMark.size());
  // The other names with two marks are a file system's own book-keeping (aufs), and no names of files.
  if (what.empty() || what == "." || what == ".." || what.starts_with(kMark)) return refuse();
  return Whiteout{Whiteout::What::kEntry, directory.empty() ? what : cat({directory, "/", what})};
}

}  // namespace hutch::unpack
