// Private keys among what is shared: ssh refuses one for its owner while a list lets an agent read it.
#pragma once

#include <string>
#include <vector>

namespace hutch::service {

// The path itself, or files directly in it. Whoever calls may read them.
std::vector<std::string> private_keys_at(const std::string& path);
// Whether a file begins as a private key of OpenSSH or of PEM does.
bool is_private_key(const std::string& path);

}  // namespace hutch::service
