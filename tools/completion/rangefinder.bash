# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completes rangefinder's verbs, options and their values in bash. To load it now:
#   source tools/completion/rangefinder.bash
# bash-completion finds the installed file by itself.
#
# The program prints the words (`rangefinder __complete`), so no list here can become outdated.

_rangefinder() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}") current=${COMP_WORDS[COMP_CWORD]} word
  # bash splits --to=csv at the `=`.
  if [[ $current == = ]]; then current=''; fi
  local asked=()
  for word in "${words[@]:0:${#words[@]}-1}"; do [[ $word == = ]] || asked+=("$word"); done
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" __complete "${asked[@]}" "$current" 2>/dev/null | cut -f 1)
  local places=''
  case ${COMPREPLY[*]} in
    '') places=-f ;;
    /) places=-d ;;  # a folder
  esac
  if [[ -n $places ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen $places -- "$current")
  fi
}

complete -F _rangefinder rangefinder
