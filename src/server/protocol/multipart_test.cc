// Forms in pieces of every size, and what is refused.
#include "server/protocol/multipart.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/text.h"

namespace hutch::server {
namespace {

// "name(filename):content;" of each part, or the error.
std::string read(std::string_view form, std::size_t size) {
  MultipartReader reader("B");
  std::string told;
  for (std::size_t at = 0;;) {
    const auto event = reader.next();
    if (!event) return told + "error: " + event.error().message;
    if (std::holds_alternative<MultipartReader::FormEnd>(*event)) return told + "end";
    if (std::holds_alternative<MultipartReader::PartEnd>(*event)) told += ";";
    if (const auto* part = std::get_if<MultipartReader::Part>(&*event)) {
      told += cat({part->name, "(", part->filename.value_or("-"), "):"});
    }
    if (const auto* data = std::get_if<MultipartReader::Data>(&*event)) told += data->bytes;
    if (!std::holds_alternative<MultipartReader::More>(*event)) continue;
    if (at >= form.size()) return told + "cut";
    reader.add(form.substr(at, size));
    at += size;
  }
}

TEST(Multipart, ReadsPiecesOfEverySize) {
  const std::string form =
      "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/tmp/a %22b\\\"; c.txt\"\r\n"
      "Content-Type: application/octet-stream\r\n\r\none\r\n--Btwo\r\n--\r\n\r\n--B\r\n"
      "content-disposition: FORM-DATA; filename=x; name=file\r\n\r\n\r\n--B \r\n"
      "Content-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n\r\n--B--\r\nafter";
  // A delimiter is one wherever it stands: what follows the first of these is the rest of its line, and no end of it.
  for (std::size_t size = 1; size <= form.size(); ++size) {
    EXPECT_EQ(read(form, size),
              "file(/tmp/a \"b\"; c.txt):one;error: a part of the form does not begin on a line of its own")
        << size;
  }
  std::string right = form;
  right.erase(right.find("--Btwo"), 3);
  for (std::size_t size = 1; size <= right.size(); ++size) {
    EXPECT_EQ(read(right, size), "file(/tmp/a \"b\"; c.txt):one\r\ntwo\r\n--\r\n;file(x):;empty(-):\r\n;end") << size;
  }
}

TEST(Multipart, RefusesWhatIsNoForm) {
  EXPECT_EQ(read("--B\r\nX: y\r\n\r\n", 100), "error: a part of the form has no Content-Disposition with a name");
  EXPECT_EQ(read("--B\r\n\r\n", 100), "error: a part of the form has no Content-Disposition with a name");
  EXPECT_EQ(read(std::string(2000, 'x'), 100), "error: the form does not begin");
  EXPECT_EQ(read("--B\r\n" + std::string(20'000, 'x'), 100), "error: the head of a part is too long");
  EXPECT_EQ(read("--Bx\r\n", 100), "error: a part of the form does not begin on a line of its own");
  EXPECT_EQ(read("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhalf", 100), "a(-):cut");
  EXPECT_EQ(read("--B--", 100), "end");
}

TEST(Multipart, FindsTheBoundary) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc").value_or(""), "abc");
  EXPECT_EQ(boundary_of("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"").value_or("error"), "error");
  EXPECT_EQ(boundary_of("multipart/form-data; charset=utf-8; boundary=\"a'b\"").value_or(""), "a'b");
  for (const char* wrong : {"", "multipart/form-data", "multipart/form-data; boundary=", "text/plain; boundary=a"}) {
    EXPECT_FALSE(boundary_of(wrong)) << wrong;
  }
  EXPECT_FALSE(boundary_of("multipart/form-data; boundary=" + std::string(71, 'a')));
}

}  // namespace
}  // namespace hutch::server
