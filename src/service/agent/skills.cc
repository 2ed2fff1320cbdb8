// Skills and their texts.
#include "service/agent/skills.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/text.h"
#include "sys/files/tree.h"
#include "sys/files/whole_file.h"
#include "tool/value.h"

namespace hutch::service {

namespace {

constexpr std::string_view kPluginText = R"(# Sandbox Plugin Creator

A plugin gives you tools of your own: commands with typed parameters that stay when this conversation ends.
Make one when
you would otherwise write the same script again.

## Steps

1. Write the scripts to `~/plugins/ID/` with `sandbox_write_file`. ID has small letters, digits and `-`.
2. Try each command with `sandbox_exec`, in that directory, with the variables set as below.
3. Write `~/plugins/ID/plugin.json`.
4. Try the whole of it: `hutch-host plugin check ID` sets it up in a fresh sandbox without a network, calls each tool
   with its `example`, and tells what came of it.
5. Call `sandbox_plugin_register` with `plugin_id` ID. The tools can be called at once, as `ID_TOOL`.

Registering again after a change replaces the plugin. What is refused says why, and nothing is left of it.

## plugin.json

```json
{
  "name": "Word Tools",
  "description": "Counts words in files",
  "version": "1.0.0",
  "dependencies": ["python3"],
  "setup": "python3 -m compileall -q .",
  "tools": [
    {
      "id": "count",
      "description": "Count the words of a file and return the most frequent ones",
      "parameters": {
        "file": {"type": "string", "description": "Path of the file"},
        "top": {"type": "integer", "description": "How many", "default": "10"}
      },
      "run": "python3 count.py",
      "timeout": 60,
      "example": {"file": "/etc/hostname"}
    }
  ],
  "secrets": [],
  "permissions": {"network": "none"}
}
```

- `name` makes the ID: small letters, with `-` for blanks. Or give the recipe an `id`.
- `run` is read by `/bin/sh` in the plugin's directory. Each parameter is a variable: `file` is `$PARAM_FILE`.
  A parameter
  without `default` is required. Types are string, integer, number, boolean, array and object; the last two
  are JSON.
- Read parameters in the script from its environment (`os.environ["PARAM_FILE"]`). In a shell, quote them:
  `"$PARAM_FILE"`.
  Never paste one into code that is run.
- A path that a caller gives may be relative to another directory than the plugin's: say in the description
  that it has to
  be absolute.
- `setup` runs once, as you, in the plugin's directory, for at most 300 seconds.
- `dependencies` are system packages, by Alpine's names, or by manager: `{"apk": ["py3-x"], "apt": ["python3-x"]}`.
- Every text file of the directory is packaged with the plugin. Binary files and links are refused: make or
  fetch them in
  `setup`.
- `events` is `{"subscribe": ["TYPE"], "emit": ["TYPE"]}`, and `onEvent` the id of the tool that is called with the
  payload of each event in `$PARAM_PAYLOAD`. `hutch-host events emit TYPE JSON` tells one.
- `secrets` names values that the tools have as variables. They must exist before: see `sandbox_secret_check` and
  `sandbox_secret_set`.
- `permissions.network` is `none`, or the hosts that the tools need: `api.example.com,cdn.example.com`.
  Everything is closed
  that is not named. Tools cannot use a model.
- Addresses in `setup` and `run` may name hosts of the package managers and those that the user allows,
  plainly: none in a
  variable, none by number.

Exit code 0 means that it worked. Print results on standard output, as JSON where they have parts, and what
went wrong on
standard error.
)";

constexpr std::array kSkills = {Skill{kPluginSkill, "Sandbox Plugin Creator",
                                      "Write, package and register plugins that add tools of the agent's own",
                                      kPluginText}};

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

}  // namespace

std::span<const Skill> all_skills() { return kSkills; }

const Skill* find_skill(std::string_view name) {
  const std::string wanted = lower(name);
  const auto found = std::ranges::find_if(
      kSkills, [&](const Skill& skill) { return skill.id == wanted || lower(skill.title) == wanted; });
  return found == kSkills.end() ? nullptr : &*found;
}

Result<std::vector<std::string>> Skills::disabled() const {
  std::vector<std::string> names;
  if (!TRY(sys::status_of(path_))) return names;
  const std::string text = TRY(sys::regular_file_text(path_, limits::kJsonBytesMax));
  const tool::Value value = TRY_CTX(tool::parse_value(text, limits::kJsonBytesMax), path_);
  const auto* object = value.get<tool::Value::Object>();
  const auto found = object != nullptr ? object->find("disabled") : tool::Value::Object::const_iterator();
  const auto* list = object != nullptr && found != object->end() ? found->second.get<tool::Value::List>() : nullptr;
  if (list == nullptr) return fail(Error::invalid(cat({path_, " holds no list of what is disabled"})));
  for (const tool::Value& one : *list) {
    if (const auto* name = one.get<std::string>()) names.push_back(*name);
  }
  return names;
}

bool Skills::is_enabled(std::string_view id) const {
  const auto names = disabled();
  return names && std::ranges::find(*names, id) == names->end();
}

Status Skills::set(std::string_view id, Switch to) const {
  std::vector<std::string> names = TRY(disabled());
  std::erase(names, id);
  if (to == Switch::kOff) names.emplace_back(id);
  const tool::Value value(tool::Value::Object{{"disabled", tool::Value::List(names.begin(), names.end())}});
  return sys::replace_file(path_, tool::json_text(value) + "\n");
}

}  // namespace hutch::service
