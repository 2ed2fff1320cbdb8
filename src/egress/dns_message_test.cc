// DNS: what is read of a query, what is refused, what an answer looks like.
#include "egress/dns_message.h"

#include <gtest/gtest.h>

namespace hutch::egress {
namespace {

using std::string_literals::operator""s;

std::string query_bytes(const std::string& labels, char type, const std::string& flags = "\x01\x00"s,
                        const std::string& counts = "\x00\x01\x00\x00\x00\x00\x00\x00"s) {
  return "\xab\xcd"s + flags + counts + labels + "\x00"s + type + "\x00\x01"s;
}

TEST(DnsQuery, OneQuestion) {
  const auto read =
      read_dns_query(query_bytes("\x07"
                                 "Example\x03org\0"s,
                                 1));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->status, DnsStatus::kNoError);
  EXPECT_EQ(read->query.id, 0xabcd);
  EXPECT_EQ(read->query.name, "Example.org");
  EXPECT_TRUE(read->query.name_is_plain);
  EXPECT_EQ(read->query.type, 1);
  EXPECT_EQ(read->query.klass, 1);
  EXPECT_TRUE(read->query.recursion_desired);
  EXPECT_FALSE(read->query.has_edns);
}

TEST(DnsQuery, Edns) {
  const auto read = read_dns_query(query_bytes("\x01x\0"s, 1, "\x01\x00"s, "\x00\x01\x00\x00\x00\x00\x00\x01"s) +
                                   "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"s);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->query.has_edns);
  EXPECT_EQ(dns_answer(read->query, DnsStatus::kRefused).size(), 12 + 7 + 11);
}

TEST(DnsQuery, BytesThatNoHostNameHas) {
  EXPECT_FALSE(read_dns_query(query_bytes("\x03"
                                          "a.b\0"s,
                                          1))
                   ->query.name_is_plain);
  EXPECT_FALSE(read_dns_query(query_bytes("\x03"
                                          "a\0b\0"s,
                                          1))
                   ->query.name_is_plain);
  EXPECT_FALSE(read_dns_query(query_bytes("\x03"
                                          "a\nb\0"s,
                                          1))
                   ->query.name_is_plain);
  EXPECT_TRUE(read_dns_query(query_bytes("\x05_http\0"s, 1))->query.name_is_plain);
}

TEST(DnsQuery, Malformed) {
  EXPECT_FALSE(read_dns_query(""));
  EXPECT_FALSE(read_dns_query("\0\0\0\0\0\1\0\0\0\0\0"s));
  EXPECT_FALSE(read_dns_query(query_bytes("\x01x\0"s, 1, "\x81\x80"s)));
  const auto status = [](const std::string& bytes) { return read_dns_query(bytes)->status; };
  EXPECT_EQ(status(query_bytes("\x01x\0"s, 1, "\x28\x00"s)), DnsStatus::kNotImplemented);
  EXPECT_EQ(status(query_bytes("\x01x\0"s, 1, "\x01\x00"s, "\x00\x02\x00\x00\x00\x00\x00\x00"s)),
            DnsStatus::kFormatError);
  EXPECT_EQ(status(query_bytes("\xc0\x0c"s, 1)), DnsStatus::kFormatError);
  EXPECT_EQ(status(query_bytes("\x3f"
                               "short\0"s,
                               1)),
            DnsStatus::kFormatError);
  EXPECT_EQ(status("\0\0\1\0\0\1\0\0\0\0\0\0\1x\0"s), DnsStatus::kFormatError);
  std::string labels;
  for (int i = 0; i < 130; ++i) labels += "\x01x"s;
  EXPECT_EQ(status(query_bytes(labels + "\0"s, 1)), DnsStatus::kFormatError);
}

TEST(DnsAnswer, AnAddress) {
  const auto read = read_dns_query(query_bytes("\x01x\0"s, 1));
  EXPECT_EQ(dns_address_answer(read->query, IpAddress::v4(198, 18, 0, 1), 60),
            "\xab\xcd\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\x01x\x00\x00\x01\x00\x01"
            "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc6\x12\x00\x01"s);
}

TEST(DnsReverse, BothKinds) {
  EXPECT_EQ(reverse_address("4.3.2.1.in-addr.arpa"), parse_ip("1.2.3.4"));
  EXPECT_EQ(reverse_address("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"),
            parse_ip("2001:db8::1"));
  EXPECT_FALSE(reverse_address("3.2.1.in-addr.arpa"));
  EXPECT_FALSE(reverse_address("256.3.2.1.in-addr.arpa"));
  EXPECT_FALSE(reverse_address("x.ip6.arpa"));
}

}  // namespace
}  // namespace hutch::egress
