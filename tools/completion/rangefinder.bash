# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completes rangefinder's verbs, options and sections in bash. To load it now:
#   source tools/completion/rangefinder.bash
# bash-completion finds the installed file by itself.
#
# All words come from the program's --help, so no list here can become outdated.

# Long options in the help of a verb.
_rangefinder_options() {
  "${COMP_WORDS[0]}" "$@" --help 2>/dev/null | sed -n 's/^  \(-h,\)\{0,1\}\(--[a-z0-9-]*\).*/\2/p'
}

_rangefinder_verbs() {
  "${COMP_WORDS[0]}" --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

# The names after "One of:" in the help of an option.
_rangefinder_choices() {  # _rangefinder_choices VERB OPTION
  "${COMP_WORDS[0]}" "$1" --help 2>/dev/null |
    sed -n "/^  $2 /,/^  -/s/^   \\{10,\\}\\([a-z]*\\): .*/\\1/p"
}

# The words in the help of an option, as in "off, sampled (details) or exact".
_rangefinder_words() {  # _rangefinder_words VERB OPTION
  "${COMP_WORDS[0]}" "$1" --help 2>/dev/null | sed -n "/^  $2 /{s/ ([^)]*)//g;p}" |
    grep -oE '([a-z]+, )*[a-z]+ or [a-z]+' | sed -n '1s/,\{0,1\} or / /; 1s/,//gp'
}

_rangefinder() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]-}
  local word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -- ]]; then  # the program and its arguments follow
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
    fi
  done
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_rangefinder_verbs) $(_rangefinder_options)" -- "$current")
  elif [[ $previous == --section || $previous == --to ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_rangefinder_choices "$verb" "$previous")" -- "$current")
  elif [[ $previous == --counters ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_rangefinder_words "$verb" "$previous")" -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_rangefinder_options "$verb")" -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

complete -F _rangefinder rangefinder
