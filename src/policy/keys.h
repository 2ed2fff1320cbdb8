// Every key that a policy file may hold: its type, and what it means here. The reader, its messages and
// docs/policy.schema.json follow this one table (a test holds the schema against it).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hutch::policy {

enum class KeyType {
  kBoolean,
  kInteger,      // between minimum and maximum
  kString,
  kStrings,
  kStringMap,    // an object of strings
  kPaths,        // a list of strings or {"path": P, "literal": true}
  kDomains,
  kDuration,     // "30s", "500ms", "10m", "1h", or seconds as a number
  kSize,         // "512M", "2G", or bytes as a number
  kCpus,         // a number, "1.5"
  kEnvironment,  // {"NAME": "value", "OTHER": true}: true passes the caller's own
  kObject,       // its keys are in the table
  kAsk,          // kObject, or false: none of its questions
  kNetwork,      // kObject, or a list of domains, or "none", "outbound" or "host"
  kWords,        // a string of words, or a list of strings
  kDnsDenial,    // "refused" or "nxdomain"
  kHttpRules,    // a list of {"host", "methods", "paths", "headers"}
  kUdp,          // a list of "HOST:PORT"
  kPorts,        // a list of numbers
  kPublished,    // a list of "HOST:SANDBOX"
  kList,         // of anything
  kAny,
};

enum class Meaning {
  kHonoured,
  kNoMeaning,  // read, means nothing here; told by explain
  kOtherwise,  // hutch does it in another way; told by explain
  kRefused,    // weakens the sandbox: an error unless it is off or empty
  kLater,      // needs what this version does not have: an error unless it is off or empty
};

struct Key {
  std::string_view name;  // "filesystem.denyRead"
  KeyType type = KeyType::kAny;
  Meaning meaning = Meaning::kHonoured;
  std::string_view text;  // what it does, or why it does nothing
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
};

std::span<const Key> all_keys();

// Null where there is no such key.
const Key* find_key(std::string_view name);

// `"filesystem.denyRaed": unknown key; did you mean denyRead?` without the quotes.
std::string unknown_key_message(std::string_view name);

// How a type is called in a message: "a list of paths".
std::string_view name_of(KeyType type);

}  // namespace hutch::policy
