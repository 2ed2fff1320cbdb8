// Reads objects of git from single files and from packs.
#include "guest/git/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "sys/files/beneath.h"
#include "sys/files/delegate.h"
#include "sys/files/tree.h"
#include "sys/io.h"

namespace hutch::guest {

namespace {

constexpr std::size_t kObjectBytesMax = 8 << 20;
constexpr std::size_t kPartBytes = 64 << 10;
constexpr std::size_t kHeadPartBytes = 512;
constexpr std::size_t kPacksMax = 1024;
constexpr std::size_t kAlternatesMax = 8;
constexpr std::size_t kAlternatesBytesMax = 8 << 10;
constexpr std::size_t kDeltasMax = 512;  // git makes chains of up to 250 (gc.aggressiveDepth)
constexpr int kBlobType = 3;
constexpr int kOffsetDelta = 6;
constexpr int kNamedDelta = 7;

constexpr std::size_t kFanOutAt = 8;
constexpr std::size_t kNamesAt = kFanOutAt + 4 * std::size_t{256};
constexpr std::string_view kIndexStart("\377tOc\0\0\0\2", 8);
constexpr std::uint32_t kIsLarge = 0x80000000;

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// Exactly `size` bytes, or nothing.
std::optional<std::string> exactly(int fd, std::uint64_t at, std::size_t size) {
  auto bytes = sys::read_at(fd, at, size);
  if (!bytes || bytes->size() != size) return std::nullopt;
  return std::move(*bytes);
}

std::optional<UniqueFd> regular_file(int directory, const std::string& name) {
  auto file = sys::open_at(directory, name, O_RDONLY, 0);
  const auto what = file ? sys::look_at(file->get()) : Result<sys::Resolved>(sys::Resolved());
  if (!file || !what || !S_ISREG(what->mode)) return std::nullopt;
  return std::move(*file);
}

// The stream of RFC 1950 that begins at `at`, up to `size_max` bytes of its content; or what begins with the first
// `enough` bytes.
std::optional<std::string> inflated(int fd, std::uint64_t at, std::size_t size_max,
                                    std::size_t enough = kObjectBytesMax + 1) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  std::string out;
  std::array<char, kPartBytes> part{};
  int state = Z_OK;
  while (state == Z_OK && out.size() < enough) {
    const auto in = sys::read_at(fd, at, enough < kPartBytes ? kHeadPartBytes : kPartBytes);
    if (!in || in->empty()) break;
    at += in->size();
    std::string bytes = *in;
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(part.data());
      stream.avail_out = static_cast<uInt>(part.size());
      state = inflate(&stream, Z_NO_FLUSH);
      out.append(part.data(), part.size() - stream.avail_out);
    } while (state == Z_OK && out.size() <= size_max && (stream.avail_in > 0 || stream.avail_out == 0));
    if (state == Z_BUF_ERROR) state = Z_OK;  // it wants more input
    if (out.size() > size_max) break;
  }
  inflateEnd(&stream);
  if (out.size() > size_max || (state != Z_STREAM_END && out.size() < enough)) return std::nullopt;
  return out;
}

// A number of seven bits in each byte, the lowest first.
std::optional<std::uint64_t> take_size(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

// The bytes of `command` that `mask` has a bit for, the lowest first.
std::optional<std::uint64_t> take_masked(std::string_view& bytes, unsigned mask) {
  std::uint64_t value = 0;
  for (int shift = 0; mask != 0; mask >>= 1, shift += 8) {
    if ((mask & 1) == 0) continue;
    if (bytes.empty()) return std::nullopt;
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes.front())) << shift;
    bytes.remove_prefix(1);
  }
  return value;
}

