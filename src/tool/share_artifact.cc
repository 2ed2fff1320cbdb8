// share_artifact: a copy of a file, or a text, in the directory of what the agent hands out.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/sha256.h"
#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/random_name.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

constexpr std::size_t kNameBytesMax = 255;  // NAME_MAX
constexpr std::chrono::seconds kCopyTimeout{120};
constexpr std::uint64_t kSharedBytesMax = 64ULL << 30;
constexpr std::size_t kDescriptionCharacters = 2000;  // of what is recorded

std::expected<std::string, Envelope> clean_name(std::string_view field, std::string_view given);
std::string_view type_of(std::string_view name);
// What lies at the target by then.
struct Content {
  std::uint64_t size = 0;
  std::string sha256;
};
Result<Content> share_file(const Call& call, const Located& source, const wire::FilePlace& target);
Status copy_large(Place& place, const Located& source, const wire::FilePlace& target);
Status move_onto(Place& place, const wire::FilePlace& part, const wire::FilePlace& target);
Result<Content> share_text(Place& place, const std::string& content, const wire::FilePlace& target);
Content content_of(std::string_view bytes);
Result<Content> read_back(const Call& call, const wire::FilePlace& target);
Envelope shared(const Call& call, const std::string& name, const Content& content);

}  // namespace

Envelope share_artifact(const Call& call) {
  const Arguments& arguments = call.arguments;
  if (!arguments.has("path") && !arguments.has("content")) {
    return bad_argument("path",
                        "At least one of `path` or `content` must be provided. Share a file of the sandbox with "
                        "`path`, or a text with `content` and `filename`.",
                        "a file of the sandbox");
  }
  if (arguments.has("path") && arguments.has("content")) {
    return bad_argument("content", "Give either `path` or `content`, not both.", "nothing beside `path`");
  }
  if (!arguments.has("path") && !arguments.has("filename")) {
    return bad_argument("filename", "`filename` is required when using `content` mode.", "a file name");
  }
  Place& place = call.context.place;
  const std::string_view named = arguments.has("filename") ? "filename" : "path";
  const std::expected<std::string, Envelope> name = clean_name(named, arguments.text(named));
  if (!name) return name.error();
  const wire::FilePlace target{place.layout().output, *name};
  Result<Content> content = Content();
  if (arguments.has("path")) {
    const std::expected<Located, Envelope> source = locate(call, "path");
    if (!source) return source.error();
    content = share_file(call, *source, target);
  } else {
    content = share_text(place, arguments.text("content"), target);
  }
  if (!content) {
    const std::string& asked = arguments.has("path") ? arguments.text("path") : *name;
    return failed(cat({"Failed to share `", printable(asked), "`"}), content.error(), Retry::kNo);
  }
  return shared(call, *name, *content);
}

namespace {

// The last component, with either kind of separator. People and their programs see the name: one that begins with "-"
// would be an option to them, and escapes change what a terminal shows.
std::expected<std::string, Envelope> clean_name(std::string_view field, std::string_view given) {
  std::string name(given);
  while (field == "path" && name.size() > 1 && name.ends_with('/')) name.pop_back();
  name = name.substr(name.find_last_of(field == "path" ? "/" : "/\\") + 1);
  if (name.starts_with('-') || printable(name) != name) {
    return std::unexpected(bad_argument(
        field,
        fmt::format("Argument `{}` begins with `-`, or holds control characters. Got `{}`.", field, printable(given)),
        "a plain file name"));
  }
  if (!name.empty() && name != "." && name != ".." && name != "~" && name.size() <= kNameBytesMax) return name;
  return std::unexpected(bad_argument(
      field, fmt::format("Argument `{}` names no file. Got `{}`.", field, printable(given)), "the name of a file"));
}

Result<Content> share_file(const Call& call, const Located& source, const wire::FilePlace& target) {
  Place& place = call.context.place;
  // Reading it says as well that it is a regular file, and the kernel that it lies below its root.
  auto content = TRY(ask<wire::FileContent>(place, wire::ReadFile{source.place, 0, wire::kFileChunkBytes}));
  if (content.stat.version.size > kSharedBytesMax) return fail(Error::invalid("it has more than 64 GiB"));
  if (source.absolute == cat({target.root, "/", target.path})) return read_back(call, target);
  const std::uint32_t mode = content.stat.mode & 0755;
  if (content.stat.version.size <= content.bytes.size()) {
    Content given = content_of(content.bytes);
    TRY(ask<wire::FileWritten>(place, wire::WriteFile{target, std::move(content.bytes), mode, {}}));
    return given;
  }
  TRY(copy_large(place, source, target));
  return read_back(call, target);
}

// What does not fit into a message is copied inside, beside its place, and takes that at once.
Status copy_large(Place& place, const Located& source, const wire::FilePlace& target) {
  const wire::FilePlace part{target.root, cat({".share-", random_name(), ".part"})};
  const Command copy{.arguments = {"cp", "--", source.absolute, cat({part.root, "/", part.path})},
                     .cwd = target.root,
                     .timeout = kCopyTimeout};
  const Result<CommandEnd> end = place.run(copy);
  Status status;
  if (!end) {
    status = fail(end.error());
  } else if (end->exit_code != 0) {
    status = fail(Error{Code::kSystem, 0, cat({"cp: ", excerpt(end->error, kErrorCharacters)})});
  } else {
    status = move_onto(place, part, target);
  }
  if (!status) {
    const auto removed = ask<wire::FileRemoved>(place, wire::RemoveFile{part});
    if (!removed) return fail(Error(status.error()).with_context("and its part could not be removed"));
  }
  return status;
}

// A directory of that name would take the file into it.
Status move_onto(Place& place, const wire::FilePlace& part, const wire::FilePlace& target) {
  const Result<wire::FileStat> stat = ask<wire::FileStat>(place, wire::StatFile{target});
  if (stat && stat->kind == wire::FileKind::kDirectory) {
    return fail(Error::invalid("there is a directory of that name among what is shared"));
  }
  TRY(ask<wire::FileMoved>(place, wire::MoveFile{part, target}));
  return {};
}

Result<Content> share_text(Place& place, const std::string& content, const wire::FilePlace& target) {
  TRY(ask<wire::FileWritten>(place, wire::WriteFile{target, content, 0644, {}}));
  return content_of(content);
}

Content content_of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return {bytes.size(), sum.finish()};
}

