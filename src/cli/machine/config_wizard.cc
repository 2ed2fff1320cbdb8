// hutch config without an action.
#include "cli/machine/config_wizard.h"

#include "base/text.h"
#include "cli/machine/config.h"
#include "cli/terminal/output.h"
#include "cli/terminal/session.h"
#include "host/machine/facts.h"
#include "service/common/load_policy.h"
#include "service/prepare/policy_summary.h"
#include "sys/files/tree.h"
#include "tui/wizard_loop.h"

namespace hutch::cli {

namespace {

constexpr int kInterrupted = 130;  // as a shell says it of SIGINT

class Policies {
 public:
  Policies(const plan::HostFacts& facts, std::vector<std::string> environment)
      : facts_(facts),
        environment_(std::move(environment)),
        policies_(service::config_directory(facts_, environment_)) {}

  tui::Overview overview() const;
  Result<tui::Opened> open(store::Scope scope) const;
  Result<tui::Outside::Saved> save(store::Scope scope, const std::vector<policy::Edit>& edits) const;

 private:
  void add_coverage(tui::Overview& overview) const;

  const plan::HostFacts& facts_;
  std::vector<std::string> environment_;
  store::Policies policies_;
};

}  // namespace

int config_wizard() {
  const auto facts = host::probe_facts();
  if (!facts) return complain(facts.error());
  const Policies policies(*facts, sys::own_environment());
  const auto end = tui::run_wizard(
      {.overview = [&] { return policies.overview(); },
       .open = [&](store::Scope scope) { return policies.open(scope); },
       .save = [&](store::Scope scope, const std::vector<policy::Edit>& edits) { return policies.save(scope, edits); },
       .toggle = [](policy::Switch enabled) -> Status {
         TRY(set_session(enabled));
         return {};
       }});
  if (!end) return complain(end.error());
  switch (*end) {
    case tui::WizardEnd::kLeft: break;
    case tui::WizardEnd::kEnabled: return print(std::string(kSessionOn));
    case tui::WizardEnd::kDisabled: return print(std::string(kSessionOff));
    case tui::WizardEnd::kInterrupted: return kInterrupted;
  }
  return 0;
}

namespace {

tui::Overview Policies::overview() const {
  tui::Overview overview;
  service::PlaceRequest place;
  const service::SessionLink session = join_session(place);
  if (session.state) {
    if (const auto state = session.state()) overview.grants = state->grants;
  }
  const auto loaded = service::load_policy(place, facts_, environment_);
  if (loaded) {
    overview.enabled = loaded->policy.enabled;
    overview.status = service::status_line(loaded->policy);
    for (service::SummaryRow& row : service::summary_rows(*loaded)) {
      overview.summary.push_back({std::move(row.name), std::move(row.value)});
    }
  }
  // These name the line as well.
  const std::vector<std::string> errors = policies_.errors();
  if (!errors.empty()) {
    overview.trouble = join(errors, "; ");
  } else if (!loaded) {
    overview.trouble = loaded.error().message;
  }
  add_coverage(overview);
  return overview;
}

void Policies::add_coverage(tui::Overview& overview) const {
  overview.directory = facts_.cwd;
  const auto coverage = policies_.coverage(facts_.cwd);
  if (!coverage || !coverage->project) return;
  overview.coverage = coverage->exact ? tui::Coverage::kExact : tui::Coverage::kParent;
  overview.project = *coverage->project;
}

// What is broken cannot be saved to: that is said before anything is typed.
Result<tui::Opened> Policies::open(store::Scope scope) const {
  const std::vector<std::string> errors = policies_.errors();
  if (!errors.empty()) return fail(Error::invalid(cat({join(errors, "; "), "; mend it by hand first"})));
  const store::HeldPolicy held = TRY(policies_.before_change(scope, facts_.cwd));
  const store::Coverage coverage = TRY(policies_.coverage(facts_.cwd));
  const bool is_new = held.project && held.project != coverage.project;
  return tui::Opened{held.text, service::place_name(held),
                     is_new ? tui::Opened::Standing::kNew : tui::Opened::Standing::kSaved};
}

// The edits are made to what is saved by now: what somebody else changed meanwhile stays.
Result<tui::Outside::Saved> Policies::save(store::Scope scope, const std::vector<policy::Edit>& edits) const {
  const auto edit = [&](const std::string& policy) -> Result<std::string> {
    std::string text = policy;
    for (const policy::Edit& one : edits) text = TRY(policy::edited(text, one));
    return text;
  };
  const store::HeldPolicy held = TRY(policies_.change(scope, facts_.cwd, edit));
  return tui::Outside::Saved{{held.text, service::place_name(held)}, join(spread_saved_policy(facts_), "; ")};
}

}  // namespace

}  // namespace hutch::cli
