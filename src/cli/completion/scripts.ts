/**
 * `holdfast completion`: prints the completion script of a shell. The scripts ask the installed program for completions,
 * so they are never out of date. The bash script works with bash 3.2 and newer.
 */
import { parseChoice } from "../command.ts";

const BASH = String.raw`# Completion of holdfast for bash. Load it with: source <(holdfast completion bash)
_holdfast() {
  local line="${"$"}{COMP_LINE:0:COMP_POINT}" current="" head="" word="" strip=""
  local -a words=() found=()
  read -r -a words <<< "$line"
  if [[ "$line" == *[![:space:]] && ${"$"}{#words[@]} -gt 1 ]]; then
    current="${"$"}{words[${"$"}{#words[@]}-1]}"
    unset "words[${"$"}{#words[@]}-1]"
  fi
  # Bash ends words at : and =; the part before them is already on the line.
  if [[ "$current" == *[:=]* ]]; then
    word="${"$"}{current##*[:=]}"
    strip="${"$"}{current%"$word"}"
    [[ "$strip" == *: && "$COMP_WORDBREAKS" != *:* ]] && strip=""
    [[ "$strip" == *= && "$COMP_WORDBREAKS" != *=* ]] && strip=""
  fi
  {
    IFS= read -r head
    while IFS= read -r word; do
      word="${"$"}{word%%$'\t'*}"
      found+=("${"$"}{word#"$strip"}")
    done
  } < <("${"$"}{words[0]}" __complete "${"$"}{words[@]:1}" "$current" 2>/dev/null)
  case "$head" in
    :file) while IFS= read -r word; do found+=("$word"); done < <(compgen -f -- "${"$"}{current#"$strip"}") ;;
    :folder) while IFS= read -r word; do found+=("$word"); done < <(compgen -d -- "${"$"}{current#"$strip"}") ;;
  esac
  [[ "$head" == :words ]] || compopt -o filenames 2>/dev/null
  COMPREPLY=("${"$"}{found[@]}")
}
complete -F _holdfast holdfast
`;

const ZSH = String.raw`#compdef holdfast
# Completion of holdfast for zsh. Load it with: source <(holdfast completion zsh)
_holdfast() {
  local -a lines found
  local head line
  lines=("${"$"}{(@f)$("${"$"}{words[1]}" __complete "${"$"}{(@)words[2,CURRENT]}" 2>/dev/null)}")
  head="${"$"}{lines[1]}"
  for line in "${"$"}{(@)lines[2,-1]}"; do
    [[ -n "$line" ]] || continue
    if [[ "$line" == *$'\t'* ]]; then
      found+=("${"$"}{${"$"}{line%%$'\t'*}//:/\\:}:${"$"}{line#*$'\t'}")
    else
      found+=("${"$"}{line//:/\\:}")
    fi
  done
  (( ${"$"}{#found} )) && _describe -V holdfast found
  case "$head" in
    :file) _files ;;
    :folder) _files -/ ;;
  esac
}
if [[ "$funcstack[1]" == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
`;

const FISH = String.raw`# Completion of holdfast for fish. Load it with: holdfast completion fish | source
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
`;

export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;

export async function printCompletion(shell: string): Promise<void> {
  const known = parseChoice("The shell", shell, ["bash", "zsh", "fish"]);
  process.stdout.write(COMPLETION_SCRIPTS[known]);
  await Promise.resolve();
}
