// hutch check.
#include "cli/check.h"

#include "base/text.h"
#include "host/facts.h"
#include "service/explain.h"
#include "sys/io.h"
#include "sys/tree.h"

namespace hutch::cli {

namespace {

Result<service::PathVerdict> checked(const service::PlaceRequest& place, const std::string& access,
                                     const std::string& path) {
  if (access != "read" && access != "write") {
    return fail(
        Error::invalid(cat({"check: \"", printable(access), "\" is not known; write: hutch check read|write PATH"})));
  }
  const plan::HostFacts facts = TRY(host::probe_facts());
  const service::Caller caller{.environment = sys::own_environment(), .command = {}};
  const service::Prepared prepared = TRY(service::prepare(place, facts, caller));
  return service::judge_path(prepared, facts, path, access == "read" ? policy::Access::kRead : policy::Access::kWrite);
}

}  // namespace

int check(const service::PlaceRequest& place, service::OutputForm form, const std::string& access,
          const std::string& path) {
  static constexpr int kDenied = 1;
  static constexpr int kFailed = 125;
  const Result<service::PathVerdict> verdict = checked(place, access, path);
  if (!verdict) {
    (void)sys::write_all(2, cat({"hutch: ", verdict.error().message, "\n"}));
    return kFailed;
  }
  const std::string text =
      form == service::OutputForm::kJson ? service::verdict_json(*verdict) : service::verdict_text(*verdict);
  if (!sys::write_all(1, text + "\n")) return kFailed;
  return verdict->allowed ? 0 : kDenied;
}

}  // namespace hutch::cli
