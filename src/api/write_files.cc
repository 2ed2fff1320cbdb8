// Files that a user of the library has written, as requests to the sandbox's file server.
#include "api/write_files.h"

#include "base/text.h"

namespace hutch::api {

namespace {

Result<wire::FilePlace> place_of(const std::string& path, const std::string& working_directory) {
  wire::FilePlace place;
  if (path.contains('\0')) return fail(Error::invalid("a path cannot hold a NUL byte"));
  std::string below = path;
  if (path.starts_with(cat({working_directory, "/"}))) {
    below = path.substr(working_directory.size() + 1);
  } else if (path.starts_with('/')) {
    place.root = "/";
  }
  for (const std::string_view name : split(below, '/')) {
    if (name == "..") return fail(Error::invalid(cat({printable(path), ": a path with \"..\" is refused"})));
    if (name.empty() || name == ".") continue;
    place.path += cat({place.path.empty() ? "" : "/", name});
  }
  if (place.path.empty()) return fail(Error::invalid(cat({"\"", printable(path), "\" names no file"})));
  return place;
}

}  // namespace

Result<std::vector<wire::WriteFile>> write_requests(const std::vector<FileInput>& files,
                                                    const std::string& working_directory) {
  std::vector<wire::WriteFile> requests;
  for (const FileInput& file : files) {
    wire::WriteFile request;
    request.place = TRY(place_of(file.path, working_directory));
    if (file.content.size() > wire::kFileChunkBytes) {
      return fail(Error::invalid(cat({printable(file.path), ": more than 4 MiB; write it by a command's stdin"})));
    }
    if (file.mode && (*file.mode < 1 || *file.mode > 0777)) {
      return fail(Error::invalid(cat({printable(file.path), ": its mode has to be 0001 to 0777"})));
    }
    request.content = file.content;
    if (file.mode) request.mode = file.mode;
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace hutch::api
