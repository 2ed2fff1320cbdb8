// Names of packages, by the manager that reads them.
#include "tool/packages.h"

#include <algorithm>

namespace hutch::tool {

namespace {

constexpr std::size_t kPackageNameBytesMax = 214;  // npm's own limit, the longest of all

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Begins with a letter or digit, and goes on with those and `others`.
bool is_made_of(std::string_view text, std::string_view others) {
  if (text.empty() || !is_alphanumeric(text.front())) return false;
  return std::ranges::all_of(text, [&](char c) { return is_alphanumeric(c) || others.find(c) != others.npos; });
}

bool is_npm_package(std::string_view name);
bool is_pip_package(std::string_view name);

}  // namespace

std::string_view name_of(Manager manager) {
  switch (manager) {
    case Manager::kApk: return "apk";
    case Manager::kApt: return "apt-get";
    case Manager::kDnf: return "dnf";
    case Manager::kPip: return "pip";
    case Manager::kNpm: return "npm";
  }
  return "apk";
}

bool is_package(Manager manager, std::string_view name) {
  if (name.size() > kPackageNameBytesMax) return false;
  switch (manager) {
    case Manager::kApk:
      return is_made_of(name, ".+_-=~<>@:");  // name=1.2, name~1.2, name@tag, so:libc
    // name:arch, name=1.2. With '-' at its end apt removes the package, and '+' there is a command too.
    case Manager::kApt:
      return is_made_of(name, ".+-:=~_") && !name.ends_with('-') && (!name.ends_with('+') || name.ends_with("++"));
    case Manager::kDnf: return is_made_of(name, ".+-:_~^");  // name-1:2.3-4.x86_64
    case Manager::kPip: return is_pip_package(name);
    case Manager::kNpm: return is_npm_package(name);
  }
  return false;
}

std::string_view expected_package(Manager manager) {
  switch (manager) {
    case Manager::kApk: return "package names as apk has them, such as `jq` or `jq=1.7.1-r0`";
    case Manager::kApt: return "package names as apt has them, such as `jq`, `jq=1.6-2.1` or `libc6:arm64`";
    case Manager::kDnf: return "package names as dnf has them, such as `jq` or `jq-1.6`";
    case Manager::kPip: return "names of PyPI, such as `requests`, `requests==2.31.0` or `uvicorn[standard]`";
    case Manager::kNpm: return "names of the npm registry, such as `left-pad`, `left-pad@1.3.0` or `@types/node`";
  }
  return "package names";
}

namespace {

// name[extra,...] and version specifiers (PEP 508); no address, no file: those need '/', ':' or a leading dot.
bool is_pip_package(std::string_view name) { return is_made_of(name, "._-[],=<>!~*+"); }

// @scope/name@range. Without '/' beside the scope's and without ':', npm takes it for no repository, file or address.
bool is_npm_package(std::string_view name) {
  if (name.starts_with('@')) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || !is_made_of(name.substr(1, slash - 1), "._-")) return false;
    name.remove_prefix(slash + 1);
  }
  const std::size_t at = name.find('@');
  if (!is_made_of(name.substr(0, at), "._-")) return false;
  if (at == std::string_view::npos) return true;
  const std::string_view range = name.substr(at + 1);
  const auto fits = [](char c) {
    return is_alphanumeric(c) || std::string_view("._-~^<>=*|+").find(c) != std::string_view::npos;
  };
  return !range.empty() && std::ranges::all_of(range, fits);
}

}  // namespace

}  // namespace hutch::tool
