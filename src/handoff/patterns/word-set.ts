/** The words of a list that is written in several lines. Lists are long: their blanks are not searched for one by one. */
export function wordSet(list: string): ReadonlySet<string> {
  const inOneLine = list.trim().replace(/\n\s*/g, " ");
  return new Set(inOneLine.split(" "));
}