std::optional<std::string> with_delta(std::string_view base, std::string_view delta) {
  static constexpr std::uint64_t kDefaultSize = 0x10000;
  const auto base_size = take_size(delta);
  const auto size = take_size(delta);
  if (!base_size || !size || *base_size != base.size() || *size > kObjectBytesMax) return std::nullopt;
  std::string out;
  out.reserve(*size);
  while (!delta.empty()) {
    const auto command = static_cast<unsigned char>(delta.front());
    delta.remove_prefix(1);
    if ((command & 0x80) == 0) {
      if (command == 0 || command > delta.size()) return std::nullopt;
      out.append(delta.substr(0, command));
      delta.remove_prefix(command);
    } else {
      const auto at = take_masked(delta, command & 0x0fU);
      auto count = take_masked(delta, (command >> 4) & 0x07U);
      if (!at || !count) return std::nullopt;
      if (*count == 0) count = kDefaultSize;
      if (*at > base.size() || *count > base.size() - *at) return std::nullopt;
      out.append(base.substr(*at, *count));
    }
    if (out.size() > *size) return std::nullopt;
  }
  return out.size() == *size ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<plan::GitObjectKind> kind_of_type(int type) {
  switch (type) {
    case 1: return plan::GitObjectKind::kCommit;
    case 2: return plan::GitObjectKind::kTree;
    case kBlobType: return plan::GitObjectKind::kBlob;
    case 4: return plan::GitObjectKind::kTag;
    default: return std::nullopt;
  }
}

}  // namespace

GitStore::GitStore(UniqueFd objects) {
  directories_.push_back(std::move(objects));
  add_alternates();
}

// A line each: a directory of objects, a relative one from the directory that names it. git also reads quoted ones.
void GitStore::add_alternates() {
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    const auto there = sys::look_at_name(directories_[i].get(), "info/alternates");
    if (!there && there.error().sys_errno == ENOENT) continue;
    const auto file = regular_file(directories_[i].get(), "info/alternates");
    const auto text = file ? sys::read_at(file->get(), 0, kAlternatesBytesMax + 1) : Result<std::string>(std::string());
    if (!file || !text || text->size() > kAlternatesBytesMax) is_whole_ = false;
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      if (line.empty() || line.starts_with('#')) continue;
      const bool is_plain = !line.starts_with('"') && directories_.size() <= kAlternatesMax;
      auto found = is_plain ? sys::open_at(directories_[i].get(), std::string(line), O_PATH | O_DIRECTORY, 0)
                            : Result<UniqueFd>(fail(Error::not_found("a directory of objects")));
      if (found) directories_.push_back(std::move(*found));
      if (!found) is_whole_ = false;
    }
  }
}

plan::GitObjectAnswer GitStore::read(std::string_view name, Copies copies) {
  using enum plan::GitObjectAnswer::Found;
  std::vector<plan::GitObjectAnswer> all = copies_of(name, copies);
  // git may have made a pack since.
  const std::size_t packs = packs_.size();
  if (all.empty() || copies == Copies::kAllAlike) find_packs();
  if (packs != packs_.size()) all = copies_of(name, copies);
  if (all.empty()) return {is_whole_ ? kNo : kUnreadable, {}};
  const auto differs = [&](const plan::GitObjectAnswer& one) {
    return one.found != kYes || one.object.kind != all.front().object.kind ||
           one.object.bytes != all.front().object.bytes;
  };
  if (copies == Copies::kAllAlike && std::ranges::any_of(all, differs)) return {kUnreadable, {}};
  const auto found = std::ranges::find(all, kYes, &plan::GitObjectAnswer::found);
  return found != all.end() ? std::move(*found) : plan::GitObjectAnswer{kUnreadable, {}};
}

