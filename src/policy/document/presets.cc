// The policies for coding agents. Each agent may keep its state in its own directory of the person's home, but must not
// change anything there that the same program, started outside, would run or obey: settings with hooks, MCP servers,
// skills, extensions. Files that a running agent sources again and again are empty inside, and the sandbox's own. In
// the project, each agent leaves alone the files that any agent obeys, because people use more than one. Their names
// are in the list that applies under every policy (policy/obeyed/obeyed.h); three directories are also closed as a
// whole.
#include "policy/document/presets.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

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
// directories below tmp are put first in PATH. Codex writes skills of its own into ~/.codex/skills/.system at each
// start: inside, that directory is the sandbox's own, and has yours in it.
constexpr std::string_view kCodex = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.codex", "~/.codex/auth.json", "~/.codex/skills/[!.]*",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.codex", "~/.codex/auth.json"],
    "denyWrite": [
      "~/.codex/config.toml", "~/.codex/managed_config.toml", "~/.codex/AGENTS.md", "~/.codex/AGENTS.override.md",
      "~/.codex/prompts", "~/.codex/rules", "~/.codex/hooks", "~/.codex/hooks.json",
      "~/.codex/plugins", "~/.codex/packages", "~/.codex/.env", "~/.codex/agents", "~/.codex/automations",
      "~/.codex/memories",
      ".pi", ".agents", ".codex"
    ],
    "private": ["~/.codex/skills", "~/.codex/shell_snapshots", "~/.codex/tmp"]
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

// "history" has a repository of git for each project, whose configuration git obeys outside; programs of "bin", of
// "tmp/bin" and of the browser's profile are run outside. save_memory would write GEMINI.md, which every later session
// reads.
constexpr std::string_view kGemini = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.gemini", "~/.gemini/oauth_creds.json",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.gemini", "~/.gemini/oauth_creds.json"],
    "denyWrite": [
      "~/.gemini/settings.json", "~/.gemini/.env", "~/.gemini/GEMINI.md", "~/.gemini/memory.md", "~/.gemini/system.md",
      "~/.gemini/trustedFolders.json", "~/.gemini/trusted_hooks.json", "~/.gemini/acknowledgments",
      "~/.gemini/extensions", "~/.gemini/extension_integrity.json", "~/.gemini/commands", "~/.gemini/skills",
      "~/.gemini/agents", "~/.gemini/policies", "~/.gemini/hooks", "~/.gemini/keybindings.json", "~/.gemini/bin",
      "~/.gemini/antigravity", "~/.gemini/config", "~/.gemini/tmp/*/memory",
      ".pi", ".agents", ".codex"
    ],
    "private": ["~/.gemini/history", "~/.gemini/tmp/bin"]
  },
  "network": {
    "allowedDomains": ["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
                       "accounts.google.com"]
  },
  "environment": {"GEMINI_TELEMETRY_ENABLED": "false"}
}
)";

// All of ~/.config/opencode is obeyed: plugins, tools, servers, packages. It does not start where it cannot write
// there: inside, that directory is the sandbox's own, and has your files in it. "snapshot" and "repos" hold
// repositories of git, and programs of "bin" are run outside.
constexpr std::string_view kOpencode = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.config/opencode/*", "~/.local/share/opencode", "~/.local/share/opencode/auth.json",
      "~/.local/state/opencode", "~/.opencode/bin",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [
      ".", "~/.local/share/opencode", "~/.local/share/opencode/auth.json", "~/.local/state/opencode"
    ],
    "denyWrite": [
      "~/.opencode", "~/.local/share/opencode/worktree",
      ".pi", ".agents", ".codex"
    ],
    "private": [
      "~/.config/opencode", "~/.local/share/opencode/bin", "~/.local/share/opencode/snapshot",
      "~/.local/share/opencode/repos"
    ]
  },
  "network": {
    "allowedDomains": ["opencode.ai", "models.opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com",
                       "chatgpt.com",
                       "generativelanguage.googleapis.com", "openrouter.ai"]
  },
  "environment": {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}
}
)";

// A relative of Gemini CLI. "channels" are chats that start sessions outside.
constexpr std::string_view kQwen = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.qwen", "~/.qwen/oauth_creds.json",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.qwen", "~/.qwen/oauth_creds.json"],
    "denyWrite": [
      "~/.qwen/settings.json", "~/.qwen/.env", "~/.qwen/QWEN.md", "~/.qwen/AGENTS.md", "~/.qwen/memory.md",
      "~/.qwen/memories", "~/.qwen/system.md", "~/.qwen/output-language.md", "~/.qwen/rules",
      "~/.qwen/trustedFolders.json", "~/.qwen/extensions", "~/.qwen/commands", "~/.qwen/skills", "~/.qwen/agents",
      "~/.qwen/hooks", "~/.qwen/locales", "~/.qwen/channels", "~/.qwen/bin", "~/.qwen/projects/*/memory",
      ".pi", ".agents", ".codex"
    ],
    "private": ["~/.qwen/history", "~/.qwen/worktrees", "~/.qwen/arena"]
  },
  "network": {
    "allowedDomains": ["chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com",
                       "dashscope-us.aliyuncs.com", "coding.dashscope.aliyuncs.com",
                       "coding-intl.dashscope.aliyuncs.com", "api.openai.com", "openrouter.ai"]
  }
}
)";