// To its end, wherever that is by then: a program inside may go on writing, and what is told of is what was read.
Result<Content> read_back(const Call& call, const wire::FilePlace& target) {
  Content content;
  Sha256 sum;
  const auto until = std::chrono::steady_clock::now() + kCopyTimeout;
  for (;;) {
    if (std::chrono::steady_clock::now() > until) return fail(Error{Code::kTimeout, 0, "it takes too long to read"});
    if (call.context.stop.stop_requested()) return fail(Error{Code::kConflict, 0, "the call was cancelled"});
    const auto piece =
        TRY(ask<wire::FileContent>(call.context.place, wire::ReadFile{target, content.size, wire::kFileChunkBytes}));
    if (piece.stat.version.size > kSharedBytesMax) return fail(Error::invalid("it has more than 64 GiB"));
    if (piece.bytes.empty()) break;
    sum.add(piece.bytes);
    content.size += piece.bytes.size();
  }
  content.sha256 = sum.finish();
  return content;
}

Envelope shared(const Call& call, const std::string& name, const Content& content) {
  const std::string& description = call.arguments.text("description");
  const std::string_view type = type_of(name);
  if (call.context.record_artifact) {
    const std::string kept(first_characters(description, kDescriptionCharacters));
    const Status recorded = call.context.record_artifact({name, content.size, content.sha256, std::string(type), kept});
    if (!recorded) return failed(cat({"Failed to record `", printable(name), "`"}), recorded.error(), Retry::kYes);
  }
  std::string text = fmt::format("Artifact shared:\n- Filename: {}\n- Type: {}", printable(name), type);
  if (!description.empty()) text += cat({"\n- Description: ", description});
  Value::Object result = {{"text", std::move(text)},
                          {"filename", name},
                          {"type", type},
                          {"size", content.size},
                          {"sha256", content.sha256},
                          {"path", cat({call.context.place.layout().output, "/", name})}};
  if (!description.empty()) result.emplace("description", description);
  return success(std::move(result));
}

std::string_view type_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kTypes = {
      {{"txt", "text/plain"},        {"log", "text/plain"},      {"md", "text/markdown"},
       {"html", "text/html"},        {"htm", "text/html"},       {"css", "text/css"},
       {"csv", "text/csv"},          {"c", "text/x-c"},          {"h", "text/x-c"},
       {"py", "text/x-python"},      {"sh", "application/x-sh"}, {"js", "text/javascript"},
       {"json", "application/json"}, {"xml", "application/xml"}, {"yaml", "application/yaml"},
       {"pdf", "application/pdf"},   {"zip", "application/zip"}, {"gz", "application/gzip"},
       {"tar", "application/x-tar"}, {"png", "image/png"},       {"jpg", "image/jpeg"},
       {"jpeg", "image/jpeg"},       {"gif", "image/gif"},       {"svg", "image/svg+xml"}}};
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return "application/octet-stream";
  for (const auto& [extension, type] : kTypes) {
    if (name.substr(dot + 1) == extension) return type;
  }
  return "application/octet-stream";
}

}  // namespace

}  // namespace hutch::tool
