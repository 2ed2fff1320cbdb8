// Values in texts, as they are and as programs write them otherwise.
#include "secret/scrubber.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/base64.h"

namespace hutch::secret {
namespace {

const std::string kValue = "sk-3c/R+t \"q\" =ü~";

Scrubber scrubber() {
  return Scrubber({{.name = "KEY", .giving = Giving::kBridge, .hosts = {}, .value = kValue, .set_at = 0},
                   {.name = "TINY", .giving = Giving::kBridge, .hosts = {}, .value = "abc", .set_at = 0}});
}

TEST(ScrubberTest, AsItIs) {
  EXPECT_EQ(scrubber().scrub("a " + kValue + kValue + " z"), "a [REDACTED:KEY][REDACTED:KEY] z");
  EXPECT_EQ(scrubber().scrub("nothing of it: abc, sk-3c"), "nothing of it: abc, sk-3c");
  EXPECT_EQ(scrubber().scrub(""), "");
}

TEST(ScrubberTest, InBase64AtEveryPlace) {
  for (const std::string before : {"", "a", "ab", "abc", "user:"}) {
    for (const std::string after : {"", "x", "xy", "xyz"}) {
      std::string encoded = to_base64(before + kValue + after);
      EXPECT_NE(scrubber().scrub(encoded).find("[REDACTED:KEY]"), std::string::npos) << before << "|" << after;
      for (char& c : encoded) c = c == '+' ? '-' : c == '/' ? '_' : c;
      EXPECT_NE(scrubber().scrub(encoded).find("[REDACTED:KEY]"), std::string::npos) << before << "|" << after;
    }
  }
}

TEST(ScrubberTest, InHexUrlsAndJson) {
  EXPECT_EQ(scrubber().scrub("736b2d33632f522b74202271222 73d"), "736b2d33632f522b74202271222 73d");
  EXPECT_EQ(scrubber().scrub("x736b2d33632f522b7420227122203dc3bc7ey"), "x[REDACTED:KEY]y");
  EXPECT_EQ(scrubber().scrub("736B2D33632F522B7420227122203DC3BC7E"), "[REDACTED:KEY]");
  EXPECT_EQ(scrubber().scrub("?k=sk-3c%2FR%2Bt%20%22q%22%20%3D%C3%BC~&"), "?k=[REDACTED:KEY]&");
  EXPECT_EQ(scrubber().scrub("?k=sk-3c%2fR%2bt%20%22q%22%20%3d%c3%bc~&"), "?k=[REDACTED:KEY]&");
  EXPECT_EQ(scrubber().scrub(R"({"k":"sk-3c/R+t \"q\" =ü~"})"), R"({"k":"[REDACTED:KEY]"})");
}

TEST(ScrubberTest, InFormsJsonOfAsciiHtmlAndShells) {
  EXPECT_EQ(scrubber().scrub("k=sk-3c%2FR%2Bt+%22q%22+%3D%C3%BC~&"), "k=[REDACTED:KEY]&");
  EXPECT_EQ(scrubber().scrub(R"(["sk-3c/R+t \"q\" =\u00fc~"])"), R"(["[REDACTED:KEY]"])");
  EXPECT_EQ(scrubber().scrub("<b>sk-3c/R+t &quot;q&quot; =ü~</b>"), "<b>[REDACTED:KEY]</b>");
  const Scrubber other(
      {{.name = "WORD", .giving = Giving::kBridge, .hosts = {}, .value = "it's\t<\U0001F511>", .set_at = 0}});
  EXPECT_EQ(other.scrub("+ echo 'it'\\''s\t<🔑>'"), "+ echo '[REDACTED:WORD]'");
  EXPECT_EQ(other.scrub(R"("it's\t<\ud83d\udd11>")"), R"("[REDACTED:WORD]")");
}

std::string wrapped(std::string_view text, std::size_t columns, std::string_view end) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); at += columns) made += std::string(text.substr(at, columns)).append(end);
  return made;
}

TEST(ScrubberTest, WhereLinesAreWrapped) {
  const std::string token = "ghp_" + std::string(96, 'x') + "0123456789";
  const Scrubber one({{.name = "T", .giving = Giving::kBridge, .hosts = {}, .value = token, .set_at = 0}});
  for (const std::string end : {"\n", "\r\n"}) {
    for (const std::size_t columns : {1U, 60U, 64U, 76U}) {
      const std::string encoded = wrapped(to_base64("user:" + token + "\n"), columns, end);
      const std::string left = one.scrub(encoded);
      EXPECT_NE(left.find("[REDACTED:T]"), std::string::npos) << columns << left;
      EXPECT_LT(left.size(), 60U) << left;
      EXPECT_EQ(one.scrub("a\n" + wrapped(token, columns, end) + "b\n"), "a\n[REDACTED:T]" + end + "b\n");
    }
  }
  const std::string key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----";
  const Scrubber lines({{.name = "PEM", .giving = Giving::kBridge, .hosts = {}, .value = key, .set_at = 0}});
  EXPECT_EQ(lines.scrub("x " + key + "\n"), "x [REDACTED:PEM]\n");
  std::string on_terminal = key;
  for (std::size_t at = 0; (at = on_terminal.find('\n', at)) != std::string::npos; at += 2)
    on_terminal.insert(at, "\r");
  EXPECT_EQ(lines.scrub("x " + on_terminal + "\r\n"), "x [REDACTED:PEM]\r\n");
}

TEST(ScrubberTest, LinesOfAValueBehindWhatAProgramPutsBeforeThem) {
  const std::string pem =
      "-----BEGIN KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ9q1Qd0TtZ8\nlast\nZm9vYmFyYmF6cXV4cXV1eA==\n-----END KEY-----\n";
  Secret secret;
  secret.name = "PEM";
  secret.value = pem;
  const Scrubber one({secret});
  EXPECT_EQ(
      one.scrub("1:-----BEGIN KEY-----\n2:MC4CAQAwBQYDK2VwBCIEIJ9q1Qd0TtZ8\n3:last\n4:Zm9vYmFyYmF6cXV4cXV1eA==\n"),
      "1:-----BEGIN KEY-----\n2:[REDACTED:PEM]\n3:last\n4:[REDACTED:PEM]\n");
  EXPECT_EQ(one.scrub("+MC4CAQAwBQYDK2VwBCIEIJ9q1Qd0TtZ8\n"), "+[REDACTED:PEM]\n");
  EXPECT_EQ(one.scrub("-----BEGIN KEY-----\n"), "-----BEGIN KEY-----\n");
}

// Each form is looked for once, however often another is found.
TEST(ScrubberTest, ATextFullOfOneValue) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += kValue;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(scrubber().scrub(text).size(), 5'000 * std::string("[REDACTED:KEY]").size());
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST(ScrubbedStreamTest, AcrossLines) {
  const std::string token = "ghp_" + std::string(96, 'x') + "0123456789";
  const Scrubber one({{.name = "T", .giving = Giving::kBridge, .hosts = {}, .value = token, .set_at = 0}});
  const std::string text = "a\n" + wrapped(to_base64("user name:" + token), 76, "\n") + "z\n";
  ScrubbedStream stream(one);
  std::string made;
  for (const std::string& line : {text.substr(0, 79), text.substr(79, 77), text.substr(156)}) made += stream.take(line);
  EXPECT_EQ(made + stream.finish(), one.scrub(text));
  // A line is not held back for the few bytes with which a value might begin.
  EXPECT_EQ(stream.take("port 8000 gh\n"), "port 8000 gh\n");
  EXPECT_EQ(stream.take("port 8000 ghp_\n"), "port 8000 ");
  EXPECT_EQ(stream.take("nothing\n"), "ghp_\nnothing\n");
}

TEST(ScrubbedStreamTest, AcrossPiecesOfEverySize) {
  const Scrubber all = scrubber();
  const std::string text = "one " + kValue + " two sk-3c/R " + kValue.substr(0, 10) + kValue + " " + to_base64(kValue);
  for (std::size_t size = 1; size < text.size(); ++size) {
    ScrubbedStream stream(all);
    std::string made;
    for (std::size_t at = 0; at < text.size(); at += size) made += stream.take(text.substr(at, size));
    made += stream.finish();
    EXPECT_EQ(made, all.scrub(text)) << size;
  }
}

TEST(ScrubbedStreamTest, HoldsBackWhatMayBeABeginning) {
  const Scrubber all = scrubber();
  ScrubbedStream stream(all);
  EXPECT_EQ(stream.take("a sk-"), "a ");
  EXPECT_EQ(stream.take("x"), "sk-x");
}

Scrubber of(const std::string& value) {
  Secret secret;
  secret.name = "T";
  secret.value = value;
  return Scrubber({secret});
}

// As programs write one that holds what each of them escapes, and each with nothing of it left.
TEST(ScrubberTest, AnySpellingOfAnyOfItsCharacters) {
  const Scrubber one = of("p/s w+d'&x\"");
  for (const std::string text :
       {"p/s w+d'&x\"", "%70%2F%73%20%77%2b%64%27%26%78%22", "p%2fs+w%2bd%27%26x%22", "&#112;/s w+d&#x27;&amp;x&quot;",
        "&#0112&#x2f;s&#32w&plus;d&apos;&ampx&QUOT", R"(p\/s\u0020w\u002bd\u0027\u0026x\")", R"('p/s w+d'\''&x"')",
        R"(p/s\ w+d\'\&x\")", R"($'p/s\x20w+d\'\046x"')", R"("p/s w+d'&x\"")", R"(p\057s w\U0000002bd\u{27}&x")"}) {
    const std::string left = one.scrub("<" + text + ">");
    EXPECT_NE(left.find("[REDACTED:T]"), std::string::npos) << text << ": " << left;
    EXPECT_LE(left.size(), std::string("<$\"[REDACTED:T]\"\\'>").size()) << text << ": " << left;
  }
}

TEST(ScrubberTest, OneWithinAnother) {
  const std::string value = "p/s w+d'&x\"7";
  const Scrubber one = of(value);
  const std::string json = R"({"k":"p\/s w+d'&x\"7"})";
  std::string hex;
  for (const char c : json) {
    static constexpr std::string_view kDigits = "0123456789aBcDeF";
    hex += kDigits[static_cast<unsigned char>(c) >> 4U];
    hex += kDigits[static_cast<unsigned char>(c) & 15U];
  }
  for (const std::string& text :
       {to_base64(json), to_base64("x" + json), to_base64(to_base64("ab" + json)), hex, to_base64(hex),
        std::string("%7B%22k%22%3A%22p%5C%2Fs%20w%2Bd%27%26x%5C%227%22%7D"),
        std::string(R"("{\"k\":\"p\\/s w+d'&x\\\"7\"}")"), std::string("p%252Fs%2520w%252Bd%2527%2526x%25227"),
        std::string("&lt;p%2Fs+w%2Bd&#x25;27%26amp;x%227&gt;")}) {
    EXPECT_NE(one.scrub("at " + text + " end").find("[REDACTED:T]"), std::string::npos) << text;
  }
}

TEST(ScrubberTest, HexApart) {
  const Scrubber one = of("secret!");
  EXPECT_EQ(one.scrub(" 73 65 63 72\n 65 74 21\n"), " [REDACTED:T]\n");
  EXPECT_EQ(one.scrub("73:65:63:72:65:74:21"), "[REDACTED:T]");
  EXPECT_EQ(one.scrub(R"(b"\x73\x65\x63\x72\x65\x74\x21")"), R"(b"[REDACTED:T]")");
  EXPECT_EQ(one.scrub("{0x73, 0x65, 0x63, 0x72, 0x65, 0x74, 0x21}"), "{0x[REDACTED:T]}");
}

TEST(ScrubberTest, LettersOfOthers) {
  const Scrubber one = of("пароль-über");
  EXPECT_EQ(one.scrub("a пароль-über z"), "a [REDACTED:T] z");
  EXPECT_EQ(one.scrub("%D0%BF%d0%b0%D1%80%D0%BE%D0%BB%D1%8C-%C3%BCber"), "[REDACTED:T]");
  EXPECT_EQ(one.scrub("?\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c-\\xfcber"), "?[REDACTED:T]");
}

TEST(ScrubberTest, WithoutAValueATextIsAsItWas) {
  const Scrubber one = of("sk-proj-0123456789");
  for (const std::string text :
       {"%7", "100% of &amp; \\n 'x' $'y' \r\n  z", "sk-proj-012345678", "c2stcHJvai0", "\\", ""}) {
    EXPECT_EQ(one.scrub(text), text);
  }
}

TEST(ScrubberTest, WhatIsCutAtItsEnds) {
  const Scrubber one = of("0123456789abcdef");
  EXPECT_EQ(one.scrub("x 0123456789", Cut::kEnd), "x [REDACTED:T]");
  EXPECT_EQ(one.scrub("x 0123456789", Cut::kNowhere), "x 0123456789");
  EXPECT_EQ(one.scrub("6789abcdef x", Cut::kBegin), "[REDACTED:T] x");
  EXPECT_EQ(one.scrub("6789abcdef x 0123456", Cut::kBoth), "[REDACTED:T] x [REDACTED:T]");
  EXPECT_EQ(one.scrub("bcdef x 01234", Cut::kBoth), "bcdef x 01234") << "shorter than what is taken out";
  EXPECT_EQ(one.scrub("x " + to_base64("0123456789ab"), Cut::kEnd), "x [REDACTED:T]");
  const std::string key(400, 'k');
  EXPECT_EQ(of(key + "end").scrub("x " + key.substr(100) + " y"), "x [REDACTED:T] y") << "a long one by its beginning";
}

TEST(ScrubberTest, WhereNothingIsKnownNothingIsShown) {
  const Scrubber none = Scrubber::withholding("the key is gone");
  EXPECT_FALSE(none.empty());
  EXPECT_EQ(none.scrub("anything"), "[withheld: the agent's secrets cannot be read: the key is gone]");
  EXPECT_EQ(none.scrub(""), "");
  ScrubbedStream stream(none);
  EXPECT_EQ(stream.take("any"), none.withheld());
  EXPECT_EQ(stream.take("thing") + stream.finish(), "");
}

// Whatever a text is full of, and however long the values are.
TEST(ScrubberTest, TakesAsLongAsTheTextIs) {
  std::vector<Secret> secrets(256);
  for (int i = 0; i < 256; ++i) {
    Secret& secret = secrets[static_cast<std::size_t>(i)];
    secret.name = "N" + std::to_string(i);
    secret.value = std::string(i < 8 ? 15'000 : 60, 'a') + std::to_string(i);
  }
  const Scrubber all(secrets);
  const auto begun = std::chrono::steady_clock::now();
  for (const std::string part : {"a", "YWFh", "61", "%61", "\\", "&#97", "%3", "aaaaaaaaaaaaaaaaaaaaaaaaz"}) {
    std::string text;
    while (text.size() < (16U << 10)) text += part;
    (void)all.scrub(text);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(120));
}

TEST(ScrubbedStreamTest, SpelledAcrossPiecesOfEverySize) {
  const Scrubber one = of("p/s w+d'&x\"7");
  for (const std::string text : {"<%70%2F%73%20%77%2b%64%27%26%78%227>", "<&#112;/s w+d&#x27;&amp;x&quot;7>",
                                 R"(<p\/s\u0020w\u002bd\u0027\u0026x\"7>)", R"(<'p/s w+d'\''&x"7'>)",
                                 "<cC9zIHcrZCcmeCI3>", "<702f7320772b642726782237>"}) {
    for (std::size_t size = 1; size < text.size(); ++size) {
      ScrubbedStream stream(one);
      std::string made;
      for (std::size_t at = 0; at < text.size(); at += size) made += stream.take(text.substr(at, size));
      EXPECT_EQ(made + stream.finish(), one.scrub(text)) << size << text;
    }
  }
}

// What was told at a line's end is not looked at as if nothing had been before it.
TEST(ScrubbedStreamTest, WhatWasToldAlreadyBeginsAValueToo) {
  const Scrubber one = of("0123456789abcdef");
  ScrubbedStream stream(one);
  EXPECT_EQ(stream.take("012\n"), "012\n");
  EXPECT_EQ(stream.take("3456789abcdef.\n"), "[REDACTED:T].\n");
}

}  // namespace
}  // namespace hutch::secret
