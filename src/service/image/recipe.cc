// Recipes, package sources in both forms that apt(8) reads, and mmdebstrap's options.
#include "service/image/recipe.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"

namespace hutch::service {

namespace {

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

constexpr std::string_view kRecipe = R"(# The image of agents that are given no other.
ca-certificates
python3 python3-pip python3-venv
nodejs npm
git curl jq ripgrep less procps
build-essential
)";
constexpr std::size_t kPackagesMax = 2000;

// In the image's root, "$1". An agent's `pip install --user` is nobody's system (PEP 668): what the distribution marks
// is in a layer of the agent's. A package starts no service where nothing would end it (invoke-rc.d(8)).
constexpr std::string_view kPip = R"(printf '[global]\nbreak-system-packages = true\n' > "$1/etc/pip.conf")";
constexpr std::string_view kNoServices =
    R"(printf '#!/bin/sh\nexit 101\n' > "$1/usr/sbin/policy-rc.d" && chmod 755 "$1/usr/sbin/policy-rc.d")";
constexpr std::string_view kWorkspace = R"(mkdir -p "$1/workspace")";

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// deb-control(5), Package; with "+" and "." as in g++ and libstdc++6.
bool is_package(std::string_view name) {
  const auto small = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto fits = [&](char c) { return small(c) || c == '+' || c == '-' || c == '.'; };
  return name.size() >= 2 && name.size() <= 128 && small(name.front()) && std::ranges::all_of(name, fits);
}

// "bookworm", "bookworm-updates", "bookworm/updates"; of backports one takes what one names.
bool is_suite_of(std::string_view suite, std::string_view codename) {
  if (!suite.starts_with(codename) || suite.contains("backports")) return false;
  const std::string_view rest = suite.substr(codename.size());
  return rest.empty() || rest.front() == '-' || rest.front() == '/';
}

// "[signed-by=/a arch=b]" may have blanks: it is one word again.
void add_line(std::string_view line, std::string_view codename, std::vector<std::string>& lines) {
  std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
  if (words.empty() || words[0] != "deb") return;
  std::string options;
  std::size_t at = 1;
  if (at < words.size() && words[at].starts_with('[')) {
    for (bool closed = false; !closed && at < words.size(); ++at) {
      options += cat({options.empty() ? "" : " ", words[at]});
      closed = words[at].ends_with(']');
    }
  }
  if (at + 2 >= words.size() || !is_suite_of(words[at + 1], codename)) return;
  if (std::find(words.begin() + static_cast<std::ptrdiff_t>(at) + 2, words.end(), "main") == words.end()) return;
  std::string found = options.empty() ? "deb" : cat({"deb ", options});
  for (; at < words.size(); ++at) found += cat({" ", words[at]});
  lines.push_back(std::move(found));
}

using Stanza = std::map<std::string, std::string, std::less<>>;

void add_stanza(const Stanza& stanza, std::string_view codename, std::vector<std::string>& lines) {
  const auto field = [&](std::string_view name) {
    const auto found = stanza.find(name);
    return found == stanza.end() ? std::vector<std::string>() : words_of(found->second);
  };
  const auto types = field("types");
  const auto components = field("components");
  const auto enabled = field("enabled");
  const bool off = !enabled.empty() && (enabled[0] == "no" || enabled[0] == "false" || enabled[0] == "0");
  const auto has = [](const std::vector<std::string>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  if (off || !has(types, "deb") || !has(components, "main")) return;
  const auto key = field("signed-by");
  // A key that is written there itself is no path.
  const std::string options = key.size() == 1 && key[0].starts_with('/') ? cat({" [signed-by=", key[0], "]"}) : "";
  for (const std::string& uri : field("uris")) {
    for (const std::string& suite : field("suites")) {
      if (is_suite_of(suite, codename))
        lines.push_back(cat({"deb", options, " ", uri, " ", suite, " ", join(components, " ")}));
    }
  }
}

void add_stanzas(std::string_view text, std::string_view codename, std::vector<std::string>& lines) {
  Stanza stanza;
  std::string last;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (words_of(line).empty()) {
      add_stanza(std::exchange(stanza, {}), codename, lines);
    } else if (line.front() == '#') {
      continue;
    } else if (line.front() == ' ' || line.front() == '\t') {
      stanza[last] += cat({" ", line});
    } else if (colon != std::string_view::npos) {
      last = lowered(line.substr(0, colon));
      stanza[last] = std::string(line.substr(colon + 1));
    }
  }
  add_stanza(stanza, codename, lines);
}

}  // namespace

