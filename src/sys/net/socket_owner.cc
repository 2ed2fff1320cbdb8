// Which process has a socket.
#include "sys/net/socket_owner.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/call.h"
#include "sys/files/files.h"

namespace hutch::sys {

namespace {

constexpr std::size_t kTableBytesMax = 4 << 20;
constexpr int kProcessesMax = 4096;
constexpr int kDescriptorsMax = 4096;
constexpr int kLooksMax = 50'000;  // at descriptors of all processes: some 50 ms

std::string table_key(const Endpoint& endpoint);
std::string inode_in(std::string_view table, std::string_view key);
std::vector<std::string> first_names_in(const std::string& directory, int names_max);
std::string link_target(const std::string& path);
bool has_socket(const std::string& process, std::string_view wanted, int& looks_left);
std::vector<std::string> chain_above(std::string name, const std::string& network);
pid_t number_of(std::string_view name) {
  pid_t pid = 0;
  std::from_chars(name.data(), name.data() + name.size(), pid);
  return pid;
}
bool is_number(std::string_view name) { return name.find_first_not_of("0123456789") == std::string_view::npos; }

}  // namespace

std::optional<SocketOwner> find_socket_owner(pid_t member, Transport transport, const Endpoint& local) {
  const std::string member_path = cat({"/proc/", std::to_string(member)});
  const bool v4 = local.address.family == IpFamily::kV4;
  const std::string_view kind = transport == Transport::kTcp ? "tcp" : "udp";
  const auto table = read_file(cat({member_path, "/net/", kind, v4 ? "" : "6"}), kTableBytesMax);
  if (!table) return std::nullopt;
  const std::string inode = inode_in(*table, table_key(local));
  if (inode.empty() || inode == "0") return std::nullopt;
  const std::string own_network = link_target("/proc/self/ns/net");
  const std::string wanted = cat({"socket:[", inode, "]"});
  int looks_left = kLooksMax;
  for (const std::string& name : first_names_in("/proc", kProcessesMax)) {
    const std::string process = "/proc/" + name;
    if (!is_number(name)) continue;
    // A socket's number is the whole kernel's own, so that the namespace need not be the same; most are in this one.
    const std::string network = link_target(process + "/ns/net");
    if (network.empty() || network == own_network || !has_socket(process, wanted, looks_left)) continue;
    return SocketOwner{number_of(name), link_target(process + "/exe"), chain_above(name, network)};
  }
  return std::nullopt;
}

SocketOwner describe_process(pid_t thread) {
  const std::string name = std::to_string(thread);
  const std::string process = cat({"/proc/", name});
  const std::string network = link_target(process + "/ns/net");
  if (network.empty()) return {};
  return SocketOwner{thread, link_target(process + "/exe"), chain_above(name, network)};
}

namespace {

// As the kernel writes an address there: 32 bits at a time in the machine's byte order, in hexadecimal.
std::string table_key(const Endpoint& endpoint) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string key;
  const std::size_t words = endpoint.address.family == IpFamily::kV4 ? 1 : 4;
  for (std::size_t word = 0; word < words; ++word) {
    std::uint32_t value = 0;
    std::memcpy(&value, endpoint.address.bytes.data() + word * sizeof value, sizeof value);
    for (int shift = 28; shift >= 0; shift -= 4) key += kDigits[value >> shift & 0xf];
  }
  key += ':';
  for (int shift = 12; shift >= 0; shift -= 4) key += kDigits[endpoint.port >> shift & 0xf];
  return key;
}

// "  sl  local_address rem_address   st tx_queue:rx_queue tr:tm->when retrnsmt   uid  timeout inode": the tenth column.
std::string inode_in(std::string_view table, std::string_view key) {
  static constexpr int kInodeColumn = 9;
  for (const std::string_view line : split(table, '\n')) {
    std::vector<std::string_view> columns;
    for (const std::string_view column : split(line, ' ')) {
      if (!column.empty()) columns.push_back(column);
    }
    if (columns.size() > kInodeColumn && columns[1] == key) return std::string(columns[kInodeColumn]);
  }
  return {};
}

std::vector<std::string> first_names_in(const std::string& directory, int names_max) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(directory.c_str()), ::closedir);
  if (!opened) return names;
  while (const dirent* entry = ::readdir(opened.get())) {
    if (entry->d_name[0] == '.') continue;
    names.emplace_back(entry->d_name);
    if (std::cmp_greater_equal(names.size(), names_max)) break;
  }
  return names;
}

std::string link_target(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), text, sizeof text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

// Up to the sandbox's init, which is hutch's own and keeps what it runs to itself.
std::vector<std::string> chain_above(std::string name, const std::string& network) {
  static constexpr std::size_t kChainMax = 16;
  static constexpr std::string_view kParent = "\nPPid:\t";
  std::vector<std::string> chain;
  while (chain.size() < kChainMax) {
    const auto status = read_file(cat({"/proc/", name, "/status"}), kTableBytesMax);
    const std::size_t at = status ? status->find(kParent) : std::string::npos;
    if (at == std::string::npos) break;
    const std::size_t begin = at + kParent.size();
    name = status->substr(begin, status->find('\n', begin) - begin);
    const std::string process = "/proc/" + name;
    std::string program = link_target(process + "/ns/net") == network ? link_target(process + "/exe") : std::string();
    if (program.empty()) break;
    chain.push_back(std::move(program));
  }
  return chain;
}

bool has_socket(const std::string& process, std::string_view wanted, int& looks_left) {
  if (looks_left <= 0) return false;
  const std::string directory = process + "/fd";
  const std::vector<std::string> names = first_names_in(directory, std::min(kDescriptorsMax, looks_left));
  looks_left -= static_cast<int>(names.size());
  return std::ranges::any_of(
      names, [&](const std::string& name) { return link_target(cat({directory, "/", name})) == wanted; });
}

}  // namespace

}  // namespace hutch::sys