// With kFirst none after the first that can be read.
std::vector<plan::GitObjectAnswer> GitStore::copies_of(std::string_view name, Copies copies) {
  using enum plan::GitObjectAnswer::Found;
  std::vector<plan::GitObjectAnswer> all;
  const auto add = [&](std::optional<plan::GitObject> object) {
    const bool is_read = object.has_value();
    all.push_back(is_read ? plan::GitObjectAnswer{kYes, std::move(*object)} : plan::GitObjectAnswer{kUnreadable, {}});
    return is_read && copies == Copies::kFirst;
  };
  const std::string hex = to_hex(name);
  const std::string path = cat({hex.substr(0, 2), "/", hex.substr(2)});
  for (const UniqueFd& directory : directories_) {
    const auto file = regular_file(directory.get(), path);
    if (file && add(read_single(file->get()))) return all;
  }
  for (const Pack& pack : packs_) {
    const auto at = place_of(pack, name);
    if (!at) continue;
    auto raw = raw_at(pack, *at, {name.size(), 0});
    const auto kind = raw ? kind_of_type(raw->type) : std::nullopt;
    if (add(kind ? std::optional(plan::GitObject{*kind, std::move(raw->bytes)}) : std::nullopt)) return all;
  }
  return all;
}

std::optional<plan::GitObject> GitStore::read_single(int file) {
  static constexpr std::string_view kBlobHead = "blob ";
  const auto head = inflated(file, 0, kObjectBytesMax, kBlobHead.size());
  if (!head) return std::nullopt;
  if (head->starts_with(kBlobHead)) return plan::GitObject{plan::GitObjectKind::kBlob, {}};
  const auto whole = inflated(file, 0, kObjectBytesMax);
  if (!whole) return std::nullopt;
  const std::size_t zero = whole->find('\0');
  const std::size_t space = whole->find(' ');
  if (zero == whole->npos || space > zero) return std::nullopt;
  const std::string_view word = std::string_view(*whole).substr(0, space);
  const int type = word == "commit" ? 1 : word == "tree" ? 2 : word == "tag" ? 4 : 0;
  const auto kind = kind_of_type(type);
  return kind ? std::optional(plan::GitObject{*kind, whole->substr(zero + 1)}) : std::nullopt;
}

// git finds the objects of a pack without an index of its own by the one of several packs.
void GitStore::find_packs() {
  static constexpr std::string_view kPack = ".pack";
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    const auto place = sys::open_listing_at(directories_[i].get(), "pack");
    if (!place && place.error().sys_errno == ENOENT) continue;
    const auto names = place ? sys::names_in(place->get(), "pack") : Result<std::vector<sys::TreeEntry>>();
    if (!place || !names) is_whole_ = false;
    if (!place || !names) continue;
    for (const sys::TreeEntry& entry : *names) {
      if (!entry.name.ends_with(kPack)) continue;
      const std::string index = cat({entry.name.substr(0, entry.name.size() - kPack.size()), ".idx"});
      const std::string known = cat({std::to_string(i), "/", index});
      if (std::ranges::find(pack_names_, known) != pack_names_.end()) continue;
      if (add_pack(place->get(), index) == Added::kNo) is_whole_ = false;
      pack_names_.push_back(known);
    }
  }
}

GitStore::Added GitStore::add_pack(int directory, const std::string& name) {
  auto index = packs_.size() < kPacksMax ? regular_file(directory, name) : std::nullopt;
  auto data = regular_file(directory, cat({name.substr(0, name.size() - 4), ".pack"}));
  if (!index || !data) return Added::kNo;
  const auto start = exactly(index->get(), 0, kNamesAt);
  if (!start || !start->starts_with(kIndexStart)) return Added::kNo;
  Pack pack{std::move(*index), std::move(*data), 0, {}};
  for (std::size_t i = 0; i < 256; ++i) {
    const auto count = static_cast<std::uint32_t>(big_endian(std::string_view(*start).substr(kFanOutAt + 4 * i, 4)));
    if (!pack.fan_out.empty() && count < pack.fan_out.back()) return Added::kNo;
    pack.fan_out.push_back(count);
  }
  pack.count = pack.fan_out.back();
  packs_.push_back(std::move(pack));
  return Added::kYes;
}

