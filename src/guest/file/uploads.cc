// Files that come in pieces.
#include "guest/file/uploads.h"

#include <utility>

#include "guest/file/place.h"

namespace hutch::guest {

Result<wire::FileReply> Uploads::begin(const wire::BeginUpload& request) {
  if (files_.contains(request.id)) return fail(Error::invalid("there is an upload of that id"));
  if (files_.size() == wire::kUploadsMax) {
    return fail({Code::kConflict, 0, "too many files are being written at once; try again when one is done"});
  }
  auto file = Replacement::begin(request.place, request.mode, std::nullopt);
  if (!file) return fail(explained(std::move(file).error(), request.place));
  files_.emplace(request.id, std::move(*file));
  return wire::FileDone{};
}

Result<wire::FileReply> Uploads::append(const wire::AppendUpload& request) {
  Replacement* file = TRY(find(request.id));
  const Status appended = file->append(request.bytes);
  if (appended) return wire::FileDone{};
  Error error = explained(appended.error(), file->place());
  files_.erase(request.id);  // what lacks a piece is never put
  return fail(std::move(error));
}

Result<wire::FileReply> Uploads::end(const wire::EndUpload& request, Unsettled& unsettled) {
  Replacement* file = TRY(find(request.id));
  if (request.then == wire::EndUpload::Then::kDrop) {
    files_.erase(request.id);
    return wire::FileDone{};
  }
  const wire::FilePlace place = file->place();
  auto written = file->put(unsettled);
  files_.erase(request.id);
  if (!written) return fail(explained(std::move(written).error(), place));
  return *written;
}

Result<Replacement*> Uploads::find(std::uint64_t id) {
  const auto found = files_.find(id);
  if (found == files_.end()) return fail(Error::not_found("the file that is being written is gone; begin again"));
  return &found->second;
}

}  // namespace hutch::guest
