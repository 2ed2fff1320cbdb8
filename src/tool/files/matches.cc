// Reading ripgrep's JSON lines (grep_printer's JSON format) and writing them as grep would.
#include "tool/files/matches.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "tool/excerpt.h"
#include "tool/value.h"

namespace hutch::tool {

namespace {

constexpr std::size_t kJsonLineBytesMax = 1 << 20;
constexpr std::size_t kShownCharactersMax = 1000;  // of a matching line
constexpr std::size_t kPathBytesMax = 8192;

const Value::Object* object_at(const Value::Object& object, std::string_view name);
std::string text_or_bytes(const Value::Object* holder);
std::string from_base64(std::string_view text);
std::string shown_line(std::string text);

}  // namespace

Matches::Enough Matches::feed(std::string_view bytes) {
  while (!bytes.empty() && !truncated_) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    const std::size_t room = kJsonLineBytesMax - pending_.size();
    overlong_ = overlong_ || part.size() > room;
    pending_ += part.substr(0, room);
    if (newline == std::string_view::npos) break;
    take(pending_, overlong_ ? Json::kStart : Json::kWhole);
    pending_.clear();
    overlong_ = false;
    bytes.remove_prefix(newline + 1);
  }
  return truncated_ ? Enough::kYes : Enough::kNo;
}

// Of a line too long to keep the beginning is there: its type and its path, which come first. Inside a JSON text the
// quotes of this mark would be escaped.
void Matches::take(std::string_view text, Json kind) {
  const bool whole = kind == Json::kWhole;
  const std::string repaired = whole ? "" : cat({text.substr(0, text.find(R"(,"lines":{)")), "}}"});
  const Result<Value> value = parse_value(whole ? text : repaired, kJsonLineBytesMax + 2);
  const Value::Object* message = value ? value->get<Value::Object>() : nullptr;
  if (message == nullptr || !message->contains("type")) return;
  const std::string* type = message->find("type")->second.get<std::string>();
  const Value::Object* data = object_at(*message, "data");
  if (type != nullptr && *type == "summary") searched_ = true;
  if (type == nullptr || data == nullptr || (*type != "match" && *type != "context")) return;
  const bool match = *type == "match";
  if (match && count_ == most_) {
    truncated_ = true;
    return;
  }
  if (match) ++count_;
  Line line{.match = match,
            .text = whole ? shown_line(text_or_bytes(object_at(*data, "lines"))) : "(a very long line)"};
  if (const auto at = data->find("line_number"); at != data->end()) {
    const std::int64_t* number = at->second.get<std::int64_t>();
    line.number = number != nullptr && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
  }
  files_[text_or_bytes(object_at(*data, "path"))].push_back(std::move(line));
}

Matches::Text Matches::text(std::size_t characters_max) const {
  Text out;
  std::size_t characters = 0;
  for (const auto& [path, lines] : files_) {
    const std::string name = printable(path, kPathBytesMax);
    const Line* before = nullptr;
    for (const Line& line : lines) {
      const bool apart = before != nullptr && line.number != before->number + 1 && (!line.match || !before->match);
      const char mark = line.match ? ':' : '-';
      const std::string number = line.number == 0 ? "?" : std::to_string(line.number);
      const std::string row = fmt::format("{}{}{}{}{}{}\n", apart ? "--\n" : "", name, mark, number, mark, line.text);
      characters += count_characters(row);
      if (characters > characters_max) {
        out.whole = false;
        return out;
      }
      out.text += row;
      if (line.match) ++out.matches;
      before = &line;
    }
  }
  return out;
}

namespace {

const Value::Object* object_at(const Value::Object& object, std::string_view name) {
  const auto at = object.find(name);
  return at == object.end() ? nullptr : at->second.get<Value::Object>();
}

// {"text": "..."}, or {"bytes": "<base64>"} of what is not UTF-8.
std::string text_or_bytes(const Value::Object* holder) {
  if (holder == nullptr) return {};
  const auto member = [&](std::string_view name) {
    const auto at = holder->find(name);
    return at == holder->end() ? nullptr : at->second.get<std::string>();
  };
  if (const std::string* text = member("text")) return *text;
  const std::string* bytes = member("bytes");
  return bytes == nullptr ? "" : from_base64(*bytes);
}

// RFC 4648; stops at what is not of its alphabet.
std::string from_base64(std::string_view text) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>((bits >> held) & 0xff);
  }
  return out;
}

std::string shown_line(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  const std::size_t characters = count_characters(text);
  // A match of more than one line keeps its shape; a NUL byte is of a binary file.
  for (char& c : text) {
    if (c == '\0') c = '?';
  }
  if (characters <= kShownCharactersMax) return text;
  return fmt::format("{} [... {} more characters]", first_characters(text, kShownCharactersMax),
                     characters - kShownCharactersMax);
}

}  // namespace

}  // namespace hutch::tool
