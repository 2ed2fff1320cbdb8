// Tests of the canonical form of hosts.
#include "policy/network/hosts.h"

#include <gtest/gtest.h>

namespace hutch::policy {
namespace {

struct Form {
  std::string_view typed;
  std::string_view canonical;
};

TEST(HostsTest, Names) {
  static constexpr Form kForms[] = {
      {"example.com", "example.com"},
      {"EXAMPLE.com.", "example.com"},
      {"localhost", "localhost"},
      {"_dmarc.Example.com", "_dmarc.example.com"},
      {"1password.com", "1password.com"},
      {"a--b.example", "a--b.example"},
      {"bücher.example", "xn--bcher-kva.example"},
      {"BÜCHER.example", "xn--bcher-kva.example"},
      {"bu\u0308cher.example", "xn--bcher-kva.example"},  // a letter and its dots apart
      {"xn--bcher-kva.example", "xn--bcher-kva.example"},
      {"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
      {"faß.de", "xn--fa-hia.de"},  // not "fass.de": non-transitional
      {"例え。テスト", "xn--r8jz45g.xn--zckzah"},
      {"ＥＸＡＭＰＬＥ．com", "example.com"},
      {"münchen_x.example", "xn--mnchen_x-65a.example"},
  };
  for (const Form& form : kForms) {
    const auto host = canonical_host(form.typed);
    ASSERT_TRUE(host.has_value()) << form.typed << ": " << host.error().message;
    EXPECT_EQ(host->name, form.canonical) << form.typed;
    EXPECT_FALSE(host->address) << form.typed;
    EXPECT_EQ(*canonical_host(host->name), *host) << form.typed;
  }
}

TEST(HostsTest, Addresses) {
  static constexpr Form kForms[] = {
      {"127.0.0.1", "127.0.0.1"},
      {"127.0.0.1.", "127.0.0.1"},
      {"127.1", "127.0.0.1"},
      {"127.0.1", "127.0.0.1"},
      {"2130706433", "127.0.0.1"},
      {"0x7f000001", "127.0.0.1"},
      {"0X7F.1", "127.0.0.1"},
      {"0177.0.0.1", "127.0.0.1"},
      {"017700000001", "127.0.0.1"},
      {"0x7f.0x0.0x0.0x1", "127.0.0.1"},
      {"0", "0.0.0.0"},
      {"10.65535", "10.0.255.255"},
      {"010.010.010.010", "8.8.8.8"},
      {"4294967295", "255.255.255.255"},
      {"１２７.0.0.1", "127.0.0.1"},
      {"１２７。０。０。１", "127.0.0.1"},
      {"[::1]", "::1"},
      {"::1", "::1"},
      {"0:0:0:0:0:0:0:1", "::1"},
      {"[2001:DB8::0:1]", "2001:db8::1"},
      {"::ffff:127.0.0.1", "127.0.0.1"},
      {"[::FFFF:7f00:1]", "127.0.0.1"},
      {"::127.0.0.1", "::127.0.0.1"},
      {"64:ff9b::7f00:1", "64:ff9b::7f00:1"},
  };
  for (const Form& form : kForms) {
    const auto host = canonical_host(form.typed);
    ASSERT_TRUE(host.has_value()) << form.typed << ": " << host.error().message;
    EXPECT_EQ(host->name, form.canonical) << form.typed;
    ASSERT_TRUE(host->address) << form.typed;
    EXPECT_EQ(to_string(*host->address), form.canonical) << form.typed;
  }
}

TEST(HostsTest, Refused) {
  const std::string long_label = std::string(64, 'a') + ".com";
  std::string long_name = "com";
  while (long_name.size() <= 253) long_name = "abcdefg." + long_name;
  const std::string_view texts[] = {
      "",
      ".",
      "..",
      "a..b",
      ".a",
      "example.com..",
      "-a.com",
      "a-.com",
      "a b.com",
      " a.com",
      "a.com\r\nHost: b",
      "a.com\n",
      "a.com\t",
      std::string_view("a\0.com", 6),
      std::string_view("a.com\0.evil.org", 15),
      "a.com\x7f",
      "a.com/x",
      "user@a.com",
      "a.com?b",
      "a.com#b",
      "a.com\\b",
      "a%2ecom",
      "fe80::1%eth0",
      "[fe80::1%25eth0]",
      "[127.0.0.1]",
      "[::1",
      "::1]",
      "[]",
      "[v1.x]",
      "[::1].com",
      ":::",
      "1:2:3",
      "12345::1",
      "256.0.0.1",
      "1.2.3.4.5",
      "1.2.3.256",
      "1.2.65536",
      "4294967296",
      "0400.0.0.1",
      "08.0.0.1",
      "0x",
      "1.0x",
      "a.1",
      "foo.0x7f",
      "*.example.com",
      "a\xff.com",
      "a\xc3.com",
      "xn--.com",
      "xn--a.com",
      "ex\u200bample.com/",
      "a\u2044b.com",   // a fraction slash becomes none of the characters above
      "a．．b",
      "％61.com",
      long_label,
      long_name,
  };
  for (const std::string_view text : texts) {
    const auto host = canonical_host(text);
    ASSERT_FALSE(host.has_value()) << text << " became " << host->name;
    EXPECT_EQ(host.error().message.find_first_of("\n\r"), std::string::npos);
  }
}

TEST(HostsTest, WithPorts) {
  const auto read = [](std::string_view text) {
    const auto target = parse_host_port(text);
    if (!target) return std::string("error");
    return target->host.name + (target->port ? " " + std::to_string(*target->port) : "");
  };
  EXPECT_EQ(read("Example.com"), "example.com");
  EXPECT_EQ(read("example.com:443"), "example.com 443");
  EXPECT_EQ(read("[::1]:80"), "::1 80");
  EXPECT_EQ(read("[::1]"), "::1");
  EXPECT_EQ(read("::1"), "::1");
  EXPECT_EQ(read("127.1:22"), "127.0.0.1 22");
  for (const char* text : {"example.com:", "example.com:0", "example.com:65536", "example.com:080", "example.com:-1",
                           "example.com:+1", "example.com:8o", ":80", "[::1]80", "[::1]:", "", "a:b:80"}) {
    EXPECT_EQ(read(text), "error") << text;
  }
}

}  // namespace
}  // namespace hutch::policy
