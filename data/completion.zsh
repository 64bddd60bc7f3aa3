#compdef holdfast
# Completion of holdfast for zsh. Load it with: source <(holdfast completion zsh)
_holdfast() {
  local -a lines found
  local head line
  lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  head="${lines[1]}"
  for line in "${(@)lines[2,-1]}"; do
    [[ -n "$line" ]] || continue
    if [[ "$line" == *$'\t'* ]]; then
      found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    else
      found+=("${line//:/\\:}")
    fi
  done
  (( ${#found} )) && _describe -V holdfast found
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
