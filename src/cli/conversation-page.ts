/** A conversation as one HTML file: no scripts, no external resources, readable in light and dark and on paper. */
import { localTime } from "../base/clock.ts";

export interface PageMessage {
  speaker: string;
  /** `person` and `agent` stand out, `other` is dimmed. */
  tone: "person" | "agent" | "other";
  /** In ms. */
  at?: number | undefined;
  text: string;
  /** Shown folded. */
  details?: { title: string; text: string }[] | undefined;
}

export interface PageHead {
  title: string;
  facts: readonly string[];
}

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --dim: #777; --person: #0a66c2; --agent: #2a7a3b; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } header p, .other, time { color: var(--dim); } header p { margin: 0; }
article { border-top: 1px solid var(--line); padding: 0.75rem 0; }
h2 { font-size: 0.9rem; margin: 0 0 0.25rem; } .person h2 { color: var(--person); } .agent h2 { color: var(--agent); }
time { font-weight: normal; margin-left: 0.5rem; }
p { white-space: pre-wrap; margin: 0.25rem 0; }
pre { overflow-x: auto; padding: 0.6rem; border: 1px solid var(--line); border-radius: 4px; font-size: 0.85rem; white-space: pre-wrap; }
summary { cursor: pointer; color: var(--dim); font-size: 0.85rem; }
@media (prefers-color-scheme: dark) { :root { --person: #6cb2ff; --agent: #7fd18f; --dim: #999; } }
`;

export async function* renderPage(head: PageHead, messages: AsyncIterable<PageMessage>): AsyncGenerator<string> {
  yield `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(head.title)}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<header>
<h1>${escapeHtml(head.title)}</h1>\n${head.facts.map((fact) => `<p>${escapeHtml(fact)}</p>`).join("\n")}\n</header>\n<main>\n`;
  for await (const message of messages) yield renderMessage(message);
  yield "</main>\n</body>\n</html>\n";
}

function renderMessage({ speaker, tone, at, text, details = [] }: PageMessage): string {
  const time = at === undefined ? "" : `<time datetime="${new Date(at).toISOString()}">${localTime(at)}</time>`;
  const folded = details.map(
    (part) => `<details><summary>${escapeHtml(part.title)}</summary><pre>${escapeHtml(part.text)}</pre></details>\n`,
  );
  return `<article class="${tone}">\n<h2>${escapeHtml(speaker)}${time}</h2>\n${renderText(text)}${folded.join("")}</article>\n`;
}

const FENCED = /^```[^\n]*\n([\s\S]*?)(?:^```[ \t]*$|$(?![\s\S]))/gm;

/** Code blocks as such, everything else as it was written. */
function renderText(text: string): string {
  let html = "";
  let at = 0;
  for (const match of text.matchAll(FENCED)) {
    html += `${plain(text.slice(at, match.index))}<pre><code>${escapeHtml(match[1] ?? "")}</code></pre>\n`;
    at = match.index + match[0].length;
  }
  return html + plain(text.slice(at));
}

function plain(text: string): string {
  return text.trim() === "" ? "" : `<p>${escapeHtml(text.trim())}</p>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Control characters that could change the direction of text or hide it are made visible. */
function escapeHtml(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "")
    .replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this replaces
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
