// What has changed in a directory of a sandbox between two looks at it, on every backend.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/files.h"

namespace hutch::server {

enum class FileChange { kCreated, kWritten, kRemoved, kRenamed, kMode };

struct WatchEvent {
  std::string name;  // relative to what is watched
  FileChange change = FileChange::kCreated;
  std::optional<wire::FileStat> stat{};  // of what is there
  bool operator==(const WatchEvent&) const = default;
};

using Listing = std::map<std::string, wire::FileStat>;

// A name that is gone while another with its file is new was renamed: the old name is told of as renamed, the new one
// as created. Pure.
std::vector<WatchEvent> changes_between(const Listing& before, const Listing& after);

// Why a listing is not whole, and nothing where it is.
Status check_whole(const wire::FileEntries& listing, std::string_view instead);

class DirectoryWatch {
 public:
  using Ask = std::function<Result<wire::FileReply>(const wire::FileRequest& request)>;
  enum class Depth { kDirectory, kTree };
  // An error where it is no directory, or holds too much.
  static Result<DirectoryWatch> begin(const Ask& ask, wire::FilePlace place, Depth depth);

  // Since the last look.
  Result<std::vector<WatchEvent>> look(const Ask& ask);

  std::uint64_t bytes_kept() const { return bytes_; }  // of what it has seen

 private:
  DirectoryWatch(wire::FilePlace place, Depth depth) : place_(std::move(place)), depth_(depth) {}
  Result<Listing> list(const Ask& ask);

  wire::FilePlace place_;
  Depth depth_;
  Listing seen_;
  std::uint64_t bytes_ = 0;
};

}  // namespace hutch::server
