// Makes names printable for questions.
#include "base/printable_name.h"

#include "base/text.h"

namespace hutch {

std::string printable_name(std::string_view name, std::size_t bytes_max) {
  std::string spelt;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool is_blank = name[at] == ' ';
    const bool stands_alone = at > 0 && at + 1 < name.size() && name[at - 1] != ' ' && name[at - 1] != '/' &&
                              name[at + 1] != '/' && name[at + 1] != ' ';
    // A NUL is in no name, so it can mark a blank that must be escaped.
    spelt += is_blank && !stands_alone ? '\0' : name[at];
  }
  std::string shown = printable(spelt, bytes_max);
  for (std::size_t at = shown.find("\\x00"); at != std::string::npos; at = shown.find("\\x00", at + 4)) {
    shown.replace(at, 4, "\\x20");
  }
  return shown;
}

}  // namespace hutch
