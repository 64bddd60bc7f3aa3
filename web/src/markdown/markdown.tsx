import { Fragment, type ReactNode, memo, useMemo } from "react";
import { CopyButton } from "../parts/copy-button.tsx";
import type { Inline } from "./parse-inline.ts";
import { type Block, type ListItem, parseMarkdown } from "./parse-markdown.ts";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return <div className="markdown">{showBlocks(blocks)}</div>;
});

function showBlocks(blocks: readonly Block[]): ReactNode {
  // The parts of a text that does not change have no other name than their place.
  return blocks.map((block, index) => <Fragment key={index}>{showBlock(block)}</Fragment>);
}

function showBlock(block: Block): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return <p dir="auto">{showInline(block.content)}</p>;
    case "heading":
      return (
        <p
          className="heading"
          data-level={block.level}
          role="heading"
          aria-level={Math.min(6, block.level + 2)}
          dir="auto"
        >
          {showInline(block.content)}
        </p>
      );
    case "code":
      return <CodeBlock language={block.language} text={block.text} />;
    case "list":
      return <List {...block} />;
    case "quote":
      return <blockquote>{showBlocks(block.blocks)}</blockquote>;
    case "table":
      return <Table {...block} />;
    case "rule":
      return <hr />;
    default:
      return block satisfies never;
  }
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

function List({ isOrdered, start, items }: { isOrdered: boolean; start: number; items: readonly ListItem[] }) {
  const rows = items.map(({ depth, content }, index) => (
    <li key={index} data-depth={depth} dir="auto">
      {showInline(content)}
    </li>
  ));
  return isOrdered ? <ol start={start}>{rows}</ol> : <ul>{rows}</ul>;
}

function Table({ head, rows }: { head: readonly Inline[][]; rows: readonly Inline[][][] }) {
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index}>{showInline(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{showInline(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function showInline(parts: readonly Inline[]): ReactNode {
  return parts.map((part, index) => <Fragment key={index}>{showPart(part)}</Fragment>);
}

function showPart(part: Inline): ReactNode {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return <code>{part.text}</code>;
    case "strong":
      return <strong>{part.text}</strong>;
    case "emphasis":
      return <em>{part.text}</em>;
    case "link":
      return (
        <a href={part.href} title={part.href} target="_blank" rel="noopener noreferrer nofollow">
          {part.text}
        </a>
      );
    default:
      return part satisfies never;
  }
}
