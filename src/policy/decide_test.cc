// Tests of the precedence of rules.
#include "policy/decide.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

Rule path_rule(Verb verb, std::string path, Match match = Match::kLiteral, Origin origin = Origin::kPolicy) {
  return {
      .verb = verb, .origin = origin, .match = match, .path = path, .text = path, .where = std::string(name_of(verb))};
}

Rule place(Place what, std::string path) {
  return {
      .verb = Verb::kPlace, .origin = Origin::kBuiltIn, .place = what, .path = std::move(path), .where = "built in"};
}

Rule mandatory(std::string path) {
  Rule deny = path_rule(Verb::kDenyWrite, std::move(path));
  deny.origin = Origin::kMandatory;
  deny.where = "mandatory";
  return deny;
}

struct DecideCase {
  const char* name;
  std::vector<Rule> rules;
  const char* path;
  bool read;
  bool write;
};

const auto kDenyRead = Verb::kDenyRead;
const auto kAllowRead = Verb::kAllowRead;
const auto kAllowWrite = Verb::kAllowWrite;
const auto kDenyWrite = Verb::kDenyWrite;

const DecideCase kDecideCases[] = {
    {"reading is allowed and writing is not by default", {}, "/etc/passwd", true, false},
    {"denyRead hides the directory itself", {path_rule(kDenyRead, "/home")}, "/home", false, false},
    {"denyRead hides what is below", {path_rule(kDenyRead, "/home")}, "/home/u/x", false, false},
    {"a name that only starts alike is another", {path_rule(kDenyRead, "/home")}, "/homes", true, false},
    {"allowRead beats the denyRead above it",
     {path_rule(kDenyRead, "/home"), path_rule(kAllowRead, "/home/u/p")},
     "/home/u/p/x",
     true,
     false},
    {"a more specific denyRead inside an allowRead denies",
     {path_rule(kDenyRead, "/home"), path_rule(kAllowRead, "/home/u/p"), path_rule(kDenyRead, "/home/u/p/secret")},
     "/home/u/p/secret/k",
     false,
     false},
    {"the order of the lists does not matter",
     {path_rule(kDenyRead, "/home/u/p/secret"), path_rule(kAllowRead, "/home/u/p"), path_rule(kDenyRead, "/home")},
     "/home/u/p/secret/k",
     false,
     false},
    {"a file's denyRead is not lifted by its directory's allowRead",
     {path_rule(kDenyRead, "/p/.env"), path_rule(kAllowRead, "/p")},
     "/p/.env",
     false,
     false},
    {"a file's denyRead is lifted by its own allowRead",
     {path_rule(kDenyRead, "/p/.env"), path_rule(kAllowRead, "/p/.env")},
     "/p/.env",
     true,
     false},
    {"a pattern does not lift a literal denyRead",
     {path_rule(kDenyRead, "/p/.env"), path_rule(kAllowRead, "/p/.env", Match::kGlob)},
     "/p/.env",
     false,
     false},
    {"a literal allowRead lifts a pattern's denyRead",
     {path_rule(kDenyRead, "/p/a.pem", Match::kGlob), path_rule(kAllowRead, "/p/a.pem")},
     "/p/a.pem",
     true,
     false},
    {"an option beats the policy for the same path",
     {path_rule(kAllowRead, "/p"), path_rule(kDenyRead, "/p", Match::kLiteral, Origin::kOption)},
     "/p/x",
     false,
     false},
    {"allowWrite allows its tree", {path_rule(kAllowWrite, "/p")}, "/p/a/b", true, true},
    {"allowWrite does not reach above", {path_rule(kAllowWrite, "/p/a")}, "/p/b", true, false},
    {"denyWrite inside beats allowWrite",
     {path_rule(kAllowWrite, "/p"), path_rule(kDenyWrite, "/p/x")},
     "/p/x/y",
     true,
     false},
    {"denyWrite beats allowWrite even as its ancestor",
     {path_rule(kAllowWrite, "/p/x"), path_rule(kDenyWrite, "/p")},
     "/p/x",
     true,
     false},
    {"denyWrite beats allowWrite of the same path",
     {path_rule(kAllowWrite, "/p/x"), path_rule(kDenyWrite, "/p/x")},
     "/p/x",
     true,
     false},
    {"what may not be read cannot be written",
     {path_rule(kDenyRead, "/p"), path_rule(kAllowWrite, "/p")},
     "/p/x",
     false,
     false},
    {"denyWrite does not unmask a denyRead",
     {path_rule(kDenyRead, "/p/s"), path_rule(kAllowWrite, "/p"), path_rule(kDenyWrite, "/p/s/x")},
     "/p/s/x",
     false,
     false},
    {"a mandatory deny is not lifted by the directory",
     {path_rule(kAllowWrite, "/p"), mandatory("/p/.bashrc")},
     "/p/.bashrc",
     true,
     false},
    {"a mandatory deny is lifted by an entry of that very file",
     {path_rule(kAllowWrite, "/p"), path_rule(kAllowWrite, "/p/.bashrc"), mandatory("/p/.bashrc")},
     "/p/.bashrc",
     true,
     true},
    {"a mandatory deny is not lifted by a pattern",
     {path_rule(kAllowWrite, "/p"), path_rule(kAllowWrite, "/p/.bashrc", Match::kGlob), mandatory("/p/.bashrc")},
     "/p/.bashrc",
     true,
     false},
    {"an entry in a mandatory directory lifts it for itself",
     {path_rule(kAllowWrite, "/p"), path_rule(kAllowWrite, "/p/.git/hooks/a"), mandatory("/p/.git/hooks")},
     "/p/.git/hooks/a",
     true,
     true},
    {"and for nothing else in it",
     {path_rule(kAllowWrite, "/p"), path_rule(kAllowWrite, "/p/.git/hooks/a"), mandatory("/p/.git/hooks")},
     "/p/.git/hooks/b",
     true,
     false},
    {"a mandatory deny holds below its directory",
     {path_rule(kAllowWrite, "/p"), mandatory("/p/.git/hooks")},
     "/p/.git/hooks/pre-commit",
     true,
     false},
    {"a lifted mandatory deny does not lift a denyWrite",
     {path_rule(kAllowWrite, "/p/.bashrc"), path_rule(kDenyWrite, "/p"), mandatory("/p/.bashrc")},
     "/p/.bashrc",
     true,
     false},
    {"hutch's own files are never visible",
     {path_rule(kAllowRead, "/h/hutch"), path_rule(kAllowWrite, "/h/hutch"),
      path_rule(kDenyRead, "/h/hutch", Match::kLiteral, Origin::kStore)},
     "/h/hutch/x",
     false,
     false},
    {"the policy file is never writable",
     {path_rule(kAllowWrite, "/p"), path_rule(kAllowWrite, "/p/pol.json"),
      path_rule(kDenyWrite, "/p/pol.json", Match::kLiteral, Origin::kStore)},
     "/p/pol.json",
     true,
     false},
    {"a private place is writable", {place(Place::kPrivate, "/tmp")}, "/tmp/x", true, true},
    {"a denyWrite above does not reach into a private place",
     {path_rule(kDenyWrite, "/"), place(Place::kPrivate, "/tmp")},
     "/tmp/x",
     true,
     true},
    {"a private place shows below a denyRead",
     {path_rule(kDenyRead, "/home"), place(Place::kPrivate, "/home/u/.cache")},
     "/home/u/.cache/x",
     true,
     true},
    {"an allowRead inside a private place shows the host's",
     {place(Place::kPrivate, "/tmp"), path_rule(kAllowRead, "/tmp/p")},
     "/tmp/p/x",
     true,
     false},
    {"a denyRead inside that one hides again",
     {place(Place::kPrivate, "/tmp"), path_rule(kAllowRead, "/tmp/p"), path_rule(kDenyRead, "/tmp/p/s")},
     "/tmp/p/s",
     false,
     false},
    {"the root can be allowed", {path_rule(kAllowWrite, "/")}, "/etc/x", true, true},
    {"/dev/null", {place(Place::kDevices, "/dev")}, "/dev/null", true, true},
    {"/dev/kvm is not there", {place(Place::kDevices, "/dev")}, "/dev/kvm", false, false},
    {"/dev/nullx is not there", {place(Place::kDevices, "/dev")}, "/dev/nullx", false, false},
    {"/dev itself can be listed", {place(Place::kDevices, "/dev")}, "/dev", true, false},
    {"/dev/shm", {place(Place::kDevices, "/dev")}, "/dev/shm/x", true, true},
    {"nothing lies below a device", {place(Place::kDevices, "/dev")}, "/dev/null/x", false, false},
    {"/proc of the sandbox", {place(Place::kProc, "/proc")}, "/proc/self/oom_score_adj", true, true},
    {"/proc by number", {place(Place::kProc, "/proc")}, "/proc/12/comm", true, true},
    {"/proc/sys is read-only", {place(Place::kProc, "/proc")}, "/proc/sys/kernel/hostname", true, false},
    {"allowWrite of / does not reach /proc/sys",
     {path_rule(kAllowWrite, "/"), place(Place::kProc, "/proc")},
     "/proc/sys/kernel/hostname",
     true,
     false},
    {"/sys/devices/system", {place(Place::kSys, "/sys")}, "/sys/devices/system/cpu", true, false},
    {"the way to it", {place(Place::kSys, "/sys")}, "/sys/devices", true, false},
    {"the rest of /sys", {place(Place::kSys, "/sys")}, "/sys/kernel", false, false},
};