Result<ImageRecipe> parse_recipe(std::string_view text) {
  ImageRecipe recipe;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    for (std::string& word : words_of(line.substr(0, line.find('#')))) {
      if (!is_package(word)) {
        return fail(Error::invalid(cat({"line ", std::to_string(number), ": \"", printable(word, 64),
                                        "\" is no package's name (small letters, digits, + - .)"})));
      }
      recipe.packages.push_back(std::move(word));
    }
  }
  if (recipe.packages.empty()) return fail(Error::invalid("no package is named"));
  if (recipe.packages.size() > kPackagesMax) return fail(Error::invalid("more than 2000 packages"));
  return recipe;
}

std::string_view default_recipe() { return kRecipe; }

std::vector<std::string> own_sources(const std::vector<SourcesFile>& files, std::string_view codename) {
  std::vector<std::string> lines;
  for (const SourcesFile& file : files) {
    if (file.path.ends_with(".sources")) {
      add_stanzas(file.text, codename, lines);
    } else {
      for (const std::string_view line : split(file.text, '\n')) add_line(line, codename, lines);
    }
  }
  return lines;
}

// apt.conf(5), apt-transport-https(1): what is said of http holds for https, unless that says something itself.
std::vector<std::string> proxies_of_apt(std::string_view dump) {
  static constexpr std::string_view kDirect = "DIRECT";
  std::optional<std::string> plain;
  std::optional<std::string> secure;
  std::vector<std::string> without;
  for (const std::string_view line : split(dump, '\n')) {
    const std::size_t blank = line.find(" \"");
    const std::size_t end = line.rfind('"');
    if (blank == std::string_view::npos || end < blank + 2) continue;
    const std::string key = lowered(line.substr(0, blank));
    const std::string_view value = line.substr(blank + 2, end - blank - 2);
    const bool direct = value == kDirect || value == "false";
    const std::string_view proxy = direct ? std::string_view() : value;
    if (key == "acquire::http::proxy" && !value.empty()) plain = proxy;
    if (key == "acquire::https::proxy" && !value.empty()) secure = proxy;
    for (const std::string_view above : {"acquire::http::proxy::", "acquire::https::proxy::"}) {
      if (direct && key.starts_with(above)) without.push_back(key.substr(above.size()));
    }
  }
  std::vector<std::string> proxies;
  if (plain) proxies.push_back(cat({"http_proxy=", *plain}));
  if (const auto& behind = secure ? secure : plain) proxies.push_back(cat({"https_proxy=", *behind}));
  if (!without.empty()) proxies.push_back(cat({"no_proxy=", join(without, ",")}));
  return proxies;
}

void set_proxies(std::vector<std::string>& environment, const std::vector<std::string>& proxies) {
  std::erase_if(environment, [&](const std::string& entry) {
    const std::string name = lowered(entry.substr(0, entry.find('=') + 1));
    return std::ranges::any_of(proxies, [&](const std::string& proxy) { return proxy.starts_with(name); });
  });
  environment.insert(environment.end(), proxies.begin(), proxies.end());
}

std::vector<std::string> mmdebstrap_arguments(const ImageRecipe& recipe, const std::string& codename,
                                              const std::vector<std::string>& sources) {
  std::vector<std::string> arguments = {"mmdebstrap", "--variant=minbase", "--format=tar",
                                        cat({"--include=", join(recipe.packages, ",")})};
  // mmdebstrap has a policy of its own while it works, and removes whatever is there then.
  arguments.emplace_back("--skip=chroot/policy-rc.d");
  arguments.push_back(cat({"--extract-hook=", kNoServices}));
  for (const std::string_view hook : {kPip, kWorkspace}) arguments.push_back(cat({"--customize-hook=", hook}));
  arguments.push_back(codename);
  arguments.emplace_back("-");
  arguments.insert(arguments.end(), sources.begin(), sources.end());
  return arguments;
}

}  // namespace hutch::service
