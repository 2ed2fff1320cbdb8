// Whether the backend none may be had.
#include "service/prepare/sandbox_only.h"

#include "base/text.h"

namespace hutch::service {

Status check_none_is_allowed(const store::SettingsFile& file, Asker asker) {
  const store::Settings settings = TRY(file.read());
  const std::optional<bool> only = settings.security.sandbox_only;
  if (!only.value_or(asker == Asker::kDaemon)) return {};
  static constexpr std::string_view kWhat = "backend none isolates nothing, and security.sandboxOnly in ";
  if (asker == Asker::kDaemon) {
    return fail(Error{Code::kPermissionDenied, 0,
                      cat({kWhat, file.path(), only ? " forbids it" : ", which is not set, forbids it to agents",
                           "; name another backend, or let them have it: hutch settings set security.sandboxOnly "
                           "false"})});
  }
  return fail(Error{Code::kPermissionDenied, 0,
                    cat({kWhat, file.path(),
                         " forbids it; name another backend, or have the sandbox on again: hutch config enable, with "
                         "--session where it was disabled for the session"})});
}

}  // namespace hutch::service
