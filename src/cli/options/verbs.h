// The verbs of hutch with their options, as a table: the parser, the help and the shell completions read it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/arguments.h"
#include "service/image/images.h"

namespace hutch::cli {

// What the words of a command line have set so far, for whichever verb it is.
struct Draft {
  service::RunRequest run;  // `place` and `form` serve every verb that has them
  std::optional<std::size_t> count;
  Follow follow = Follow::kNo;
  std::optional<std::string> recipe{};
  std::optional<std::string> kernel{};
  std::optional<std::string> modules{};
  std::optional<std::string> root{};
  bool yes = false;  // of vm
  std::optional<std::string> dockerfile{};
  std::string trust{};
  service::Removing removing = service::Removing::kUnused;
  std::optional<std::chrono::milliseconds> since;
  std::vector<std::string> types;
  std::optional<std::string> of_run;
  Detach detach = Detach::kNo;
  Tty tty = Tty::kNo;
  Input input = Input::kLeftOpen;
  std::string agent;
  std::string turn;
  std::optional<std::chrono::milliseconds> idle;
  int ready_fd = -1;
  std::string listen;
  std::string token_file;
  int signal = 0;
  std::optional<int> minutes;
  Kill kill = Kill::kNo;
  service::ConfigRequest::Lasts lasts = service::ConfigRequest::Lasts::kSaved;
  std::optional<store::Scope> scope;
  StatusArguments::Line line = StatusArguments::Line::kNo;
  ShareArguments share{};
  InitArguments init{};
  SecretArguments secret{};
  PluginArguments plugin{};
  McpArguments mcp{};
  SelftestArguments selftest{};
  std::vector<std::string> words;  // not options, in order
};

// What a shell can offer as an option's value.
enum class ValueKind { kFlag, kPath, kDirectory, kBackend, kNetwork, kVariable, kRecordType, kScope, kOther };

// The values that an option of this kind takes, where they are known. Help and completion list them.
std::span<const std::string_view> values_of(ValueKind kind);

struct Option {
  std::string_view name;   // "--memory"; "-c" for one without a long name
  char letter = 0;         // 'n' for -n
  std::string_view value;  // how the help calls it; empty for a flag
  ValueKind kind = ValueKind::kFlag;
  std::string_view help;   // lines parted by \n
  Status (*set)(Draft& draft, const std::string& value) = nullptr;
};

struct OptionGroup {
  std::string_view title;
  std::span<const Option> options;
};

// Whether the first word that is no option ends hutch's own options.
enum class OptionsEnd { kAtDashes, kAtFirstWord };

struct Verb {
  std::string_view name;
  std::string_view summary;      // in the list of verbs
  std::span<const std::string_view> synopsis;
  std::string_view description;  // paragraphs, wrapped by hand
  std::span<const OptionGroup> groups;
  std::span<const std::string_view> examples;
  std::span<const std::string_view> word_choices;  // what its first word may be, for completion
  OptionsEnd options_end = OptionsEnd::kAtDashes;
  Result<Arguments> (*finish)(Draft&& draft) = nullptr;
};

std::span<const Verb> verbs();

// How the list of verbs is laid out for a reader: each verb is in one group.
struct VerbGroup {
  std::string_view title;
  std::vector<std::string_view> verbs;
};
std::span<const VerbGroup> verb_groups();

// Those that go through the daemon; a part of the table.
std::span<const Verb> agent_verbs();
// Those about the OS users of agents; likewise.
std::span<const Verb> user_verbs();

// Those about what an agent is offered from outside its sandbox; likewise.
std::span<const Verb> host_verbs();

// Those about plugins and skills; likewise.
std::span<const Verb> plugin_verbs();

// Exactly the words that the verb names.
Status expect_words(const Draft& draft, std::span<const std::string_view> names);

// None where there is no such verb.
const Verb* find_verb(std::string_view name);

// The complaint about a word of a known set: names the nearest one, else says `otherwise`, else lists them all.
Error unknown_word(std::string_view what, std::string_view typed, std::span<const std::string_view> known,
                   std::string_view otherwise = {});

}  // namespace hutch::cli
