// Private keys among what is shared: ssh refuses one for its owner while a list lets an agent read it.
#pragma once

#include <string>
#include <vector>

namespace hutch::service {

// Files that begin as a private key of OpenSSH or of PEM does: the path itself, or files directly in it. Whoever calls
// may read them.
std::vector<std::string> private_keys_at(const std::string& path);

}  // namespace hutch::service
