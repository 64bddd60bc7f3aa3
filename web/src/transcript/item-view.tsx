import { memo } from "react";
import { isSilentReplyText } from "../../../src/turn/reply/tokens.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { clockTime } from "../parts/time.ts";
import { When } from "../parts/when.tsx";
import type { Item } from "./build-items.ts";
import { LongText } from "./long-text.tsx";
import type { ShownBlock } from "./message-blocks.ts";
import { NoteView } from "./note-view.tsx";
import { ToolCall } from "./tool-call.tsx";
import { UserMessage } from "./user-message.tsx";

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
        // The blocks of a message never change their order.
        <BlockView key={index} block={block} />
      ))}
      {isCut && <p className="mark">Cut here: the message is too long to be shown whole.</p>}
      {isStopped && <p className="mark">Stopped</p>}
      {error !== undefined && (
        <div className="error-box">
          <p>{error}</p>
        </div>
      )}
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
        <p className="mark">No reply was needed</p>
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
