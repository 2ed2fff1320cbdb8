// A secret: a value that a person gives an agent, what it is called, and how it may be given out. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::secret {

inline constexpr std::size_t kNameBytesMax = 64;
inline constexpr std::size_t kValueBytesMax = 64 << 10;
inline constexpr std::size_t kSecretsMax = 256;  // of an agent
inline constexpr std::size_t kHostsMax = 32;     // of a secret

enum class Giving {
  kBridge,       // asked for by name, through the host's bridge
  kEnvironment,  // a variable of every command, and by the bridge
  kPlaceholder,  // never: the gateway puts it in for its hosts
};
std::string_view name_of(Giving giving);  // "bridge", "environment", "placeholder"
Result<Giving> parse_giving(std::string_view name);

struct Secret {
  std::string name;
  Giving giving = Giving::kBridge;
  std::vector<std::string> hosts;  // that it may be sent to, in canonical form; of a placeholder one at least
  std::string value;
  std::int64_t set_at = 0;  // seconds since 1970
  bool operator==(const Secret&) const = default;
};

// A variable's name, which no program takes for an order: not PATH, LD_PRELOAD and their like, nor hutch's own.
Status check_name(std::string_view name);
// Text without NUL, and not empty.
Status check_value(std::string_view value);

// What is given, judged as a whole, with its hosts in canonical form.
Result<Secret> settled(Secret secret);

// All of an agent's as one text, and back; strict.
std::string format_secrets(const std::vector<Secret>& secrets);
Result<std::vector<Secret>> parse_secrets(std::string_view text);

}  // namespace hutch::secret