class DecideTest : public testing::TestWithParam<DecideCase> {};

TEST_P(DecideTest, ReadAndWrite) {
  const DecideCase& one = GetParam();
  const Decision read = decide(one.rules, Access::kRead, one.path);
  const Decision write = decide(one.rules, Access::kWrite, one.path);
  EXPECT_EQ(read.allowed, one.read) << one.name << ": " << read.rule << ": " << read.why;
  EXPECT_EQ(write.allowed, one.write) << one.name << ": " << write.rule << ": " << write.why;
  EXPECT_FALSE(read.rule.empty());
  EXPECT_FALSE(read.why.empty());
  EXPECT_FALSE(write.rule.empty());
  EXPECT_FALSE(write.why.empty());
}

INSTANTIATE_TEST_SUITE_P(Table, DecideTest, testing::ValuesIn(kDecideCases));

// Whatever the order in which the rules stand, the answer is the same.
TEST(DecideTest, OrderOfRulesDoesNotMatter) {
  for (const DecideCase& one : kDecideCases) {
    std::vector<Rule> reversed(one.rules.rbegin(), one.rules.rend());
    EXPECT_EQ(decide(reversed, Access::kRead, one.path).allowed, one.read) << one.name;
    EXPECT_EQ(decide(reversed, Access::kWrite, one.path).allowed, one.write) << one.name;
  }
}

TEST(DecideTest, NamesTheRule) {
  const std::vector<Rule> rules = {path_rule(kDenyRead, "/home"), path_rule(kAllowRead, "/home/u/p"),
                                   path_rule(kAllowWrite, "/home/u/p"), mandatory("/home/u/p/.mcp.json")};
  EXPECT_EQ(decide(rules, Access::kRead, "/home/x").rule, "denyRead \"/home\"");
  EXPECT_EQ(decide(rules, Access::kRead, "/home/u/p/x").rule, "allowRead \"/home/u/p\"");
  EXPECT_EQ(decide(rules, Access::kWrite, "/home/u/p/x").rule, "allowWrite \"/home/u/p\"");
  EXPECT_EQ(decide(rules, Access::kWrite, "/home/u/p/.mcp.json").rule, "mandatory \"/home/u/p/.mcp.json\"");
  EXPECT_EQ(decide(rules, Access::kWrite, "/etc/x").rule, "default");
}

}  // namespace
}  // namespace hutch::policy
