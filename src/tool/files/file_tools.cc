// The tools that look at files and change them, as a model is told of them.
#include "base/limits.h"
#include "tool/handlers.h"
#include "tool/table.h"
#include "wire/files.h"

namespace hutch::tool {

namespace {

// The sanitizer has a reason of its own for each thing that can be wrong with a path, the empty one included.
Parameter path(std::string_view name, std::string_view description, Presence presence);
Tool read_file_tool();
Tool list_directory_tool();
Tool search_files_tool();
Tool find_files_tool();
Tool write_file_tool();
Tool edit_file_tool();
Tool move_tool();
Tool delete_tool();
Tool share_artifact_tool();

}  // namespace

std::vector<Tool> file_tools() {
  return {read_file_tool(), list_directory_tool(), search_files_tool(), find_files_tool(),    write_file_tool(),
          edit_file_tool(), move_tool(),           delete_tool(),       share_artifact_tool()};
}

namespace {

Tool read_file_tool() {
  return {.name = "sandbox_read_file",
          .title = "Read a file",
          .description =
              "Read a text file of the sandbox: all of it, lines from `start_line` on, or the last `tail_lines`. "
              "`tail_lines` wins over `start_line`. Without `max_chars` at most 100000 characters are returned; "
              "`truncated` and a warning say when the file has more. Binary files are refused: look at them "
              "with `sandbox_exec`.",
          .kind = Class::kReadOnly,
          .parameters = {path("path", "The file: relative to the working directory, absolute, or beginning with `~/`.",
                              Presence::kRequired),
                         {.name = "start_line",
                          .type = Type::kInteger,
                          .description = "The first line, from 1 on.",
                          .minimum = 0,
                          .range = Range::kClamped},
                         {.name = "line_count",
                          .type = Type::kInteger,
                          .description = "How many lines from `start_line` on; without it all that follow.",
                          .minimum = 1,
                          .range = Range::kClamped},
                         {.name = "tail_lines",
                          .type = Type::kInteger,
                          .description = "The last so many lines instead.",
                          .minimum = 0,
                          .range = Range::kClamped},
                         {.name = "max_chars",
                          .type = Type::kInteger,
                          .description = "At most so many characters of what was selected (up to 1000000).",
                          .minimum = 0,
                          .maximum = 1'000'000,
                          .range = Range::kClamped}},
          .results =
              {{"path", Type::kText, "The file, absolute."},
               {"content", Type::kText, "What was read."},
               {"size", Type::kInteger, "How many characters `content` has."},
               {"start_line", Type::kInteger, "The first line of it, when lines were asked for.", Presence::kOptional},
               {"line_count", Type::kInteger, "How many lines it has, when lines were asked for.", Presence::kOptional},
               {"tail_lines", Type::kInteger, "As asked for.", Presence::kOptional},
               {"max_chars", Type::kInteger, "As asked for.", Presence::kOptional},
               {"truncated", Type::kBoolean, "True when there is more of what was asked for.", Presence::kOptional}},
          .handler = read_file};
}

Tool list_directory_tool() {
  return {.name = "sandbox_list_directory",
          .title = "List a directory",
          .description =
              "List what a directory of the sandbox holds: mode, size, time (UTC) and name, a line each. "
              "Directories end in `/`. `recursive` goes three levels deep and shows at most 200 entries; "
              "otherwise at most 1000. A directory that is not there is an error.",
          .kind = Class::kReadOnly,
          .parameters = {path("path", "The directory; without it the working directory.", Presence::kOptional),
                         {.name = "recursive",
                          .type = Type::kBoolean,
                          .description = "Also what is in its directories, three levels deep.",
                          .fallback = false}},
          .results = {{"path", Type::kText, "The directory, absolute."},
                      {"entries", Type::kText, "A line for each entry; names relative to the directory."},
                      {"count", Type::kInteger, "How many entries there are."},
                      {"truncated", Type::kBoolean, "Whether there are more than are shown."}},
          .handler = list_directory};
}

Tool search_files_tool() {
  return {.name = "sandbox_search_files",
          .title = "Search in files",
          .description =
              "Search the contents of files with ripgrep. `pattern` is a regular expression of ripgrep's; escape "
              "special characters to find a text as it is. What .gitignore names, hidden and binary files are "
              "left out. A match is a line `path:number:text`, a line of its context `path-number-text`. "
              "`max_results` counts matching lines.",
          .kind = Class::kReadOnly,
          .parameters = {{.name = "pattern", .description = "The regular expression.", .presence = Presence::kRequired},
                         path("path", "The directory or file to search; without it the working directory.",
                              Presence::kOptional),
                         {.name = "include",
                          .description = "Only files that match this glob, such as `*.py`.",
                          .empty = Empty::kAllowed},
                         {.name = "context_lines",
                          .type = Type::kInteger,
                          .description = "Lines to show before and after each match (0 to 10).",
                          .minimum = 0,
                          .maximum = 10,
                          .range = Range::kClamped},
                         {.name = "case_insensitive",
                          .type = Type::kBoolean,
                          .description = "Take capital and small letters for the same.",
                          .fallback = false},
                         {.name = "max_results",
                          .type = Type::kInteger,
                          .description = "How many matching lines to show at most (1 to 500).",
                          .minimum = 1,
                          .maximum = 500,
                          .range = Range::kClamped,
                          .fallback = std::int64_t{100}}},
          .results = {{"pattern", Type::kText, "As given."},
                      {"path", Type::kText, "What was searched, absolute."},
                      {"matches", Type::kText, "The matching lines, by file."},
                      {"match_count", Type::kInteger, "How many matching lines are shown."},
                      {"truncated", Type::kBoolean, "Whether there are more."}},
          .handler = search_files};
}

Tool find_files_tool() {
  return {.name = "sandbox_find_files",
          .title = "Find files by name",
          .description =
              "Find regular files by their names, in a directory of the sandbox and everything below it. "
              "`pattern` is a glob for the name alone (`*.py`, `test_?.c`), without `/`. At most 200 are shown.",
          .kind = Class::kReadOnly,
          .parameters = {{.name = "pattern",
                          .description = "The glob for file names.",
                          .presence = Presence::kRequired,
                          .bytes_max = limits::kPathBytesMax},
                         path("path", "Where to look; without it the working directory.", Presence::kOptional)},
          .results = {{"pattern", Type::kText, "As given."},
                      {"path", Type::kText, "Where it looked, absolute."},
                      {"files", Type::kText, "The files, absolute, a line each."},
                      {"count", Type::kInteger, "How many were found."},
                      {"truncated", Type::kBoolean, "Whether there are more than are shown."}},
          .handler = find_files};
}

Tool write_file_tool() {
  return {.name = "sandbox_write_file",
          .title = "Write a file",
          .description =
              "Write a file of the sandbox with exactly this content, at most 4 MiB. Directories on the way "
              "are made, a file that is there is replaced at once. To change a part of a file use "
              "`sandbox_edit_file`.",
          .kind = Class::kWrite,
          .parameters = {path("path", "The file to write.", Presence::kRequired),
                         {.name = "content",
                          .description = "All of its content; may be empty.",
                          .presence = Presence::kRequired,
                          .empty = Empty::kAllowed,
                          .nul = Nul::kAllowed,
                          .bytes_max = kArgumentsBytesMax}},
          .results = {{"path", Type::kText, "The file, absolute."},
                      {"size", Type::kInteger, "How many characters were written."}},
          .handler = write_file};
}

Tool edit_file_tool() {
  return {.name = "sandbox_edit_file",
          .title = "Edit a file",
          .description =
              "Replace one text in a file of the sandbox by another. `old_string` has to be in the file "
              "exactly once, with its spaces and ends of lines as they are: take enough lines around the "
              "place to make it unique. Nothing is changed when it is not found or found more often.",
          .kind = Class::kWrite,
          .parameters = {path("path", "The file to change.", Presence::kRequired),
                         {.name = "old_string",
                          .description = "What is there now.",
                          .presence = Presence::kRequired,
                          .nul = Nul::kAllowed,
                          .bytes_max = kArgumentsBytesMax},
                         {.name = "new_string",
                          .description = "What comes in its place; may be empty.",
                          .presence = Presence::kRequired,
                          .empty = Empty::kAllowed,
                          .nul = Nul::kAllowed,
                          .bytes_max = kArgumentsBytesMax}},
          .results = {{"path", Type::kText, "The file, absolute."},
                      {"summary", Type::kText, "`replaced N line(s) with M line(s)`."}},
          .handler = edit_file};
}

Tool move_tool() {
  return {.name = "sandbox_move",
          .title = "Move or rename",
          .description =
              "Move or rename a file or a directory of the sandbox. A file at the destination is replaced; a "
              "directory there takes the source into it. Directories on the way are made.",
          .kind = Class::kWrite,
          .parameters = {path("source", "What to move.", Presence::kRequired),
                         path("destination", "Its new path, or the directory to move it into.", Presence::kRequired)},
          .results = {{"source", Type::kText, "Where it was, absolute."},
                      {"destination", Type::kText, "Where it is now, absolute."}},
          .handler = move_file};
}

Tool delete_tool() {
  return {
      .name = "sandbox_delete",
      .title = "Delete",
      .description =
          "Delete a file of the sandbox, or with `recursive` a directory with everything in it. Cannot be "
          "undone. What is not there counts as deleted, with a warning.",
      .kind = Class::kWrite,
      .parameters =
          {path("path", "What to delete.", Presence::kRequired),
           {.name = "recursive", .type = Type::kBoolean, .description = "Needed for a directory.", .fallback = false}},
      .results = {{"deleted", Type::kText, "What was deleted, absolute."}, {"recursive", Type::kBoolean, "As given."}},
      .handler = delete_file};
}

Tool share_artifact_tool() {
  return {
      .name = kShareArtifact,
      .title = "Share a result",
      .description =
          "Hand a result to the user: a file of the sandbox by `path`, or a text by `content` and "
          "`filename`. It is copied into the agent's output directory under its own name; one of the "
          "same name is replaced. Share a directory as an archive.",
      .kind = Class::kWrite,
      .parameters = {path("path", "The file to share.", Presence::kOptional),
                     {.name = "content",
                      .description = "The text to share instead of a file.",
                      .empty = Empty::kAllowed,
                      .nul = Nul::kAllowed,
                      .bytes_max = kArgumentsBytesMax},
                     {.name = "filename",
                      .description = "Its name for the user; needed with `content`. Directories in it are dropped."},
                     {.name = "description", .description = "What it is, in a sentence.", .empty = Empty::kAllowed}},
      .results = {{"text", Type::kText, "What was shared, in a few lines."},
                  {"filename", Type::kText, "Its name."},
                  {"type", Type::kText, "Its media type, by its name."},
                  {"size", Type::kInteger, "Its size in bytes."},
                  {"sha256", Type::kText, "The hash of what was shared, in hexadecimal."},
                  {"path", Type::kText, "Where it is in the output directory, absolute."},
                  {"description", Type::kText, "As given.", Presence::kOptional}},
      .handler = share_artifact};
}

Parameter path(std::string_view name, std::string_view description, Presence presence) {
  return {.name = name,
          .description = description,
          .expected = "path under the agent home, or absolute below an allowed directory",
          .presence = presence,
          .empty = Empty::kAllowed,
          .nul = Nul::kAllowed};
}

}  // namespace

}  // namespace hutch::tool
