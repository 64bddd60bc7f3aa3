/** What stands within a line. One pass from left to right; whatever has no end is text. */
import { safeLink } from "./safe-link.ts";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong"; text: string }
  | { kind: "emphasis"; text: string }
  | { kind: "link"; text: string; href: string };

/** Every part has a bounded length, so no text makes the search slow. `\x60` is the backtick. */
const TOKEN = new RegExp(
  [
    String.raw`(?<ticks>\x60{1,3})(?<code>[^\x60\n]{1,2000})\k<ticks>`,
    String.raw`!?\[(?<label>[^[\]\n]{1,500})\]\((?<target>[^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\))?)\)`,
    String.raw`(?<url>\bhttps?://[^\s<>"'\x60]{1,2000})`,
    String.raw`\*\*(?<strong>[^*\n]{1,1000})\*\*`,
    String.raw`(?<![\w*])\*(?<star>[^*\s][^*\n]{0,1000})\*(?![\w*])`,
    String.raw`(?<![\w_])_(?<line>[^_\s][^_\n]{0,1000})_(?![\w_])`,
  ].join("|"),
  "gu",
);

export function parseInline(text: string): Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    const part = toInline(found.groups ?? {}, found[0]);
    if (found.index > at) parts.push({ kind: "text", text: text.slice(at, found.index) });
    parts.push(...part);
    at = found.index + found[0].length;
  }
  if (at < text.length) parts.push({ kind: "text", text: text.slice(at) });
  return parts;
}

function toInline(groups: Record<string, string | undefined>, whole: string): Inline[] {
  const { code, label, target, url, strong, star, line } = groups;
  if (code !== undefined) return [{ kind: "code", text: code }];
  if (strong !== undefined) return [{ kind: "strong", text: strong }];
  if (star !== undefined || line !== undefined) return [{ kind: "emphasis", text: star ?? line ?? "" }];
  if (url !== undefined) return bareLink(url);
  if (label === undefined || target === undefined) return [{ kind: "text", text: whole }];
  const href = safeLink(target);
  if (href === undefined) return [{ kind: "text", text: whole }];
  // A label that looks like an address may not lead to another one.
  return [{ kind: "link", text: looksLikeAddress(label) ? href : label, href }];
}

/** The point at the end of a sentence is no part of the address. */
function bareLink(url: string): Inline[] {
  const address = url.replace(/[.,;:!?)\]}*_]+$/, "");
  const href = safeLink(address);
  if (href === undefined) return [{ kind: "text", text: url }];
  const rest = url.slice(address.length);
  return [{ kind: "link", text: address, href }, ...(rest === "" ? [] : [{ kind: "text" as const, text: rest }])];
}

function looksLikeAddress(label: string): boolean {
  return /^\s*(?:[a-z]+:\/\/|www\.)|^\s*[\w-]+(?:\.[\w-]+)+(?:[/?#:]\S*)?\s*$/i.test(label);
}
