# Completion of holdfast for fish. Load it with: holdfast completion fish | source
function __holdfast_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    for line in $lines[2..-1]
        test -n "$line"; and echo $line
    end
    switch "$lines[1]"
        case :file
            __fish_complete_path "$current"
        case :folder
            __fish_complete_directories "$current"
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'
