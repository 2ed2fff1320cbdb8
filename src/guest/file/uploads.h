// Files that come in pieces, of which several may be on their way at once.
#pragma once

#include <cstdint>
#include <map>

#include "base/result.h"
#include "guest/file/content.h"
#include "wire/files.h"

namespace hutch::guest {

// What is not put is removed, at the latest with this.
class Uploads {
 public:
  Result<wire::FileReply> begin(const wire::BeginUpload& request);
  Result<wire::FileReply> append(const wire::AppendUpload& request);
  Result<wire::FileReply> end(const wire::EndUpload& request, Unsettled& unsettled);

 private:
  Result<Replacement*> find(std::uint64_t id);
  std::map<std::uint64_t, Replacement> files_;
};

}  // namespace hutch::guest
