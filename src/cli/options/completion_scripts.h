// The fixed parts of the completion scripts; @NAMES@ are replaced by lists from the table of verbs.
#pragma once

#include <string_view>

namespace hutch::cli {

inline constexpr std::string_view kBashScript = R"script(# Completion of hutch for bash, by `hutch completion bash`.
# shellcheck shell=bash

# The options of one verb.
_hutch_options() {
  case $1 in
@OPTIONS@    *) echo "--help" ;;
  esac
}

# Whether a word takes the one after it as its value.
_hutch_takes_value() {
  case $1 in
    @VALUED@) return 0 ;;
  esac
  return 1
}

# The index of the first word of the command that `hutch run` is to run, in _hutch_command_at; 0 while there is none.
_hutch_find_command() {
  local i word
  _hutch_command_at=0
  for ((i = 2; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      _hutch_command_at=$((i + 1))
      return
    elif _hutch_takes_value "$word"; then
      i=$((i + 1))
    elif [[ $word != -* ]]; then
      _hutch_command_at=$i
      return
    fi
  done
}

_hutch_complete_command() {
  local word=${COMP_WORDS[COMP_CWORD]}
  if ((COMP_CWORD == _hutch_command_at)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$word")
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$_hutch_command_at"
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

_hutch_complete() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} _hutch_command_at
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "@VERBS@ --help --version" -- "$word")
    return
  fi
  if [[ $verb == run ]]; then
    _hutch_find_command
    if ((_hutch_command_at > 0)); then
      _hutch_complete_command
      return
    fi
  fi
  case $previous in
@KNOWN@    @PATHS@) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    @DIRECTORIES@) mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    @VARIABLES@) mapfile -t COMPREPLY < <(compgen -e -- "$word") && return ;;
  esac
  if _hutch_takes_value "$previous"; then return; fi
  case $verb:$word in
    *:-*) mapfile -t COMPREPLY < <(compgen -W "$(_hutch_options "$verb")" -- "$word") ;;
    run:*) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
    explain:*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    help:*) mapfile -t COMPREPLY < <(compgen -W "@VERBS@" -- "$word") ;;
@WORDS@  esac
}

complete -o filenames -F _hutch_complete hutch
)script";

inline constexpr std::string_view kZshScript = R"script(#compdef hutch
# Completion of hutch for zsh, by `hutch completion zsh`.

_hutch() {
  local -a verbs
  verbs=(
@SUMMARIES@  )
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
@CASES@  esac
}

# Either the file that defines the function _hutch (autoloaded from fpath), or sourced.
if [[ $funcstack[1] == _hutch ]]; then
  _hutch "$@"
else
  compdef _hutch hutch
fi
)script";

inline constexpr std::string_view kFishScript = R"script(# Completion of hutch for fish, by `hutch completion fish`.

function __hutch_needs_verb
    set -l words (commandline -opc)
    test (count $words) -eq 1
end

# Whether the verb is this one; of run's words only those before the command are hutch's own.
function __hutch_verb_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]; or return 1
    test $argv[1] = run; or return 0
    set -l is_value no
    for word in $words[3..-1]
        if test $is_value = yes
            set is_value no
        else if contains -- $word @VALUED@
            set is_value yes
        else if test $word = --; or not string match -q -- '-*' $word
            return 1
        end
    end
    return 0
end

@LINES@)script";

}  // namespace hutch::cli