// "GitHub Copilot CLI configuration directory" of its manual. config.json holds the sign-in beside the directories that
// are trusted and the plugins: it can be read. "pkg" has newer versions of the program itself.
constexpr std::string_view kCopilot = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.copilot", "~/.copilot/config.json",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.copilot"],
    "denyWrite": [
      "~/.copilot/config.json", "~/.copilot/settings.json", "~/.copilot/mcp-config.json",
      "~/.copilot/lsp-config.json", "~/.copilot/permissions-config.json", "~/.copilot/copilot-instructions.md",
      "~/.copilot/instructions", "~/.copilot/agents", "~/.copilot/hooks", "~/.copilot/skills",
      "~/.copilot/extensions", "~/.copilot/installed-plugins", "~/.copilot/plugin-data", "~/.copilot/ide",
      "~/.copilot/pkg",
      ".pi", ".agents", ".codex"
    ]
  },
  "network": {
    "allowedDomains": ["github.com", "api.github.com", "api.githubcopilot.com", "*.githubcopilot.com",
                       "copilot-proxy.githubusercontent.com"]
  },
  "environment": {"COPILOT_AUTO_UPDATE": "false"}
}
)";

// ~/.cursor is the editor's too, with extensions and servers: what the program in the terminal writes is named.
constexpr std::string_view kCursorAgent = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.cursor", "~/.config/cursor/auth.json", "~/.local/share/cursor-agent",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.cursor/chats", "~/.cursor/projects", "~/.config/cursor/auth.json"],
    "denyWrite": [
      "~/.cursor/cli-config.json", "~/.cursor/mcp.json", "~/.cursor/hooks.json", "~/.cursor/hooks",
      "~/.cursor/rules", "~/.cursor/commands", "~/.cursor/agents", "~/.cursor/skills", "~/.cursor/plugins",
      "~/.cursor/extensions", "~/.cursor/permissions.json", "~/.cursor/projects/*/mcp-approvals.json",
      "~/.cursor/projects/*/mcp-auth.json", "~/.cursor/projects/*/.workspace-trusted",
      ".pi", ".agents", ".codex"
    ]
  },
  "network": {"allowedDomains": ["api2.cursor.sh", "*.api2.cursor.sh", "*.api5.cursor.sh", "cursor.com"]},
  "environment": {"NO_OPEN_BROWSER": "1"}
}
)";

// Each variable of oauth-keys.env is set at each start, and the configuration names commands to lint and test with.
constexpr std::string_view kAider = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.aider", "~/.aider.conf.yml", "~/.aider.model.settings.yml", "~/.aider.model.metadata.json",
      "~/.local/share/uv", "~/.local/share/pipx",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.aider"],
    "denyWrite": [
      "~/.aider/oauth-keys.env", "~/.aider.conf.yml", "~/.aider.model.settings.yml", "~/.aider.model.metadata.json",
      ".pi", ".agents", ".codex"
    ]
  },
  "network": {
    "allowedDomains": ["api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai",
                       "api.deepseek.com"]
  },
  "environment": {"AIDER_ANALYTICS": "false", "AIDER_CHECK_UPDATE": "false"}
}
)";

