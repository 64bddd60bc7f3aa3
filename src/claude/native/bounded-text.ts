/** Text from a transcript is kept up to a limit: what grows with a transcript would grow with whatever stands in it. */

/** For ids, folders, branches and the like. */
export const NAME_LENGTH = 4096;

/** Cut to `length` units, but not through the middle of a character. */
export function bounded(text: string | undefined, length: number): string | undefined {
  if (text === undefined || text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
