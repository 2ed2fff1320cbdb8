// Root of an agent's image, in the agent's sandbox.
#include "base/text.h"
#include "host/machine/facts.h"
#include "service/agent/sandbox.h"
#include "service/common/login_environment.h"
#include "store/settings_file.h"

namespace hutch::service {

tool::Users AgentSandbox::users() const {
  return kept_.terms().ids == plan::IdMap::Kind::kOne ? tool::Users::kOne : tool::Users::kMany;
}

hutch::Status AgentSandbox::check_root() const {
  const BackendKind backend = store::backend_kind(record_);
  const bool starts_anew = backend == BackendKind::kContainer || backend == BackendKind::kVm;
  const bool is_own = backend == BackendKind::kNamespace;
  if (store::has_image(record_) && is_own) return {};
  std::string why = "there is no root in this sandbox, and no sudo";
  if (starts_anew) {
    why = cat({"on backend ", name_of(backend), " nothing is root in a sandbox that runs"});
  } else if (!store::has_image(record_)) {
    why = "the sandbox has the host's own files, in which there is no root to be, and no sudo";
  }
  const std::string install = starts_anew ? cat({"; hutch agent install ", record_.name, " PACKAGE works here"})
                                          : ", or by hutch agent install AGENT PACKAGE";
  return fail(
      Error::unsupported(cat({"user root: ", why,
                              "; leave the user out. Root and packages come with an image of backend namespace (hutch "
                              "image build NAME --packages ..., then that name as the template)",
                              install})));
}

Result<std::shared_ptr<sandbox::Resident>> AgentSandbox::root() {
  TRY(check_root());
  TRY(resident());
  if (users() == tool::Users::kMany) return root_.resident();
  return fail(Error::unsupported(
      "user root: the sandbox has one user alone, since this account has no subordinate ids; install uidmap, give it "
      "some (usermod --add-subuids 100000-165535 --add-subgids 100000-165535 NAME) and start the sandbox again, or "
      "leave "
      "the user out"));
}

Result<wire::FileReply> AgentSandbox::file_of_root(const wire::FileRequest& request) {
  TRY(root());
  return root_.file(request);
}

// What the agent may change of its environment is not for root: nothing of its home, no variable of its login shell.
sandbox::ProcessRequest AgentSandbox::request_of_root(std::vector<std::string> arguments, const std::string& cwd,
                                                      const std::vector<std::string>& environment) const {
  const KeptSandbox::Terms terms = root_.terms();
  sandbox::ProcessRequest request;
  request.arguments = std::move(arguments);
  request.environment = merged(terms.environment, environment);
  request.cwd = kRootHome;
  if (!cwd.empty()) request.cwd = cwd.starts_with('/') ? cwd : cat({kRootHome, "/", cwd});
  request.processes_max = terms.processes_max;
  request.address_space_max = terms.address_space_max;
  return request;
}

// Root first: it can have go on what was stopped.
hutch::Status AgentSandbox::signal_all(int number) {
  for (const auto& one : {root_.running(), kept_.running()}) {
    if (one) TRY(one->signal_all(number));
  }
  return {};
}

// Nobody is asked anything: an answer would hold for what root runs.
KeptSandboxSettings AgentSandbox::root_settings(const Hooks& hooks) {
  return {.what = cat({"root for agent ", record_.name}),
          .judge = [this](const Stop& stop) { return judge_root(stop); },
          .record = {.directory = dirs_.data,
                     .tell = tell_,
                     .agent = record_.name,
                     .name = record_.name,
                     .command = {"hutch", "agent", "start", record_.name},
                     .scrub = [this](const std::string& text) { return secrets_.scrubber()->scrub(text); }},
          .next_number = hooks.next_number,
          .limits_with = &limits_};
}

// On the thread that keeps root's part of the sandbox. It has the sandbox's own network, files and processes, of the
// host's files none to write, and of rights what a package manager takes.
Result<Judged> AgentSandbox::judge_root(const Stop& stop) {
  const auto beside = running();
  if (!beside) return fail({Code::kConflict, 0, "the agent's sandbox does not run"});
  PlaceRequest place = TRY(place_now());
  place.usual_hosts = TRY(store::SettingsFile(dirs_.config).read()).security.allowed_hosts;
  place.environment = {"LOGNAME=root", "LC_ALL=C.UTF-8", cat({"PATH=", kUsualPath})};
  Residence residence;
  residence.purpose = Residence::Purpose::kInstall;
  residence.cwd = "/";
  Judged judged = TRY(judge_for(std::move(place), std::move(residence), plan::FileQuestions::kNone, stop));
  // By the rules of ptrace(2) alone it could become the agent's user, and through /proc/PID/root of what that one runs
  // change its files with root's rights.
  if (judged.facts.landlock_abi == 0) {
    return fail(Error::unsupported(
        "user root: this kernel has no Landlock, without which root could change the host's files that the agent has; "
        "switch it on (CONFIG_SECURITY_LANDLOCK, and landlock in lsm=), or leave the user out"));
  }
  plan::SandboxPlan& plan = judged.prepared.plan;
  plan.network = plan::NetworkKind::kHost;  // none of its own: the gateway of the sandbox has its connections
  plan.mounts = {{.kind = plan::MountKind::kDirectory, .target = std::string(kRootHome), .mode = 0700}};
  for (const std::string& own : kept_.terms().own_places) {
    plan.mounts.push_back({.kind = plan::MountKind::kTmpfs, .target = own});
  }
  judged.beside = TRY_CTX(beside->hand_namespaces(), "join the agent's sandbox");
  return judged;
}

}  // namespace hutch::service
