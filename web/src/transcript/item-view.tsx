import { memo, type ReactNode, useState } from "react";
import { isSilentReplyText } from "../../../src/turn/reply/tokens.ts";
import { Markdown } from "../parts/markdown.tsx";
import { clockTime, When } from "../parts/time.tsx";
import type { Note } from "../state/state.ts";
import type { Item } from "./build-items.ts";
import type { ShownBlock, ShownTool } from "./message-blocks.ts";

export const ItemView = memo(function ItemView({ item }: { item: Item }) {
  switch (item.kind) {
    case "user":
      return <UserMessage text={item.text} images={item.images} at={item.at} isCut={item.isCut} />;
    case "assistant":
      return <AssistantMessage {...item} />;
    case "tool":
      return <ToolCall tool={item.tool} />;
    case "summary":
      return (
        <details className="fold divider">
          <summary>{item.title}</summary>
          <LongText text={item.text} show={(text) => <Markdown text={text} />} />
        </details>
      );
    case "handoff":
      return (
        <details className="fold divider">
          <summary>{item.title}</summary>
          <p className="plain">{item.text}</p>
        </details>
      );
    case "custom":
      return (
        <div className="aside">
          <p className="aside-title">{item.title}</p>
          <LongText text={item.text} show={(text) => <Markdown text={text} />} />
        </div>
      );
    case "flush":
      return (
        <details className="fold divider">
          <summary>The agent saved its memory</summary>
          {item.items.map((inner) => (
            <ItemView key={inner.id} item={inner} />
          ))}
        </details>
      );
    case "note":
      return <NoteView note={item.note} />;
    default:
      return item satisfies never;
  }
});

type Assistant = Extract<Item, { kind: "assistant" }>;

function AssistantMessage({ blocks, error, isStopped, isCut, isLast, at }: Assistant) {
  return (
    <article className="message assistant" aria-label="Agent">
      {blocks.map((block, index) => (
        // The order of the blocks never changes.
        <BlockView key={index} block={block} />
      ))}
      {isCut && <p className="mark">Cut here: the message is too long to show.</p>}
      {isStopped && <p className="mark">Stopped</p>}
      {error !== undefined && <p className="error-box">{error}</p>}
      {isLast && (
        <p className="message-time">
          <When at={at} format={clockTime} />
        </p>
      )}
    </article>
  );
}

function BlockView({ block }: { block: ShownBlock }) {
  switch (block.kind) {
    case "text":
      return isSilentReplyText(block.text) ? (
        <p className="mark">No reply needed</p>
      ) : (
        <LongText text={block.text} show={(text) => <Markdown text={text} />} />
      );
    case "thinking":
      return (
        <details className="fold">
          <summary>Thinking</summary>
          <LongText text={block.text} show={(text) => <p className="plain">{text}</p>} />
        </details>
      );
    case "image":
      return <img className="picture" src={block.source} alt="From the transcript" />;
    case "tool":
      return <ToolCall tool={block.tool} />;
    default:
      return block satisfies never;
  }
}

/** A command and its answer, or a turn that failed before it began. */
function NoteView({ note: { question, text, kind } }: { note: Note }) {
  return (
    <>
      {question !== undefined && <UserMessage text={question} />}
      {kind === "answer" && text !== "" && (
        <article className="message aside" aria-label="Holdfast">
          <Markdown text={text} />
        </article>
      )}
      {kind === "stopped" && <p className="mark">Stopped</p>}
      {kind === "failed" && <p className="error-box">{text}</p>}
    </>
  );
}

const GLANCE_LENGTH = 90;

function ToolCall({ tool }: { tool: ShownTool }) {
  const { name, input, output, isError } = tool;
  return (
    <details className="fold tool" data-failed={isError}>
      <summary>
        <span className="tool-name">{name}</span>
        <span className="tool-glance">{glance(input)}</span>
        {isError && <span className="tool-state">failed</span>}
        {output === undefined && <span className="tool-state">no result</span>}
      </summary>
      {input !== undefined && input !== "" && <LongText text={input} show={(text) => <pre tabIndex={0}>{text}</pre>} />}
      {output !== undefined && (
        <LongText text={output === "" ? "(nothing)" : output} show={(text) => <pre tabIndex={0}>{text}</pre>} />
      )}
    </details>
  );
}

/** The first argument, as the most telling one. */
function glance(input: string | undefined): string {
  if (input === undefined) return "";
  const value = /^\{\s*"[^"]*":\s*"((?:[^"\\]|\\.)*)/.exec(input.slice(0, 1000))?.[1];
  return (value ?? input)
    .replace(/\\n|\s+/g, " ")
    .slice(0, GLANCE_LENGTH)
    .toWellFormed();
}

interface Props {
  text: string;
  images?: readonly string[];
  at?: number;
  isCut?: boolean;
}

export function UserMessage({ text, images = [], at, isCut = false }: Props) {
  return (
    <article className="message user" aria-label="You">
      <div className="bubble">
        {text !== "" && <LongText text={text} show={(shown) => <Markdown text={shown} />} />}
        {images.map((source, index) => (
          <img key={index} className="picture" src={source} alt="Sent with the message" />
        ))}
        {isCut && <p className="mark">Cut here: the message is too long to show.</p>}
      </div>
      {at !== undefined && (
        <p className="message-time">
          <When at={at} format={clockTime} />
        </p>
      )}
    </article>
  );
}

const SHOWN_CHARACTERS = 12_000;

/** Shows the beginning of a very long text, and the rest on request. */
function LongText({ text, show }: { text: string; show: (text: string) => ReactNode }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= SHOWN_CHARACTERS * 1.2) return show(text);
  return (
    <>
      {show(text.slice(0, SHOWN_CHARACTERS).toWellFormed())}
      <button type="button" className="quiet more" onClick={() => setWhole(true)}>
        Show all {text.length.toLocaleString()} characters
      </button>
    </>
  );
}
