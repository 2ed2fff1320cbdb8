// A plan as an engine is asked to make it: the body of POST /containers/create (Docker Engine API, 1.41). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace hutch::backend::container {

// Where the guest finds what is its own, inside.
inline constexpr std::string_view kGuestPath = "/.hutch-guest";
inline constexpr std::string_view kPlacePath = "/.hutch-place";  // a directory, read-only; the stream's name is in it

struct CreateSettings {
  std::string engine{};  // "docker" or "podman"
  std::string engine_socket{};  // canonical
  std::string guest_program{};  // canonical; static
  std::string place{};  // canonical: the host's directory that is kPlacePath inside
  std::string hidden_file{};  // canonical: a file that nobody can open
  std::uint64_t open_files = 0;  // how many each process may have open
  std::uint64_t processes = 0;  // how many its user may have, in all sandboxes together
  std::string owner{};  // of the label by which whoever made it finds it again
};

inline constexpr std::string_view kOwnerLabel = "hutch.owner";

// Code::kPermissionDenied where the plan shows an engine's socket: whoever reaches that is root of the machine.
Result<std::string> create_body(const plan::SandboxPlan& plan, const CreateSettings& settings);

// A name as engines take it, with a tag or a digest: no byte of it has a meaning in a request.
Status check_image_name(std::string_view name);

}  // namespace hutch::backend::container
