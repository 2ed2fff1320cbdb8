// One archive of an image's layers, without unpacking any: owners, modes and links are as the layers have them. tar(5),
// pax Interchange Format, OCI image specification "Whiteouts".
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::service {

// Takes the layers from the uppermost one down, each as an archive that is not compressed. What a layer above has
// another of, or has taken away, is left out.
class LayerMerge {
 public:
  // Gets the archive piece by piece.
  using Put = std::function<Status(std::string_view bytes)>;
  explicit LayerMerge(Put put) : put_(std::move(put)) {}

  // Errors: what is no tar, is cut, names something outside, or what cannot be taken without the layers below (a link
  // to a file that a layer above has replaced).
  Status add(std::string_view bytes);
  Status end_layer();
  // After the lowest.
  Status end();

 private:
  struct Entry {
    char type = '0';
    std::string path;
    std::string target;  // of a link
    std::uint64_t size = 0;
  };
  enum class Data { kOfExtension, kPassed, kDropped };

  Status take_block(std::string_view block);
  Status take_header(std::string_view block);
  Status take_extension();
  Status begin_entry(Entry entry, std::string_view block);
  Result<bool> is_kept(const Entry& entry);
  bool is_hidden(std::string_view path) const;

  Put put_;
  std::string buffer_;  // less than a block
  std::string held_;  // blocks that belong to the next entry
  // Of the entry that comes, as extensions before it say.
  std::string long_path_;
  std::string long_target_;
  std::string long_size_;
  std::string extension_;
  char extension_type_ = '\0';
  std::uint64_t left_ = 0;  // of the data
  Data data_ = Data::kDropped;
  bool is_over_ = false;  // the rest of the layer is padding
  std::uint64_t entries_ = 0;

  // Of the layers above.
  std::set<std::string, std::less<>> names_;
  std::set<std::string, std::less<>> closed_;  // nothing below is seen
  std::set<std::string, std::less<>> gone_;
  // Of this one.
  std::set<std::string, std::less<>> own_names_;
  std::set<std::string, std::less<>> own_closed_;
  std::set<std::string, std::less<>> own_gone_;
};

}  // namespace hutch::service
