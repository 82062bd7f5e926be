# SPDX-License-Identifier: Apache-2.0
#
# Completes rangefinder's verbs, options and their values in fish, which finds the installed file by itself. To load it
# now: source tools/completion/rangefinder.fish
#
# The program prints the words (`rangefinder __complete`), so no list here can become outdated.

function __rangefinder_words
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end

function __rangefinder_has_words
    test (count (__rangefinder_words)) -gt 0
end

function __rangefinder_offers
    set -l words (__rangefinder_words)
    if string match -q '/*' -- $words[1] # a folder
        __fish_complete_directories (commandline -ct)
    else
        printf '%s\n' $words
    end
end

complete -c rangefinder -n __rangefinder_has_words -f -a '(__rangefinder_offers)'
complete -c rangefinder -n 'not __rangefinder_has_words' -F
