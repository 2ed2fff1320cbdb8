// Where characters of UTF-8 begin and end in bytes that may be cut anywhere.
#pragma once

#include <cstddef>
#include <string_view>

namespace hutch {

// Of the character at the start of `bytes`, which is not empty; 1 where there is none.
std::size_t character_bytes(std::string_view bytes);

// How many bytes at the start of `bytes` are ASCII.
std::size_t ascii_bytes(std::string_view bytes);

bool is_utf8(std::string_view bytes);

// How many bytes at the end of `bytes` are the beginning of a character that is not whole.
std::size_t unfinished_bytes(std::string_view bytes);

// How many bytes at the start of `bytes` belong to a character that began before them, at most three.
std::size_t stray_bytes(std::string_view bytes);

}  // namespace hutch
