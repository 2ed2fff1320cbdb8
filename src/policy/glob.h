// Wildcards of path entries: * ? [..] within a component, ** for any number of components, \ before a plain character.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::policy {

// Whether `text` holds a wildcard that is not escaped.
bool has_wildcard(std::string_view text);

// Whether `text` holds a wildcard that is: st\*r names the file st*r.
bool has_escaped_wildcard(std::string_view text);

// Whether the pattern can be read: brackets closed, no ".." behind a wildcard, not ending in "/".
Status check_pattern(std::string_view pattern);

// `text` with every character that a pattern would read as a wildcard escaped, and back.
std::string escape_wildcards(std::string_view text);
std::string unescape(std::string_view pattern);

// The part of an absolute pattern in front of the first component with a wildcard, as a path; empty if that is the
// first component.
std::string literal_part(std::string_view pattern);

// One component against one component; names that start with a dot are matched like any other.
bool matches_component(std::string_view pattern, std::string_view name);

// A whole absolute path against a whole absolute pattern.
bool matches_path(std::string_view pattern, std::string_view path);

}  // namespace hutch::policy
