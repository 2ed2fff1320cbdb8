// The commands that set up OS users.
#include "plan/setup/setup_steps.h"

#include <utility>

#include "base/text.h"
#include "plan/setup/os_user_numbers.h"

namespace hutch::plan {

namespace {

// What would start later by cron or at is in no sandbox. A list may end without the end of its last line.
constexpr std::string_view kAppend = "[ -z \"$(tail -c 1 \"$1\")\" ] || echo >> \"$1\"; echo \"$0\" >> \"$1\"";

constexpr std::string_view kWriteNumber =
    "umask 022; [ -z \"$(tail -c 1 \"$1\" 2> /dev/null)\" ] || echo >> \"$1\"; echo \"$0\" >> \"$1\"";

// A name of bash's that shells(5) does not have.
constexpr const char* kAgentsShell = "/bin/../bin/bash";

constexpr const char* kOver = "1970-01-02";

constexpr std::string_view kPutFile = "umask 022 && printf %s \"$1\" > \"$0.new\" && mv -f -- \"$0.new\" \"$0\"";

}  // namespace

// A system user gets no subordinate ids (useradd(8), --system), so that it makes no user namespace with more users.
SetupStep system_user(const std::string& name, std::uint32_t number, const std::string& home,
                      const std::string& group) {
  SetupStep step{cat({"make the system user ", name}),
                 {"useradd", "--system", "--user-group", "--no-create-home", "--home-dir", home, "--shell",
                  kAgentsShell, "--expiredate", kOver}};
  // The group of its name gets the same number, which is to be free as well (useradd(8), --user-group).
  if (number != 0) step.command.insert(step.command.end(), {"--uid", std::to_string(number)});
  if (!group.empty()) step.command.insert(step.command.end(), {"--groups", group});
  step.command.push_back(name);
  return step;
}

void end_logins(std::vector<SetupStep>& steps, const std::string& name) {
  steps.push_back({cat({"let nobody log in as ", name, ", whatever keys its home has"}),
                   {"usermod", "--expiredate", kOver, "--shell", kAgentsShell, name}});
}

void write_number(std::vector<SetupStep>& steps, const std::string& name, std::uint32_t number) {
  if (number == 0) return;
  steps.push_back(
      directory("make the place of hutch's settings of root", std::string(kHelperPlace), "0755", "root", "root"));
  steps.push_back(
      {cat({"write down its number, ", std::to_string(number), ", which nobody else gets"}),
       {"sh", "-c", std::string(kWriteNumber), given_number_line({number, name}), std::string(kNumbersFile)}});
}

void end_places(std::vector<SetupStep>& steps, const OsUserFacts& facts, Homes homes) {
  if (homes == Homes::kRemoved && !facts.places.empty()) {
    SetupStep step{"remove its home with all that is in it", {"rm", "-r", "-f", "--one-file-system", "--"}};
    step.command.insert(step.command.end(), facts.places.begin(), facts.places.end());
    steps.push_back(std::move(step));
  }
  if (homes == Homes::kRemoved) return;
  for (const std::string& kept : facts.open_places) {
    steps.push_back(directory("keep what is there, closed until the user is made again", kept, "0700", "root", "root"));
  }
}

SetupStep directory(std::string what, const std::string& path, std::string_view mode, std::string_view user,
                    std::string_view group) {
  return {std::move(what),
          {"install", "-d", "-m", std::string(mode), "-o", std::string(user), "-g", std::string(group), "--", path}};
}

SetupStep own_directory(std::string what, const std::string& path, std::string_view user) {
  const std::string name(user);
  return {std::move(what),
          {"setpriv", "--reuid", name, "--regid", name, "--init-groups", "--no-new-privs", "mkdir", "-p", "-m", "0700",
           "--", path}};
}

void add_denial(std::vector<SetupStep>& steps, const std::string& name, std::string_view file, DenyList list) {
  if (list == DenyList::kNotNeeded || list == DenyList::kHasIt) return;
  if (list == DenyList::kAbsent) {
    steps.push_back({"make the list of those who may not", {"install", "-m", "0644", "/dev/null", std::string(file)}});
  }
  const std::string_view what = file == kCronDenyList ? "cron" : "at";
  steps.push_back({cat({"keep ", name, " from running jobs later, by ", what}),
                   {"sh", "-c", std::string(kAppend), name, std::string(file)}});
}

void remove_denial(std::vector<SetupStep>& steps, const std::string& name, std::string_view file, DenyList list) {
  if (list != DenyList::kHasIt) return;
  // Of a user's letters a dot alone is another one in a pattern.
  std::string pattern;
  for (const char letter : name) pattern += letter == '.' ? std::string("[.]") : std::string(1, letter);
  steps.push_back(
      {cat({"take ", name, " out of ", file}), {"sed", "-i", cat({"/^", pattern, "$/d"}), std::string(file)}});
}

SetupStep root_file(std::string what, const std::string& path, std::string text) {
  return {std::move(what), {"sh", "-c", std::string(kPutFile), path, std::move(text)}};
}

}  // namespace hutch::plan
