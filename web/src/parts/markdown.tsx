/**
 * Shows Markdown as React elements, parsed by marked. The text is untrusted: raw HTML is shown as text, links
 * lead only to http, https and mailto, and pictures become links, so that nothing is loaded.
 */
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode, memo, useEffect, useMemo, useState } from "react";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => parseMarkdown(text), [text]);
  return <div className="markdown">{tokens === undefined ? <p dir="auto">{text}</p> : show(tokens)}</div>;
});

/** Parsing emphasis takes quadratic time, so a longer paragraph is shown as it is. */
const MAX_INLINE = 20_000;
/** Parsing recurses per level. */
const DEEP_NESTING = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){30}/m;

/** Undefined for a text that is too deeply nested. */
export function parseMarkdown(source: string): Token[] | undefined {
  const text = source.replace(/\r\n?/g, "\n");
  if (DEEP_NESTING.test(text)) return undefined;
  const lexer = new Lexer();
  try {
    const blocks = lexer.blockTokens(text);
    for (const { src, tokens } of lexer.inlineQueue) {
      if (src.length <= MAX_INLINE) lexer.inlineTokens(src, tokens);
      else tokens.push({ type: "text", raw: src, text: src });
    }
    return blocks;
  } catch {
    return undefined;
  }
}

function show(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{showToken(token as MarkedToken)}</Fragment>);
}

function showToken(token: MarkedToken): ReactNode {
  switch (token.type) {
    case "space":
      return null;
    case "paragraph":
      return <p dir="auto">{show(token.tokens)}</p>;
    case "heading":
      return <Heading {...token} />;
    case "code":
      return <CodeBlock language={/^[\w+#.-]{0,30}/.exec(token.lang ?? "")?.[0] ?? ""} text={token.text} />;
    case "list":
      return <List {...token} />;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "blockquote":
      return <blockquote>{show(token.tokens)}</blockquote>;
    case "table":
      return <Table {...token} />;
    case "hr":
      return <hr />;
    case "text":
      return token.tokens === undefined ? token.text : show(token.tokens);
    case "escape":
      return token.text;
    case "codespan":
      return <code>{token.text}</code>;
    case "strong":
      return <strong>{show(token.tokens)}</strong>;
    case "em":
      return <em>{show(token.tokens)}</em>;
    case "del":
      return <del>{show(token.tokens)}</del>;
    case "br":
      return <br />;
    case "link":
      return <Link target={token.href} label={token.text} shown={show(token.tokens)} raw={token.raw} />;
    case "image":
      return <Link target={token.href} label={token.text} shown={token.text} raw={token.raw} />;
    default:
      return token.raw;
  }
}

function Heading({ depth, tokens }: Tokens.Heading) {
  return (
    <p className="heading" data-level={depth} role="heading" aria-level={Math.min(6, depth + 2)} dir="auto">
      {show(tokens)}
    </p>
  );
}

function CodeBlock({ language, text }: { language: string; text: string }) {
  return (
    <figure className="code">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

const SHOWN_MS = 1500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <button type="button" className="quiet copy" aria-label={label} onClick={copy}>
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}

function List({ ordered, start, items }: Tokens.List) {
  const rows = items.map(({ tokens }, index) => (
    <li key={index} dir="auto">
      {show(tokens)}
    </li>
  ));
  return ordered ? <ol start={Number(start)}>{rows}</ol> : <ul>{rows}</ul>;
}

function Table({ header, rows }: Tokens.Table) {
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, index) => (
              <th key={index}>{show(tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map(({ tokens }, column) => (
                <td key={column}>{show(tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LinkProps {
  target: string;
  label: string;
  shown: ReactNode;
  raw: string;
}

function Link({ target, label, shown, raw }: LinkProps) {
  const href = safeLink(target);
  if (href === undefined) return raw;
  // A label that looks like an address must not hide another one.
  const isMisleading = label !== target && looksLikeAddress(label);
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {isMisleading ? href : shown}
    </a>
  );
}

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

function safeLink(target: string): string | undefined {
  // Without a base: a relative address would lead into this page.
  const url = URL.parse(target);
  return url !== null && SCHEMES.has(url.protocol) ? url.href : undefined;
}

function looksLikeAddress(label: string): boolean {
  return /^\s*(?:[a-z]+:\/\/|www\.)|^\s*[\w-]+(?:\.[\w-]+)+(?:[/?#:]\S*)?\s*$/i.test(label);
}