std::optional<std::uint64_t> GitStore::place_of(const Pack& pack, std::string_view name) {
  const auto first = static_cast<unsigned char>(name.front());
  std::uint64_t low = first == 0 ? 0 : pack.fan_out[first - 1];
  std::uint64_t high = pack.fan_out[first];
  const std::size_t size = name.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto there = exactly(pack.index.get(), kNamesAt + middle * size, size);
    if (!there) return std::nullopt;
    if (*there == name) {
      const std::uint64_t offsets = kNamesAt + std::uint64_t{pack.count} * (size + 4);
      const auto offset = exactly(pack.index.get(), offsets + 4 * middle, 4);
      if (!offset) return std::nullopt;
      const std::uint64_t small = big_endian(*offset);
      if ((small & kIsLarge) == 0) return small;
      const std::uint64_t large = offsets + 4 * std::uint64_t{pack.count} + 8 * (small & ~std::uint64_t{kIsLarge});
      const auto whole = exactly(pack.index.get(), large, 8);
      return whole ? std::optional(big_endian(*whole)) : std::nullopt;
    }
    *there < name ? low = middle + 1 : high = middle;
  }
  return std::nullopt;
}

std::optional<GitStore::Raw> GitStore::raw_of(std::string_view name, std::size_t depth) {
  for (const Pack& pack : packs_) {
    const auto at = place_of(pack, name);
    if (!at) continue;
    return raw_at(pack, *at, {name.size(), depth});
  }
  return std::nullopt;
}

// A chain of deltas, each the difference from the next, is followed to its base, then applied from there.
std::optional<GitStore::Raw> GitStore::raw_at(const Pack& pack, std::uint64_t at, const Chain& chain) {
  static constexpr std::size_t kHeadBytes = 64;
  std::vector<std::string> deltas;
  std::size_t held = 0;
  std::optional<Raw> base;
  while (!base) {
    const auto head = sys::read_at(pack.data.get(), at, kHeadBytes);
    if (!head || head->empty() || chain.length + deltas.size() > kDeltasMax) return std::nullopt;
    std::string_view left = *head;
    const int type = (static_cast<unsigned char>(left.front()) >> 4) & 0x07;
    while (!left.empty() && (static_cast<unsigned char>(left.front()) & 0x80) != 0) left.remove_prefix(1);
    if (left.empty()) return std::nullopt;
    left.remove_prefix(1);
    std::uint64_t back = 0;
    std::string named;
    if (type == kOffsetDelta) {
      for (bool more = true, first = true; more; first = false) {
        if (left.empty() || back > at) return std::nullopt;
        const auto byte = static_cast<unsigned char>(left.front());
        left.remove_prefix(1);
        back = first ? byte & 0x7fU : (back + 1) << 7 | (byte & 0x7fU);
        more = (byte & 0x80) != 0;
      }
      if (back == 0 || back > at) return std::nullopt;
    }
    if (type == kNamedDelta) {
      if (left.size() < chain.name_bytes) return std::nullopt;
      named = left.substr(0, chain.name_bytes);
      left.remove_prefix(chain.name_bytes);
    }
    // Only the kind of a blob is asked for, whatever its differences are.
    if (type == kBlobType) return Raw{type, {}};
    auto bytes = inflated(pack.data.get(), at + (head->size() - left.size()), kObjectBytesMax);
    if (!bytes) return std::nullopt;
    held += bytes->size();
    if (held > 4 * kObjectBytesMax) return std::nullopt;
    if (type != kOffsetDelta && type != kNamedDelta) {
      base = Raw{type, std::move(*bytes)};
      break;
    }
    deltas.push_back(std::move(*bytes));
    if (type == kNamedDelta) {
      base = raw_of(named, chain.length + deltas.size());
      if (!base || base->type == kBlobType) return base;
      break;
    }
    at -= back;
  }
  for (auto delta = deltas.rbegin(); delta != deltas.rend(); ++delta) {
    auto whole = with_delta(base->bytes, *delta);
    if (!whole) return std::nullopt;
    base->bytes = std::move(*whole);
  }
  return base;
}

}  // namespace hutch::guest
