# Completion of hutch for bash.
# shellcheck shell=bash

_hutch_place_options="--backend --policy --allow-read --deny-read --allow-write --deny-write --cwd --env --timeout
  --idle-timeout --memory --cpus --pids --tmp-size"

# The options of one verb.
_hutch_options() {
  case $1 in
    run) echo "$_hutch_place_options --json --control-fd -c --help" ;;
    explain | check) echo "$_hutch_place_options --json --help" ;;
    doctor | log | why | audit) echo "--json --help" ;;
    *) echo "--help" ;;
  esac
}

# Whether a word takes the one after it as its value.
_hutch_takes_value() {
  case $1 in
    --backend | --policy | --allow-read | --deny-read | --allow-write | --deny-write | --cwd | --env | --timeout | \
      --idle-timeout | --memory | --cpus | --pids | --tmp-size | --control-fd | -c) return 0 ;;
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

_hutch_complete() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} _hutch_command_at
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "run explain check doctor log why audit completion help --help --version" \
      -- "$word")
    return
  fi
  if [[ $verb == run ]]; then
    _hutch_find_command
    if ((_hutch_command_at > 0)); then
      if ((COMP_CWORD == _hutch_command_at)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
      elif declare -F _command_offset >/dev/null; then
        _command_offset "$_hutch_command_at"
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      return
    fi
  fi
  case $previous in
    --backend) mapfile -t COMPREPLY < <(compgen -W "none bwrap namespace" -- "$word") && return ;;
    --policy | --allow-read | --deny-read | --allow-write | --deny-write)
      mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    --cwd) mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    --env) mapfile -t COMPREPLY < <(compgen -e -- "$word") && return ;;
  esac
  if _hutch_takes_value "$previous"; then return; fi
  case $verb:$word in
    *:-*) mapfile -t COMPREPLY < <(compgen -W "$(_hutch_options "$verb")" -- "$word") ;;
    run:*) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
    check:*) mapfile -t COMPREPLY < <(compgen -W "read write" -f -- "$word") ;;
    completion:*) mapfile -t COMPREPLY < <(compgen -W "bash" -- "$word") ;;
    help:*) mapfile -t COMPREPLY < <(compgen -W "run explain check doctor log why audit completion" -- "$word") ;;
  esac
}

complete -o filenames -F _hutch_complete hutch
