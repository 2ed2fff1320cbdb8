// Placeholders in requests, and the values that go out in their place. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/head.h"

namespace hutch::inspect {

// What stands in the sandbox, and what the server is to get; of a body both have the same length, so that what frames
// it stays true.
using Placeholders = std::vector<std::pair<std::string, std::string>>;

// A server answers these methods with the request itself (RFC 9110, section 9.3.8), so no value is put in.
bool is_echoed(std::string_view method);
// In a field's value; of Basic authentication also in what it encodes (RFC 7617).
void swap_headers(const Placeholders& placeholders, Headers& headers);
// In the path and query: the value escaped as it has to be there.
std::string swap_target(const Placeholders& placeholders, std::string target);
// Replaces values by placeholders in an answer's fields: a redirect repeats the request's query, escaped or not.
void hide_values(const Placeholders& placeholders, Headers& headers);
// In a piece of a body that goes on.
void swap_in_place(const Placeholders& placeholders, std::string& body);
// How many bytes at its end may be the beginning of a placeholder: they wait for what follows.
std::size_t begun_at_end(const Placeholders& placeholders, std::string_view body);

}  // namespace hutch::inspect
