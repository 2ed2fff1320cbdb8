// hutch reads resolv.conf(5) and hosts(5), and writes the sandbox's own files.
#include "plan/paths/name_files.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::plan {
namespace {

using Domains = std::vector<std::string>;

TEST(NameFilesTest, SearchDomainsAndNdotsAreRead) {
  const SearchRules rules = read_search_rules(
      "# a comment\nnameserver 10.0.0.1\nsearch Corp.Example. lab.example\noptions edns0 ndots:3 timeout:1\n");
  EXPECT_EQ(rules.domains, (Domains{"corp.example", "lab.example"}));
  EXPECT_EQ(rules.ndots, 3U);
}

TEST(NameFilesTest, LastSearchOrDomainLineCounts) {
  EXPECT_EQ(read_search_rules("search a.example\ndomain b.example c.example\n").domains, Domains{"b.example"});
  EXPECT_EQ(read_search_rules("domain b.example\nsearch\ta.example\r\n").domains, Domains{"a.example"});
  EXPECT_EQ(read_search_rules("search a.example\nsearch\n").domains, Domains{});
}

TEST(NameFilesTest, KeywordsBeginTheirLine) {
  EXPECT_EQ(read_search_rules(" search a.example\nsearching b.example\n;search c.example\n"), SearchRules());
}

TEST(NameFilesTest, WordsThatAreNoHostNamesArePassedOver) {
  const std::string text = cat({"search . 10.0.0.1 a;b ", std::string(300, 'x'), " ", std::string_view("a\0b", 3),
                                " ok.example ok.example\noptions ndots:x ndots: ndots:99999999999999\n"});
  EXPECT_EQ(read_search_rules(text).domains, Domains{"ok.example"});
  EXPECT_EQ(read_search_rules(text).ndots, 1U);
}

TEST(NameFilesTest, DomainsAndBytesAreBounded) {
  EXPECT_EQ(read_search_rules("search a b c d e f g h\n").domains.size(), 6U);
  const std::string label(60, 'a');
  const std::string lengthy = cat({label, ".", label, ".", label});
  EXPECT_EQ(read_search_rules(cat({"search ", lengthy, " b.", lengthy, " c\n"})).domains, Domains{lengthy});
  EXPECT_EQ(read_search_rules("options ndots:40\n").ndots, 15U);
  const std::string many(kResolverBytesMax, '\n');
  EXPECT_EQ(read_search_rules(many + "search a.example\n"), SearchRules());
}

TEST(NameFilesTest, ResolverFileNamesTheGatewayAlone) {
  const std::string text = resolver_file({.domains = {"a.example", "b.example"}, .ndots = 2}, NetworkKind::kGateway);
  EXPECT_EQ(text.substr(text.find('\n') + 1), "nameserver 127.0.0.1\nsearch a.example b.example\noptions ndots:2\n");
  EXPECT_EQ(read_search_rules(text), (SearchRules{.domains = {"a.example", "b.example"}, .ndots = 2}));
}

TEST(NameFilesTest, NoServerIsNamedWhereThereIsNoNetwork) {
  const std::string text = resolver_file({.domains = {"a.example"}, .ndots = 2}, NetworkKind::kNone);
  EXPECT_EQ(text.find("\nnameserver"), std::string::npos);
  EXPECT_EQ(read_search_rules(text), SearchRules());
}

TEST(NameFilesTest, HostsFileHasLocalhostOfBothFamiliesAndTheHostName) {
  EXPECT_EQ(hosts_file("box"), "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.0.1 box\n");
}

std::string addresses_in(const std::string& text, const std::string& name) {
  const HostTable table = read_hosts(text);
  const auto found = table.find(name);
  std::vector<std::string> words;
  if (found != table.end()) {
    for (const IpAddress& address : found->second) words.push_back(to_string(address));
  }
  return join(words, " ");
}

TEST(NameFilesTest, HostsAreReadByName) {
  const std::string text =
      "# 10.9.9.9 comment\n10.0.0.5\tGit.Corp. git # 10.0.0.6 c\n  fd00::5 git.corp\r\n10.0.0.7 git.corp\n"
      "10.0.0.5 git.corp\n";
  EXPECT_EQ(addresses_in(text, "git.corp"), "10.0.0.5 fd00::5 10.0.0.7");
  EXPECT_EQ(addresses_in(text, "git"), "10.0.0.5");
  EXPECT_EQ(addresses_in(text, "comment"), "");
  EXPECT_EQ(addresses_in(text, "c"), "");
}

TEST(NameFilesTest, WordsThatAreNeitherAddressesNorNamesArePassedOver) {
  EXPECT_TRUE(read_hosts("10.0.0.5\nnot an address\n10.0.0.300 a\nfe80::1%eth0 b\n10.0.0.5 a;b 10.0.0.6\n").empty());
  EXPECT_TRUE(read_hosts(std::string_view("10.0.0.5 a\0b\n", 13)).empty());
  EXPECT_EQ(addresses_in("10.0.0.5 a;b good.example\n", "good.example"), "10.0.0.5");
}

TEST(NameFilesTest, HostsAreBounded) {
  std::string many;
  for (int number = 0; number < 20; ++number) many += cat({"10.0.0.", std::to_string(number), " a\n"});
  EXPECT_EQ(read_hosts(many).at("a").size(), kHostAddressesMax);
  std::string names = "10.0.0.1";
  for (std::size_t number = 0; number < kHostNamesMax + 5; ++number) names += cat({" n", std::to_string(number)});
  ASSERT_LT(names.size(), kHostsBytesMax);
  EXPECT_EQ(read_hosts(names).size(), kHostNamesMax);
  EXPECT_TRUE(read_hosts(std::string(kHostsBytesMax, '\n') + "10.0.0.5 late\n").empty());
}

TEST(NameFilesTest, StemIsWhatComesBeforeASearchDomain) {
  const SearchRules rules{.domains = {"corp.example", "example"}};
  EXPECT_EQ(stem_of(rules, "git.corp.example"), "git");
  EXPECT_EQ(stem_of(rules, "good.example"), "good");
  EXPECT_EQ(stem_of(rules, "a.b.corp.example"), "a.b");
  EXPECT_EQ(stem_of(rules, "corp.example"), "corp");
  EXPECT_EQ(stem_of(rules, "xexample"), "");
  EXPECT_EQ(stem_of(rules, "example"), "");
  EXPECT_EQ(stem_of(SearchRules(), "git.corp.example"), "");
}

}  // namespace
}  // namespace hutch::plan
