// What else than a file beside them can keep the key of sealed files: the Secret Service of a person's session.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace hutch::secret {

// Keeps one text for each `store`, the directory of the files. It may ask its person to unlock it, and takes as long.
class Keyring {
 public:
  virtual ~Keyring() = default;
  virtual Result<std::optional<std::string>> find(const std::string& store) = 0;
  virtual Status keep(const std::string& store, const std::string& text) = 0;  // in place of one that is there
  virtual Status remove(const std::string& store) = 0;                          // nothing there is no error
};

// By secret-tool(1) of libsecret, over the session's bus; both are looked for with each call. An error after 20
// seconds. Source: the Secret Service API, freedesktop.org.
std::unique_ptr<Keyring> secret_service();

}  // namespace hutch::secret
