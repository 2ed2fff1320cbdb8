// A tree that comes from the host, entry by entry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "guest/file/root.h"
#include "wire/files.h"

namespace hutch::guest {

// What is not put is removed, at the latest with this.
class IncomingTree {
 public:
  IncomingTree() = default;
  IncomingTree(const IncomingTree&) = delete;
  IncomingTree& operator=(const IncomingTree&) = delete;
  ~IncomingTree() { drop(); }

  Result<wire::FileReply> begin(const wire::BeginTree& request);
  Result<wire::FileReply> add(const wire::AddToTree& request);
  Result<wire::FileReply> end(const wire::EndTree& request);

  // Of the entry that was added last, where it is a regular file; else -1.
  int file() const { return file_.get(); }

 private:
  struct Entry {
    std::string path;  // below the root
    std::uint32_t mode = 0;
    std::int64_t modified_ns = 0;
  };
  Status add_entry(const wire::AddToTree& request);
  Status settle_file();
  Status settle_directories();
  Status put();
  void drop();

  std::optional<Root> root_;  // absent: there is none on its way
  wire::FilePlace place_;
  std::string temporary_;
  std::vector<Entry> directories_;  // from the top downwards; they have their modes at the end
  std::string parent_path_;
  UniqueFd parent_;  // the directory of that path, for the next entry in it
  UniqueFd file_;
  Entry file_entry_;
};

}  // namespace hutch::guest
