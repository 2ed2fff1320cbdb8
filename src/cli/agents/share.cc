// hutch share, shared and unshare.
#include "cli/agents/share.h"

#include <algorithm>

#include "base/text.h"
#include "cli/agents/share_copy.h"
#include "cli/terminal/consent.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "host/machine/account.h"
#include "host/machine/facts.h"
#include "host/machine/people.h"
#include "service/os_user/os_user.h"
#include "service/share/copy.h"
#include "service/share/keys.h"
#include "service/share/share.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/umask.h"
#include "sys/process/unwaiting.h"

namespace hutch::cli {

namespace {

std::string_view mode_words(plan::ShareMode mode) {
  return mode == plan::ShareMode::kReadWrite ? "read-write" : "read-only";
}

// The person's own where root has made one, else the machine's.
Result<std::optional<host::OsUser>> find_user(const std::string& agent) {
  for (const std::uint32_t person : {sys::user_id(), 0U}) {
    const std::string name = TRY(service::own_os_user(person, agent));
    auto user = TRY(host::find_os_user(name));
    if (user) return user;
  }
  return std::optional<host::OsUser>();
}

Result<host::OsUser> share_user(const std::string& agent) {
  const std::optional<host::OsUser> user = TRY(find_user(agent));
  if (user) {
    TRY(host::check_is_no_person(*user));
    return *user;
  }
  const std::string name = TRY(service::own_os_user(sys::user_id(), agent));
  const std::string option = agent.empty() ? "" : cat({" --agent ", agent});
  const std::string person = sys::user_id() == 0 ? "" : cat({" --for ", TRY(host::person_name(sys::user_id()))});
  return fail(Error::not_found(cat({"there is no OS user ", name, " yet: sudo hutch init", person, option})));
}

// Who is no user any more can be named still.
Result<std::string> agent_name(const std::string& agent, const service::Sharer& sharer) {
  if (agent.empty()) return std::string();
  const std::optional<host::OsUser> user = TRY(find_user(agent));
  if (user) return user->name;
  std::string own = TRY(service::own_os_user(sys::user_id(), agent));
  const std::vector<store::Share> shares = TRY(service::list_shares(sharer));
  if (std::ranges::find(shares, own, &store::Share::user) != shares.end()) return own;
  return service::own_os_user(0, agent);
}

Result<service::Sharer> own_sharer() {
  return service::Sharer{.uid = sys::user_id(),
                         .groups = TRY(sys::own_groups()),
                         .umask = sys::own_umask(),
                         .home = TRY(host::home_directory()),
                         .dirs = TRY(own_dirs())};
}

Status ask_to_open(const std::vector<std::string>& directories, const std::string& user, ShareArguments::Way way) {
  if (way == ShareArguments::Way::kOpen) return {};
  std::string list;
  for (const std::string& directory : directories) list += cat({"  ", printable(directory), "\n"});
  return ask_consent({.what = cat({user, " cannot pass through\n", list}),
                      .question = "Let it pass, without listing them? By name it then has what is in there and open to "
                                  "everybody.",
                      .option = "--traverse lets it pass (x alone: it cannot list them, but has by name what is in "
                                "there and open to everybody)",
                      .declined = "nothing was shared"});
}

service::ShareVoice voice_of(const ShareArguments& arguments, const std::string& user) {
  const bool shows = is_terminal(2) && arguments.form == service::OutputForm::kText;
  return {.consent =
              [&arguments, user](const std::vector<std::string>& directories) {
                return ask_to_open(directories, user, arguments.way);
              },
          .progress =
              [shows](std::size_t done, std::size_t total) {
                if (!shows) return;
                const std::string of = total == 0 ? "" : cat({" of ", std::to_string(total)});
                (void)sys::write_until_told(2, cat({"\r\x1b[Khutch: ", std::to_string(done), of, " files"}));
                if (done == total) (void)sys::write_until_told(2, "\r\x1b[K");
              }};
}

// Its number may be nobody's by now, or somebody else's.
bool is_user_there(const store::Share& share) {
  const auto user = host::find_os_user(share.user);
  return !user || (*user && (*user)->uid == share.agent);
}

tool::Value share_json(const store::Share& share) {
  return tool::Value::Object{{"path", share.path},
                             {"user", share.user},
                             {"uid", static_cast<std::int64_t>(share.agent)},
                             {"mode", std::string(mode_words(share.mode))},
                             {"state", std::string(store::name_of(share.state))},
                             {"since", share.since}};
}

tool::Value share_report_json(const service::ShareReport& report) {
  tool::Value::Object object = *share_json(report.share).get<tool::Value::Object>();
  object["files"] = static_cast<std::int64_t>(report.files);
  object["changed"] = static_cast<std::int64_t>(report.changed);
  object["linked"] = static_cast<std::int64_t>(report.linked);
  object["elsewhere"] = static_cast<std::int64_t>(report.elsewhere);
  object["unreadable"] = static_cast<std::int64_t>(report.unreadable);
  object["movedLinks"] = static_cast<std::int64_t>(report.moved_links);
  object["openLinks"] = static_cast<std::int64_t>(report.open_links);
  object["ofOthers"] = static_cast<std::int64_t>(report.of_others);
  if (report.gone) object["gone"] = true;
  tool::Value::List opened;
  for (const std::string& directory : report.opened) opened.emplace_back(directory);
  object["directories"] = std::move(opened);
  return object;
}

void tell_count(std::size_t count, std::string_view what) {
  if (count > 0) (void)sys::write_until_told(2, cat({"hutch: ", std::to_string(count), " ", what, "\n"}));
}

void tell_rest(const service::ShareReport& report) {
  if (is_terminal(2)) (void)sys::write_until_told(2, "\r\x1b[K");
  tell_count(report.linked, "files have names outside of it: shared for reading alone");
  tell_count(report.elsewhere, "places where something is mounted are left out");
  tell_count(report.unreadable, "directories that you may not list are left out");
  tell_count(
      report.moved_links,
      "files that had other names as well are not in it any more, and by those may still let it in: setfacl -x takes "
      "that back");
  tell_count(
      report.open_links,
      "files have got names outside of it while they were shared; what everybody may do with them by their modes it "
      "may do there still");
  tell_count(
      report.of_others,
      "files of others let it in still, as one agent's that two had the directory of: their owner, or root, can take "
      "that back");
}

// ssh of the owner's refuses such a file until the share ends.
void warn_of_keys(const std::vector<std::string>& keys, const ShareArguments& arguments) {
  const std::string agent = arguments.agent.empty() ? "" : cat({" --agent ", arguments.agent});
  for (const std::string& key : keys) {
    const std::string name = key.substr(key.rfind('/') + 1);
    // An agent may have chosen the name: a command that would not be what it looks like is left out.
    const bool is_plain = printable(key) == key;
    (void)sys::write_until_told(
        2,
        cat({"hutch: ", printable(key),
             " is a private key: while it is shared its mode shows the agent's right as the group's, and ssh refuses "
             "it to you. hutch unshare takes that back; hutch share",
             is_plain ? cat({agent, " --copy --into ", shell_word(cat({"keys/", name})), " ", shell_word(key)})
                      : std::string(" --copy"),
             " gives the agent a copy instead, and your ssh goes on\n"}));
  }
}

int share_path(const ShareArguments& arguments, const host::OsUser& user, const service::Sharer& sharer) {
  const auto report = service::share({arguments.path, user, arguments.mode}, sharer, voice_of(arguments, user.name));
  if (!report) return complain(report.error());
  tell_rest(*report);
  warn_of_keys(service::private_keys_at(report->share.path), arguments);
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(share_report_json(*report)) + "\n");
  for (const std::string& directory : report->opened) {
    (void)print(cat({user.name, " may pass through ", printable(directory), "\n"}));
  }
  return print(cat({"Shared ", printable(report->share.path), " with ", user.name, ", ", mode_words(report->share.mode),
                    ": ", counted(report->files, "file"), "\n"}));
}

int print_commands(const ShareArguments& arguments, const host::OsUser& user, const service::Sharer& sharer) {
  const auto commands = service::share_commands({arguments.path, user, arguments.mode}, sharer);
  return commands ? print(join(*commands, "\n") + "\n") : complain(commands.error());
}

int unshare_path(const ShareArguments& arguments, const service::Sharer& sharer) {
  const auto user = agent_name(arguments.agent, sharer);
  if (!user) return complain(user.error());
  const auto reports = service::end_share(arguments.path, *user, arguments.gone, sharer, voice_of(arguments, ""));
  if (!reports && reports.error().code == Code::kNotFound) {
    return remove_copies(arguments, *user, sharer, reports.error());
  }
  if (!reports) return complain(reports.error());
  tool::Value::List array;
  for (const service::ShareReport& report : *reports) {
    tell_rest(report);
    if (!report.is_over()) {
      (void)sys::write_until_told(
          2, cat({"hutch: what was moved away, or could not be looked at, still lets ", report.share.user,
                  " in; setfacl -R -x u:", std::to_string(report.share.agent),
                  ",d:u:", std::to_string(report.share.agent), " -- PLACE takes that back\n"}));
    }
    array.push_back(share_report_json(report));
    if (arguments.form == service::OutputForm::kJson) continue;
    for (const std::string& directory : report.opened) {
      (void)print(cat({report.share.user, " may no longer pass through ", printable(directory), "\n"}));
    }
    (void)print(cat({"Unshared ", printable(report.share.path), " from ", report.share.user, "\n"}));
  }
  if (arguments.form != service::OutputForm::kJson) return 0;
  return print(tool::json_text(tool::Value(std::move(array))) + "\n");
}

int print_shares(const ShareArguments& arguments, const service::Sharer& sharer) {
  const auto shares = service::list_shares(sharer);
  if (!shares) return complain(shares.error());
  const auto copies = service::list_copies(sharer);
  if (!copies) return complain(copies.error());
  if (arguments.form == service::OutputForm::kJson) {
    tool::Value::List array;
    for (const store::Share& share : *shares) {
      tool::Value::Object object = *share_json(share).get<tool::Value::Object>();
      if (!is_user_there(share)) object["userGone"] = true;
      array.emplace_back(std::move(object));
    }
    for (const store::Copy& copy : *copies) array.push_back(copy_json(copy));
    return print(tool::json_text(tool::Value(std::move(array))) + "\n");
  }
  std::vector<std::vector<std::string>> rows = {{"PATH", "USER", "MODE", "SINCE", ""}};
  for (const store::Share& share : *shares) {
    const bool whole = share.state == store::ShareState::kShared;
    const std::string_view interrupted = whole ? "" : "interrupted: share or unshare it again";
    const std::string gone = cat({"that user is gone, number ", std::to_string(share.agent), ": unshare it"});
    rows.push_back({printable(share.path), share.user, std::string(mode_words(share.mode)), share.since,
                    is_user_there(share) ? std::string(interrupted) : gone});
  }
  for (const store::Copy& copy : *copies) rows.push_back(copy_row(copy));
  return print(table(rows));
}

}  // namespace

