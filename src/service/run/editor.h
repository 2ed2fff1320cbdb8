// A text in the user's editor: in a file beside what it is to become, so that what is half written never holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hutch::service {

struct EditTask {
  std::string directory;  // where the file beside is; made where it is not there
  std::string text;
  const std::vector<std::string>& environment;  // "K=V" each; VISUAL and EDITOR name the editor
  // What is wrong with a text; the error names `file`.
  std::function<Status(const std::string& text, const std::string& file)> check;
  // Puts the new text in the old one's place; Code::kConflict where that is another by now.
  std::function<Status(const std::string& text)> save;
};

enum class EditEnd { kSaved, kUnchanged };

// An error, and the text is kept, where it is wrong or cannot be saved.
Result<EditEnd> edit_text(const EditTask& task);

}  // namespace hutch::service