// All of ~/.config/goose is obeyed: extensions, permissions, recipes. Its keyring is a service of the desktop, which
// nothing inside reaches; without it the keys are taken from secrets.yaml or from variables.
constexpr std::string_view kGoose = R"({
  "filesystem": {
    "denyRead": ["/home", "/root", "/Users", "~"],
    "allowRead": [
      ".", "~/.config/goose", "~/.config/goose/secrets.yaml", "~/.local/share/goose", "~/.local/state/goose",
      "~/.gitconfig", "~/.config/git", "~/.local/bin", "~/.nvm", "~/.npm-global"
    ],
    "allowWrite": [".", "~/.local/share/goose", "~/.local/state/goose"],
    "denyWrite": [
      "~/.config/goose", "~/.local/share/goose/schedule.json", "~/.local/share/goose/schedules.json",
      "~/.local/share/goose/scheduled_recipes", "~/.local/share/goose/apps", "~/.local/share/goose/plugins",
      ".pi", ".agents", ".codex"
    ]
  },
  "network": {
    "allowedDomains": ["api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "openrouter.ai"]
  },
  "environment": {"GOOSE_DISABLE_KEYRING": "1"}
}
)";

// The directories that each keeps, and those that are empty inside.
constexpr std::array<std::string_view, 3> kClaudeCodeState = {"~/.claude", "~/.claude/shell-snapshots",
                                                              "~/.claude/session-env"};
constexpr std::array<std::string_view, 4> kCodexState = {"~/.codex", "~/.codex/skills", "~/.codex/shell_snapshots",
                                                         "~/.codex/tmp"};
constexpr std::array<std::string_view, 1> kPiState = {"~/.pi/agent"};
constexpr std::array<std::string_view, 3> kGeminiState = {"~/.gemini", "~/.gemini/history", "~/.gemini/tmp/bin"};
constexpr std::array<std::string_view, 6> kOpencodeState = {
    "~/.config/opencode",          "~/.local/state/opencode",          "~/.local/share/opencode",
    "~/.local/share/opencode/bin", "~/.local/share/opencode/snapshot", "~/.local/share/opencode/repos"};
constexpr std::array<std::string_view, 4> kQwenState = {"~/.qwen", "~/.qwen/history", "~/.qwen/worktrees",
                                                        "~/.qwen/arena"};
constexpr std::array<std::string_view, 1> kCopilotState = {"~/.copilot"};
constexpr std::array<std::string_view, 2> kCursorAgentState = {"~/.cursor/chats", "~/.cursor/projects"};
constexpr std::array<std::string_view, 1> kAiderState = {"~/.aider"};
constexpr std::array<std::string_view, 3> kGooseState = {"~/.config/goose", "~/.local/share/goose",
                                                         "~/.local/state/goose"};

}  // namespace

std::span<const Preset> presets() {
  static constexpr std::array<Preset, 10> kPresets = {
      Preset{"claude-code", "Claude Code, with its own sandbox off", kClaudeCode, kClaudeCodeState},
      Preset{"codex", "Codex, with its own sandbox off", kCodex, kCodexState},
      Preset{"pi", "pi, as a whole", kPi, kPiState},
      Preset{"gemini", "Gemini CLI, with its own sandbox off", kGemini, kGeminiState},
      Preset{"opencode", "opencode, as a whole", kOpencode, kOpencodeState},
      Preset{"qwen", "Qwen Code, with its own sandbox off", kQwen, kQwenState},
      Preset{"copilot", "GitHub Copilot CLI, as a whole", kCopilot, kCopilotState},
      Preset{"cursor-agent", "Cursor CLI, with its own sandbox off", kCursorAgent, kCursorAgentState},
      Preset{"aider", "Aider, as a whole", kAider, kAiderState},
      Preset{"goose", "goose, as a whole", kGoose, kGooseState},
  };
  return kPresets;
}

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  return found == presets().end() ? nullptr : &*found;
}

bool may_be_preset(std::string_view typed) { return typed.find_first_of("/.~") == std::string_view::npos; }

Error no_preset(std::string_view typed, std::string_view context) {
  std::vector<std::string_view> known;
  for (const Preset& preset : presets()) known.push_back(preset.name);
  const auto near = nearest(typed, known);
  const std::string list = join({known.begin(), known.end()}, ", ");
  return Error::not_found(cat({context, ": there is no preset \"", printable(typed, 64), "\"",
                               near ? cat({"; did you mean ", *near, "?"}) : std::string(), " (presets: ", list, ")"}));
}

}  // namespace hutch::policy
