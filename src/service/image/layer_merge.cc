// One archive of an image's layers.
#include "service/image/layer_merge.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace hutch::service {

namespace {

constexpr std::size_t kTarBlock = 512;
constexpr std::uint64_t kExtensionMax = 1 << 20;
constexpr std::uint64_t kMergedEntriesMax = 2'000'000;
constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

// A field's text, up to its end or the first zero.
std::string_view field(std::string_view block, std::size_t at, std::size_t size) {
  const std::string_view bytes = block.substr(at, size);
  return bytes.substr(0, bytes.find('\0'));
}

Error no_archive(std::string_view why) { return Error::invalid(cat({"is no archive of a layer's: ", why})); }

// Octal with spaces round it, or with its first bit set a binary number of the rest.
Result<std::uint64_t> number(std::string_view bytes) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(bytes.front()) & 0x80) != 0) {
    for (const char byte : bytes.substr(bytes.size() - 8)) value = value << 8 | static_cast<unsigned char>(byte);
    if (value >> 63 == 0) return value;
    return fail(no_archive("a size that no file has"));
  }
  const std::size_t begin = bytes.find_first_not_of(' ');
  const std::string_view digits = begin == bytes.npos ? std::string_view() : bytes.substr(begin);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (read.ec != std::errc() && !digits.empty() && digits.front() != '\0') return fail(no_archive("not a number"));
  return value;
}

bool sum_is_right(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    sum += i >= 148 && i < 156 ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(block[i]);
  }
  const auto said = number(block.substr(148, 8));
  return said && *said == sum;
}

// Without "." and a "/" at either end; an error where it leads out.
Result<std::string> clean_path(std::string_view path) {
  std::string cleaned;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return fail(no_archive(cat({printable(path, 200), " leads out of it"})));
    cleaned.append(cleaned.empty() ? "" : "/").append(part);
  }
  return cleaned;
}

std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

Result<std::uint64_t> decimal_size(const std::string& text) {
  std::uint64_t size = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && size >> 63 == 0) return size;
  return fail(no_archive("a size that no file has"));
}

// "LENGTH KEYWORD=VALUE\n", the length being that of all of it.
std::optional<std::string> pax_value(std::string_view records, std::string_view keyword) {
  std::optional<std::string> found;
  while (!records.empty()) {
    std::size_t length = 0;
    const auto read = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(read.ptr - records.data());
    if (read.ec != std::errc() || length <= digits + 1 || length > records.size()) return found;
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    if (record.starts_with(keyword) && record.substr(keyword.size()).starts_with('=')) {
      found = std::string(record.substr(keyword.size() + 1));
    }
    records.remove_prefix(length);
  }
  return found;
}

}  // namespace

Status LayerMerge::add(std::string_view bytes) {
  while (!bytes.empty() && !is_over_) {
    if (buffer_.empty() && bytes.size() >= kTarBlock) {
      TRY(take_block(bytes.substr(0, kTarBlock)));
      bytes.remove_prefix(kTarBlock);
      continue;
    }
    const std::string_view more = bytes.substr(0, kTarBlock - buffer_.size());
    buffer_.append(more);
    bytes.remove_prefix(more.size());
    if (buffer_.size() == kTarBlock) TRY(take_block(std::exchange(buffer_, {})));
  }
  return {};
}

Status LayerMerge::end_layer() {
  const bool is_cut = !buffer_.empty() || left_ != 0 || !held_.empty();
  if (is_cut) return fail(no_archive("it ends in the middle"));
  is_over_ = false;
  names_.merge(own_names_);
  closed_.merge(own_closed_);
  gone_.merge(own_gone_);
  own_names_.clear();
  own_closed_.clear();
  own_gone_.clear();
  return {};
}

Status LayerMerge::end() { return put_(std::string(2 * kTarBlock, '\0')); }

Status LayerMerge::take_block(std::string_view block) {
  if (left_ == 0) return take_header(block);
  const std::uint64_t of_data = std::min<std::uint64_t>(left_, kTarBlock);
  left_ -= of_data;
  if (data_ == Data::kPassed) return put_(block);
  if (data_ == Data::kDropped) return {};
  held_.append(block);
  extension_.append(block.substr(0, of_data));
  return left_ == 0 ? take_extension() : Status();
}

