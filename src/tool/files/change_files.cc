// sandbox_write_file, _edit_file, _move, _delete: whole changes or none, by the guest's file server.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/steps.h"

namespace hutch::tool {

namespace {

Envelope too_large(std::string_view field, std::size_t bytes);
Envelope is_root(std::string_view field, const Located& located);
Result<wire::FileContent> read_whole(Place& place, const wire::FilePlace& file);
std::size_t count_places(std::string_view text, std::string_view wanted);
std::string line_count(std::string_view text);

}  // namespace

Envelope write_file(const Call& call) {
  const std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return located.error();
  const std::string& content = call.arguments.text("content");
  if (content.size() > wire::kFileChunkBytes) return too_large("content", content.size());
  const auto written = ask<wire::FileWritten>(call.context.place, wire::WriteFile{located->place, content, {}, {}});
  if (!written) {
    const std::string what = cat({"Failed to write `", printable(call.arguments.text("path")), "`"});
    return failed(what, written.error(), Retry::kYes);
  }
  return success({{"path", located->absolute}, {"size", count_characters(content)}});
}

Envelope edit_file(const Call& call) {
  const std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return located.error();
  const std::string& old_text = call.arguments.text("old_string");
  const std::string& new_text = call.arguments.text("new_string");
  const std::string what = cat({"Failed to edit `", printable(call.arguments.text("path")), "`"});
  const Result<wire::FileContent> content = read_whole(call.context.place, located->place);
  if (!content) return failed(what, content.error(), Retry::kNo);
  const std::size_t places = count_places(content->bytes, old_text);
  if (places == 0) return final_failure(Kind::kExecutionError, "ERROR: old_string not found in file");
  if (places > 1) {
    return final_failure(
        Kind::kExecutionError,
        fmt::format("ERROR: old_string matches {} locations — include more context to make it unique", places));
  }
  std::string changed = content->bytes;
  changed.replace(changed.find(old_text), old_text.size(), new_text);
  if (changed.size() > wire::kFileChunkBytes) return too_large("new_string", changed.size());
  const wire::WriteFile request{located->place, std::move(changed), {}, content->stat.version};
  const auto written = ask<wire::FileWritten>(call.context.place, request);
  if (!written && written.error().code == Code::kConflict) {
    return failure(Kind::kExecutionError, cat({what,
                                               ": somebody else wrote it meanwhile. Nothing was changed; read it "
                                               "again and repeat the edit."}));
  }
  if (!written) return failed(what, written.error(), Retry::kYes);
  return success({{"path", located->absolute},
                  {"summary", cat({"replaced ", line_count(old_text), " with ", line_count(new_text)})}});
}

Envelope move_file(const Call& call) {
  const std::expected<Located, Envelope> source = locate(call, "source");
  if (!source) return source.error();
  const std::expected<Located, Envelope> destination = locate(call, "destination");
  if (!destination) return destination.error();
  if (source->place.path == ".") return is_root("source", *source);
  const auto moved = ask<wire::FileMoved>(call.context.place, wire::MoveFile{source->place, destination->place});
  if (!moved) {
    const std::string what = cat({"Failed to move `", printable(call.arguments.text("source")), "` to `",
                                  printable(call.arguments.text("destination")), "`"});
    return failed(what, moved.error(), Retry::kYes);
  }
  // Where it is now is the guest's word; a place in another root than was asked for is not passed on.
  const bool below = moved->destination.root == destination->place.root &&
                     (destination->place.path == "." || is_within(moved->destination.path, destination->place.path));
  const std::string now = below ? cat({moved->destination.root, "/", moved->destination.path}) : destination->absolute;
  return success({{"source", source->absolute}, {"destination", now}});
}

Envelope delete_file(const Call& call) {
  const std::expected<Located, Envelope> located = locate(call, "path");
  if (!located) return located.error();
  if (located->place.path == ".") return is_root("path", *located);
  const bool recursive = call.arguments.is_set("recursive");
  const auto tree = recursive ? wire::RemoveFile::Tree::kRemove : wire::RemoveFile::Tree::kRefuse;
  const auto removed = ask<wire::FileRemoved>(call.context.place, wire::RemoveFile{located->place, tree});
  if (!removed) {
    const std::string what = cat({"Failed to delete `", printable(call.arguments.text("path")), "`"});
    return failed(what, removed.error(), Retry::kNo);
  }
  Envelope envelope = success({{"deleted", located->absolute}, {"recursive", recursive}});
  if (removed->entries == 0) envelope.warnings.emplace_back("There was nothing of that name.");
  return envelope;
}

namespace {

Envelope too_large(std::string_view field, std::size_t bytes) {
  return bad_argument(
      field, fmt::format("Argument `{}` is too large: a file of {} bytes cannot be written at once.", field, bytes),
      fmt::format("a file of at most {} bytes", wire::kFileChunkBytes));
}

Envelope is_root(std::string_view field, const Located& located) {
  return bad_argument(field,
                      fmt::format("Argument `{}` rejected: `{}` itself stays where it is.", field, located.absolute),
                      "a path below that directory");
}

Result<wire::FileContent> read_whole(Place& place, const wire::FilePlace& file) {
  auto content = TRY(ask<wire::FileContent>(place, wire::ReadFile{file, 0, wire::kFileChunkBytes}));
  if (content.stat.version.size > content.bytes.size()) {
    return fail(Error::invalid(fmt::format("it has {} bytes, and {} at most are edited; use `sandbox_exec`",
                                           content.stat.version.size, wire::kFileChunkBytes)));
  }
  return content;
}

std::size_t count_places(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  // Places that overlap are two: which of them was meant cannot be known.
  for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

// As a person counts: an end of line belongs to the line before it.
std::string line_count(std::string_view text) {
  const auto newlines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  const std::size_t lines = newlines + (text.empty() || text.ends_with('\n') ? 0 : 1);
  return fmt::format("{} line(s)", lines);
}

}  // namespace

}  // namespace hutch::tool
