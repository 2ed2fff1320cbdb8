// The help texts, from the table of verbs.
#pragma once

#include <string>
#include <string_view>

namespace hutch::cli {

// Of one verb; of hutch as a whole where `verb` is empty. The verb exists.
std::string help_text(std::string_view verb);

}  // namespace hutch::cli