Status LayerMerge::take_header(std::string_view block) {
  if (block.find_first_not_of('\0') == block.npos) {
    is_over_ = held_.empty();
    return is_over_ ? Status() : Status(fail(no_archive("it ends in the middle")));
  }
  if (!sum_is_right(block)) return fail(no_archive("a header is damaged"));
  const char type = block[156];
  const std::uint64_t size = TRY(number(block.substr(124, 12)));
  if (type == 'x' || type == 'L' || type == 'K') {
    if (size == 0 || size > kExtensionMax) return fail(no_archive("a header is damaged"));
    held_.append(block);
    extension_.clear();
    extension_type_ = type;
    left_ = size;
    data_ = Data::kOfExtension;
    return {};
  }
  if (type == 'g') {
    // About all that follows: comments, as git writes them.
    left_ = size;
    data_ = Data::kDropped;
    return {};
  }
  const bool is_posix = block.substr(257, 6) == std::string_view("ustar\0", 6);
  const std::string_view prefix = is_posix ? field(block, 345, 155) : std::string_view();
  std::string name(field(block, 0, 100));
  if (!prefix.empty()) name = cat({prefix, "/", name});
  Entry entry{.type = type == '\0' || type == '7' ? '0' : type, .path = {}, .target = {}, .size = size};
  entry.path = TRY(clean_path(long_path_.empty() ? name : std::exchange(long_path_, {})));
  const std::string target = std::exchange(long_target_, {});
  if (type == '1') entry.target = TRY(clean_path(target.empty() ? field(block, 157, 100) : target));
  if (!long_size_.empty()) entry.size = TRY(decimal_size(std::exchange(long_size_, {})));
  return begin_entry(std::move(entry), block);
}

Status LayerMerge::take_extension() {
  const std::string bytes = std::exchange(extension_, {});
  if (extension_type_ == 'x') {
    if (bytes.contains("GNU.sparse.")) return fail(no_archive("it has files with holes"));
    long_path_ = pax_value(bytes, "path").value_or(long_path_);
    long_target_ = pax_value(bytes, "linkpath").value_or(long_target_);
    long_size_ = pax_value(bytes, "size").value_or(long_size_);
    return {};
  }
  const std::string text(field(bytes, 0, bytes.size()));
  (extension_type_ == 'L' ? long_path_ : long_target_) = text;
  return {};
}

Status LayerMerge::begin_entry(Entry entry, std::string_view block) {
  static constexpr std::string_view kKnown = "0123456";
  if (!kKnown.contains(entry.type)) {
    return fail(no_archive(cat({printable(entry.path, 200), " is of a kind that is not known"})));
  }
  if (++entries_ > kMergedEntriesMax)
    return fail(no_archive(cat({"more than ", std::to_string(kMergedEntriesMax), " entries"})));
  if (entry.type != '0' && entry.size != 0) return fail(no_archive("a link or a directory with data"));
  const bool kept = TRY(is_kept(entry));
  const std::string before = std::exchange(held_, {});
  left_ = entry.size;
  data_ = kept ? Data::kPassed : Data::kDropped;
  if (!kept) return {};
  TRY(put_(before));
  return put_(block);
}

// What it says about layers below is kept as well.
Result<bool> LayerMerge::is_kept(const Entry& entry) {
  const std::string_view directory = parent_path(entry.path);
  const std::string_view name =
      directory.empty() ? std::string_view(entry.path) : std::string_view(entry.path).substr(directory.size() + 1);
  if (name == kOpaque) {
    own_closed_.emplace(directory);
    return false;
  }
  if (name.starts_with(kWhiteout)) {
    const std::string_view gone = name.substr(kWhiteout.size());
    if (gone.empty() || gone == "." || gone == "..") return fail(no_archive("it takes away what has no name"));
    own_gone_.insert(directory.empty() ? std::string(gone) : cat({directory, "/", gone}));
    return false;
  }
  const bool is_directory = entry.type == '5';
  const bool is_again = own_names_.contains(entry.path);
  if (is_again && !is_directory) return fail(no_archive(cat({printable(entry.path, 200), " is there twice"})));
  if (is_again || names_.contains(entry.path) || is_hidden(entry.path)) return false;
  if (entry.type == '1' && !own_names_.contains(entry.target)) {
    return fail(no_archive(cat({printable(entry.path, 200), " is another name of ", printable(entry.target, 200),
                                ", which is not in this layer or was replaced by one above"})));
  }
  own_names_.insert(entry.path);
  if (!is_directory) own_closed_.insert(entry.path);
  return true;
}

bool LayerMerge::is_hidden(std::string_view path) const {
  if (gone_.contains(path)) return true;
  for (std::string_view up = path; !up.empty();) {
    up = parent_path(up);
    if (gone_.contains(up) || closed_.contains(up)) return true;
  }
  return false;
}

}  // namespace hutch::service
