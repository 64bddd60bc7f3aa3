# Completion of holdfast for bash. Load it with: source <(holdfast completion bash)
_holdfast() {
  local line="${COMP_LINE:0:COMP_POINT}" current="" head="" word="" strip=""
  local -a words=() found=()
  read -r -a words <<< "$line"
  if [[ "$line" == *[![:space:]] && ${#words[@]} -gt 1 ]]; then
    current="${words[${#words[@]}-1]}"
    unset "words[${#words[@]}-1]"
  fi
  # Bash ends words at : and =; the part before them is already on the line.
  if [[ "$current" == *[:=]* ]]; then
    word="${current##*[:=]}"
    strip="${current%"$word"}"
    [[ "$strip" == *: && "$COMP_WORDBREAKS" != *:* ]] && strip=""
    [[ "$strip" == *= && "$COMP_WORDBREAKS" != *=* ]] && strip=""
  fi
  {
    IFS= read -r head
    while IFS= read -r word; do
      word="${word%%$'\t'*}"
      found+=("${word#"$strip"}")
    done
  } < <("${words[0]}" __complete "${words[@]:1}" "$current" 2>/dev/null)
  case "$head" in
    :file) while IFS= read -r word; do found+=("$word"); done < <(compgen -f -- "${current#"$strip"}") ;;
    :folder) while IFS= read -r word; do found+=("$word"); done < <(compgen -d -- "${current#"$strip"}") ;;
  esac
  [[ "$head" == :words ]] || compopt -o filenames 2>/dev/null
  COMPREPLY=("${found[@]}")
}
complete -F _holdfast holdfast
