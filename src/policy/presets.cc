// The policies for coding agents. Each agent may keep its state in its own directory of the person's home, but must not
// change anything there that the same program, started outside, would run or obey: settings with hooks, MCP servers,
// skills, extensions. Files that a running agent sources again and again are empty inside, and the sandbox's own. In
// the project, each agent leaves alone the files that any agent obeys, because people use more than one. Their names
// are in the list that applies under every policy (policy/obeyed.h); three directories are also closed as a whole.
#include "policy/presets.h"

#include <algorithm>
#include <array>

namespace hutch::policy {

namespace {

// Its hosts and the variable against the rest: "Network access requirements" and "Environment variables" of its manual.
// ~/.claude.json holds servers of MCP for every project; it goes on without saving when it cannot.
constexpr std::string_view kClaudeCode = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.claude", "~/.claude.json", "~/.claude/.credentials.json",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.local/share/claude", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.claude", "~/.claude/.credentials.json"],
    "denyWrite": [
      "~/.claude/settings.json", "~/.claude/settings.local.json", "~/.claude/CLAUDE.md", "~/.claude/rules",
      "~/.claude/commands", "~/.claude/agents", "~/.claude/skills", "~/.claude/workflows", "~/.claude/plugins",
      "~/.claude/hooks", "~/.claude/output-styles", "~/.claude/keybindings.json", "~/.claude/statusline.sh",
      "~/.claude/local", "~/.claude/ide", "~/.claude/remote-settings.json", "~/.claude/projects/*/memory",
      ".pi", ".agents", ".codex"
    ],
    "private": ["~/.claude/shell-snapshots", "~/.claude/session-env"]
  },
  "network": {
    "allowedDomains": ["api.anthropic.com", "claude.ai", "platform.claude.com", "console.anthropic.com"]
  },
  "environment": {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
}
)";

// config.toml names servers of MCP and the program that notifies. Every variable of .env is set at each start, and
// directories below tmp are put first in PATH.
constexpr std::string_view kCodex = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.codex", "~/.codex/auth.json",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.codex", "~/.codex/auth.json"],
    "denyWrite": [
      "~/.codex/config.toml", "~/.codex/managed_config.toml", "~/.codex/AGENTS.md", "~/.codex/AGENTS.override.md",
      "~/.codex/prompts", "~/.codex/skills", "~/.codex/rules", "~/.codex/hooks", "~/.codex/hooks.json",
      "~/.codex/plugins", "~/.codex/packages", "~/.codex/.env", "~/.codex/agents", "~/.codex/automations",
      "~/.codex/memories",
      ".pi", ".agents", ".codex"
    ],
    "private": ["~/.codex/shell_snapshots", "~/.codex/tmp"]
  },
  "network": {"allowedDomains": ["api.openai.com", "chatgpt.com", "auth.openai.com"]}
}
)";

// Its model is whose key it has: the hosts of the commonest. An extension is code that it runs.
constexpr std::string_view kPi = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.pi", "~/.pi/agent/auth.json",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.pi/agent", "~/.pi/agent/auth.json"],
    "denyWrite": [
      "~/.pi/agent/settings.json", "~/.pi/agent/models.json", "~/.pi/agent/keybindings.json",
      "~/.pi/agent/AGENTS.md", "~/.pi/agent/SYSTEM.md", "~/.pi/agent/APPEND_SYSTEM.md",
      "~/.pi/agent/extensions", "~/.pi/agent/skills", "~/.pi/agent/prompts", "~/.pi/agent/themes",
      "~/.pi/agent/tools", "~/.pi/agent/git", "~/.pi/agent/npm", "~/.pi/agent/bin",
      ".pi", ".agents", ".codex"
    ]
  },
  "network": {
    "allowedDomains": ["api.anthropic.com", "api.openai.com", "chatgpt.com", "generativelanguage.googleapis.com",
                       "openrouter.ai"]
  }
}
)";

}  // namespace

std::span<const Preset> presets() {
  static constexpr std::array<Preset, 3> kPresets = {
      Preset{"claude-code", "Claude Code, with its own sandbox off", kClaudeCode},
      Preset{"codex", "Codex, with its own sandbox off", kCodex},
      Preset{"pi", "pi, as a whole", kPi},
  };
  return kPresets;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  return found == presets().end() ? nullptr : &*found;
}

}  // namespace hutch::policy
