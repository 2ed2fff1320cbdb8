// The table of verbs about the OS users of agents, and what each of their options does.
#include <array>

#include "base/decimal.h"
#include "cli/options/option_values.h"
#include "cli/options/verbs.h"
#include "host/machine/account.h"
#include "plan/setup/share_copy.h"
#include "store/agent_record.h"

namespace hutch::cli {

namespace {

using enum ValueKind;
using Text = std::string_view;

Status set_read_only(Draft& draft, const std::string&) {
  draft.share.mode = plan::ShareMode::kReadOnly;
  return {};
}

Status set_traverse(Draft& draft, const std::string&) {
  draft.share.way = ShareArguments::Way::kOpen;
  return {};
}

Status set_print(Draft& draft, const std::string&) {
  draft.share.print = ShareArguments::Print::kCommands;
  return {};
}

Status set_copy(Draft& draft, const std::string&) {
  draft.share.how = ShareArguments::How::kCopied;
  return {};
}

Status set_into(Draft& draft, const std::string& directory) {
  TRY(plan::copy_destination(directory));
  draft.share.into = directory;
  return {};
}

Status set_yes(Draft& draft, const std::string&) {
  draft.share.removal = ShareArguments::Removal::kYes;
  return {};
}

Status set_forget(Draft& draft, const std::string&) {
  draft.share.gone = service::Gone::kForgotten;
  return {};
}

Status set_dry_run(Draft& draft, const std::string&) {
  draft.init.run = InitArguments::Run::kDry;
  return {};
}

Status set_remove_homes(Draft& draft, const std::string&) {
  draft.init.homes = plan::Homes::kRemoved;
  return {};
}

Status set_person(Draft& draft, const std::string& name) {
  if (!host::is_plain_user_name(name)) return fail(Error::invalid("the name of a user of this machine is wanted"));
  draft.init.person = name;
  return {};
}

Status set_port(Draft& draft, const std::string& value) {
  const auto port = decimal_of(value);
  if (!port || *port == 0 || *port > 65535) return fail(Error::invalid("a number from 1 to 65535 is wanted"));
  draft.init.ports.push_back(static_cast<std::uint16_t>(*port));
  return {};
}

Result<Arguments> finish_with_path(Draft&& draft, ShareArguments::Action action) {
  static constexpr std::array kNames = {Text("a path")};
  TRY(expect_words(draft, kNames));
  if (!draft.agent.empty()) TRY(store::check_agent_name(draft.agent));
  draft.share.action = action;
  draft.share.path = std::move(draft.words[0]);
  draft.share.agent = std::move(draft.agent);
  draft.share.form = draft.run.form;
  return Arguments(std::move(draft.share));
}

Status check_copy(const ShareArguments& share) {
  const bool copies = share.how == ShareArguments::How::kCopied;
  if (copies && share.into.empty()) return fail(Error::invalid("--copy needs --into DIR, below the agent's home"));
  if (!copies && !share.into.empty()) return fail(Error::invalid("--into is the place of a copy: --copy --into DIR"));
  if (copies && share.mode == plan::ShareMode::kReadOnly) {
    return fail(Error::invalid("--read-only has no meaning with --copy: a copy is the agent's own"));
  }
  if (copies && share.way == ShareArguments::Way::kOpen) {
    return fail(Error::invalid("--traverse has no meaning with --copy: nothing of yours is opened"));
  }
  return {};
}

Result<Arguments> finish_share(Draft&& draft) {
  TRY(check_copy(draft.share));
  return finish_with_path(std::move(draft), ShareArguments::Action::kShare);
}

Result<Arguments> finish_unshare(Draft&& draft) {
  return finish_with_path(std::move(draft), ShareArguments::Action::kUnshare);
}

Result<Arguments> finish_shared(Draft&& draft) {
  TRY(expect_words(draft, {}));
  return Arguments(ShareArguments{.action = ShareArguments::Action::kShared, .form = draft.run.form});
}

Result<Arguments> finish_users(Draft&& draft, InitArguments::Action action) {
  TRY(expect_words(draft, {}));
  if (!draft.agent.empty()) TRY(store::check_agent_name(draft.agent));
  draft.init.action = action;
  draft.init.agent = std::move(draft.agent);
  return Arguments(std::move(draft.init));
}

Result<Arguments> finish_init(Draft&& draft) { return finish_users(std::move(draft), InitArguments::Action::kInit); }

Result<Arguments> finish_deinit(Draft&& draft) {
  return finish_users(std::move(draft), InitArguments::Action::kDeinit);
}

// Of a machine: network init, service deinit.
Result<Arguments> finish_machine(Draft&& draft, InitArguments::What what) {
  using Action = InitArguments::Action;
  static constexpr std::array kNames = {Text("what to do")};
  TRY(expect_words(draft, kNames));
  const std::string& word = draft.words[0];
  const bool applies = word == "apply" && what == InitArguments::What::kNetwork;
  const bool checks = word == "check" && what == InitArguments::What::kService;
  if (word != "init" && word != "deinit" && !applies && !checks) {
    static constexpr std::array kKnown = {Text("init"), Text("deinit")};
    return fail(unknown_word("unknown word", word, kKnown));
  }
  draft.init.what = what;
  draft.init.action = word == "init" ? Action::kInit : Action::kDeinit;
  if (applies) draft.init.action = Action::kApply;
  if (checks) draft.init.action = Action::kCheck;
  return Arguments(std::move(draft.init));
}

Result<Arguments> finish_network(Draft&& draft) {
  return finish_machine(std::move(draft), InitArguments::What::kNetwork);
}

Result<Arguments> finish_service(Draft&& draft) {
  return finish_machine(std::move(draft), InitArguments::What::kService);
}

constexpr Option kOneAgent = {"--agent", 0, "NAME", kOther, "the OS user of this agent alone; else that of all",
                              set_agent};
constexpr Option kDryRun = {"--dry-run", 0, "", kFlag, "print the commands; run nothing", set_dry_run};

constexpr Option kPerson = {
    "--for", 0, "PERSON", kOther, "the OS user of that person's agents, who need not be root for it", set_person};

constexpr std::array kShareOptions = {
    Option{"--read-only", 0, "", kFlag, "read-only", set_read_only},
    kOneAgent,
    Option{"--traverse", 0, "", kFlag,
           "let the user pass through directories above PATH without asking\n(pass through: it cannot list them)",
           set_traverse},
    Option{"--copy", 0, "", kFlag, "give the agent its own copy instead", set_copy},
    Option{"--into", 0, "DIR", kOther, "where to put that copy, below the agent's home", set_into},
    Option{"--print", 0, "", kFlag, "print the commands of setfacl, or of a copy; run nothing", set_print},
    kJson};
constexpr std::array kUnshareOptions = {
    kOneAgent, Option{"--yes", 'y', "", kFlag, "remove a copy without asking", set_yes},
    Option{"--forget", 0, "", kFlag, "if PATH is gone: forget its earlier access control list", set_forget}, kJson};
constexpr std::array kSharedOptions = {kJson};
constexpr std::array kInitOptions = {kOneAgent, kPerson, kDryRun};
constexpr std::array kDeinitOptions = {
    kOneAgent, kPerson, kDryRun, Option{"--remove-homes", 0, "", kFlag, "also delete its home", set_remove_homes}};
constexpr std::array kNetworkOptions = {
    Option{"--port", 0, "PORT", kOther, "allow this port of the host's loopback (repeatable)", set_port}, kDryRun};
constexpr std::array kServiceOptions = {kPerson, kDryRun};
constexpr std::array kNetworkGroups = {OptionGroup{"Options", kNetworkOptions}};
constexpr std::array kServiceGroups = {OptionGroup{"Options", kServiceOptions}};
constexpr std::array kNetworkSynopsis = {Text("hutch network init [--port PORT...] [--dry-run]"),
                                         Text("hutch network deinit|apply [--dry-run]")};
constexpr std::array kServiceSynopsis = {Text("hutch service init|deinit [--for PERSON] [--dry-run]"),
                                         Text("hutch service check [--for PERSON]")};
constexpr std::array kNetworkExamples = {Text("sudo hutch network init"), Text("sudo hutch network init --port 5432")};
constexpr std::array kNetworkWords = {Text("init"), Text("deinit"), Text("apply")};
constexpr std::array kServiceWords = {Text("init"), Text("deinit"), Text("check")};
constexpr std::array kShareGroups = {OptionGroup{"Options", kShareOptions}};
constexpr std::array kUnshareGroups = {OptionGroup{"Options", kUnshareOptions}};
constexpr std::array kSharedGroups = {OptionGroup{"Options", kSharedOptions}};
constexpr std::array kInitGroups = {OptionGroup{"Options", kInitOptions}};
constexpr std::array kDeinitGroups = {OptionGroup{"Options", kDeinitOptions}};
constexpr std::array kShareSynopsis = {Text("hutch share [OPTION...] PATH"),
                                       Text("hutch share --copy --into DIR [OPTION...] PATH")};
constexpr std::array kUnshareSynopsis = {Text("hutch unshare [--agent NAME] [--yes] [--forget] [--json] PATH")};
constexpr std::array kSharedSynopsis = {Text("hutch shared [--json]")};
constexpr std::array kInitSynopsis = {Text("hutch init [--agent NAME] [--for PERSON] [--dry-run]")};
constexpr std::array kDeinitSynopsis = {
    Text("hutch deinit [--agent NAME] [--for PERSON] [--remove-homes] [--dry-run]")};
constexpr std::array kShareExamples = {
    Text("hutch share ~/projects/app"), Text("hutch share --read-only ~/.config/tool.toml"),
    Text("hutch share --copy --into work/profile ~/.config/chromium"), Text("hutch share --print ~/projects/app")};
constexpr std::array kInitExamples = {Text("hutch init --dry-run"), Text("sudo hutch init"),
                                      Text("sudo hutch init --agent alice"), Text("sudo hutch init --for me")};

constexpr std::array kUserVerbs = {
    Verb{"init",
         "create the OS user that agents run as, as root",
         kInitSynopsis,
         "Creates the system user hutch with its home, or with --agent a user for that agent, and prints each\n"
         "step first. It changes nothing else on the host, and keeps what exists. With --for it creates a user\n"
         "for one person's agents (me: the person who runs sudo). hutch-helper, a small program of root's,\n"
         "then starts sandboxes as that user, through systemd or a sudo rule, for that person only. It creates\n"
         "the users of that person's agents when they are created, so one init is enough.",
         kInitGroups,
         kInitExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_init},
    Verb{"deinit",
         "remove the OS user that agents run as",
         kDeinitSynopsis,
         "Removes the user. Its home stays, closed until the user is created again, unless you say\n"
         "--remove-homes. Files that root shared with it are unshared. Files that others shared stay shared\n"
         "with a number that no agent gets again; `hutch unshare` ends that.",
         kDeinitGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_deinit},
    Verb{"network", "close the network to agents' OS users outside sandboxes", kNetworkSynopsis,
         "Inside a sandbox the policy decides about the network. Other processes of such a user, started by\n"
         "cron or sudo -u, then have none: hutch adds its own table to the kernel's packet filter, and a unit\n"
         "restores it at each boot. Other rules stay. apply is what the unit runs.",
         kNetworkGroups, kNetworkExamples, kNetworkWords, OptionsEnd::kAtDashes, finish_network},
    Verb{"service",
         "run the daemon as agents' OS user, with systemd",
         kServiceSynopsis,
         "Writes a systemd unit that runs hutch serve as the user hutch, or with --for as that person's user,\n"
         "and starts it. Sandboxes no longer run as that user, until deinit has removed the daemon and closed\n"
         "its files. check says whether any process runs as that user; init and deinit call it.",
         kServiceGroups,
         {},
         kServiceWords,
         OptionsEnd::kAtDashes,
         finish_service},
    Verb{"share",
         "share files with agents' OS user",
         kShareSynopsis,
         "Adds the user to the access control list of PATH, of everything in it, and of files created there\n"
         "later. Nobody else gains access. hutch does not follow links; files with another name outside of\n"
         "PATH are shared read-only. Run it again to include files that were moved in. With --copy hutch opens\n"
         "no file of yours: the agent gets its own files, which share blocks with yours if the file system\n"
         "can.",
         kShareGroups,
         kShareExamples,
         {},
         OptionsEnd::kAtDashes,
         finish_share},
    Verb{"unshare",
         "stop sharing files",
         kUnshareSynopsis,
         "Restores the earlier access control lists of PATH, of everything in it, and of the directories\n"
         "above. Without --agent, for every user that PATH is shared with. For a copy, PATH is its place in\n"
         "the agent's home, or the original: hutch asks, then removes the copy with the agent's changes.",
         kUnshareGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_unshare},
    Verb{"shared",
         "list shared files",
         kSharedSynopsis,
         "Prints each path, its user, how and since when it is shared.",
         kSharedGroups,
         {},
         {},
         OptionsEnd::kAtDashes,
         finish_shared},
};

}  // namespace

std::span<const Verb> user_verbs() { return kUserVerbs; }

}  // namespace hutch::cli
