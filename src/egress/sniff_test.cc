// First bytes: TLS hellos whole, cut and wrong; HTTP; what is neither.
#include "egress/sniff.h"

#include <gtest/gtest.h>

namespace hutch::egress {
namespace {

using std::string_literals::operator""s;

std::string u16(std::size_t value) { return {static_cast<char>(value >> 8), static_cast<char>(value)}; }

std::string name_extension(const std::string& name) {
  const std::string list = "\0"s + u16(name.size()) + name;
  const std::string body = u16(list.size()) + list;
  return u16(0) + u16(body.size()) + body;
}

std::string hello(const std::string& extensions) {
  const std::string body =
      "\x03\x03"s + std::string(32, 'r') + "\0"s + u16(2) + "\x13\x01" + "\1\0"s + u16(extensions.size()) + extensions;
  return "\1\0"s + u16(body.size()) + body;
}

std::string record(const std::string& part) { return "\x16\x03\x01"s + u16(part.size()) + part; }

TEST(Sniff, TheNameOfAHello) {
  const Sniffed whole = sniff(record(hello(name_extension("a.example"))) + "more");
  EXPECT_EQ(whole.kind, FirstBytes::kTls);
  EXPECT_EQ(whole.server_name, "a.example");
  EXPECT_EQ(sniff(record(hello(u16(10) + u16(0)))).server_name, "");
}

TEST(Sniff, EveryBeginningOfAHelloAsksForMore) {
  const std::string whole = record(hello(name_extension("a.example")));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Sniffed part = sniff(std::string_view(whole).substr(0, size));
    EXPECT_EQ(part.kind, FirstBytes::kMore) << size;
    EXPECT_FALSE(part.is_text);
  }
}

TEST(Sniff, AHelloInManyRecords) {
  const std::string message = hello(name_extension("a.example"));
  std::string records;
  for (const char byte : message) records += record({byte});
  EXPECT_EQ(sniff(records).server_name, "a.example");
}

TEST(Sniff, WrongHellos) {
  const std::string name = name_extension("a.example");
  EXPECT_EQ(sniff(record(hello(name + name_extension("b.example")))).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff(record(hello(name).substr(0, 20) + std::string(200, 'x'))).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff(record("\2\0\0\0"s)).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff(record("")).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff(record(hello(name) + "\1\0\0\0"s)).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff("\x16\x03\x01\xff\xff"s).kind, FirstBytes::kMalformed);
}

TEST(Sniff, Requests) {
  EXPECT_EQ(sniff("GET / HTTP/1.1\r\nHost: x\r\n").kind, FirstBytes::kHttp);
  EXPECT_EQ(sniff("\r\n\nGET / HTTP/1.1\r\n").kind, FirstBytes::kHttp);
  EXPECT_EQ(sniff("X-OWN\t/ HTTP/1.0\n").kind, FirstBytes::kHttp);
  EXPECT_EQ(sniff("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").kind, FirstBytes::kHttp2);
  for (const char* part : {"G", "GET", "GET /", "GET / HTTP/1.1\r", "PRI * HTTP/2.0\r\n\r\n", "\r\n", "{}"}) {
    EXPECT_EQ(sniff(part).kind, FirstBytes::kMore) << part;
    EXPECT_TRUE(sniff(part).is_text) << part;
  }
}

TEST(Sniff, RequestsAsLenientServersReadThem) {
  const std::string word(300, 'A');
  for (const std::string& line : {" GET / HTTP/1.1"s, "\r\n\t\r\n\vGET / HTTP/1.1"s, "\xa0GET / HTTP/1.1"s,
                                  "GET / http/1.1"s, "GET /\0 HTTP/1.1"s, "G{}T / HTTP/1.1"s, word + " / HTTP/1.1",
                                  "GET http://other.example/"s, "\x1cGET\v/\vHTTP/1.1"s}) {
    EXPECT_EQ(sniff(line + "\r\n").kind, FirstBytes::kHttp) << line;
    for (std::size_t size = 1; size <= line.size(); ++size) {
      EXPECT_EQ(sniff(line.substr(0, size)).kind, FirstBytes::kMore) << line << size;
    }
  }
  EXPECT_EQ(sniff("GET " + std::string(20000, 'x')).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff(std::string(20000, '\n')).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff(std::string(20000, '\n') + "G").kind, FirstBytes::kMalformed);
}

TEST(Sniff, RecordsBeforeTheHello) {
  EXPECT_EQ(sniff("\x15").kind, FirstBytes::kMore);
  EXPECT_FALSE(sniff("\x15").is_text);
  EXPECT_EQ(sniff("\x15\3\1\0\2\1\x5a"s + record(hello("other.example"))).kind, FirstBytes::kMalformed);
  EXPECT_EQ(sniff("\x14\3\3\0\1\1"s).kind, FirstBytes::kMalformed);
}

TEST(Sniff, Others) {
  for (const std::string& bytes :
       {"SSH-2.0-x\r\n"s, "\0\0\0\x08"s, "*1\r\n"s, "{}\n"s, "get x\r\n"s, "0032git-upload-pack /p\0host=x\0"s,
        "\x14\1"s, std::string(20000, 'x'), "\1\1\0\x8 HTTP/1.1\n"s}) {
    EXPECT_EQ(sniff(bytes).kind, FirstBytes::kOther) << bytes;
  }
}

}  // namespace
}  // namespace hutch::egress