Status end_shares_with(const std::string& name) {
  const auto user = TRY(host::find_os_user(name));
  if (!user) return {};
  const service::Sharer sharer = TRY(own_sharer());
  const ShareArguments quiet;
  for (const auto& report : TRY(service::end_shares_with(*user, sharer, voice_of(quiet, name)))) {
    if (report.is_over()) {
      (void)print(cat({"Unshared ", printable(report.share.path), " from ", name, "\n"}));
      continue;
    }
    (void)sys::write_until_told(2, cat({"hutch: what was shared at ", printable(report.share.path), " with ", name,
                                        " was moved away, or not all of it could be looked at: that lets number ",
                                        std::to_string(report.share.agent), " in still; hutch shared lists it\n"}));
  }
  return {};
}

int share(const ShareArguments& arguments) {
  const auto sharer = own_sharer();
  if (!sharer) return complain(sharer.error());
  if (arguments.action == ShareArguments::Action::kShared) return print_shares(arguments, *sharer);
  if (arguments.action == ShareArguments::Action::kUnshare) return unshare_path(arguments, *sharer);
  const auto user = share_user(arguments.agent);
  if (!user) return complain(user.error());
  if (arguments.how == ShareArguments::How::kCopied) return share_copy(arguments, *user, *sharer);
  const bool prints = arguments.print == ShareArguments::Print::kCommands;
  return prints ? print_commands(arguments, *user, *sharer) : share_path(arguments, *user, *sharer);
}

}  // namespace hutch::cli
