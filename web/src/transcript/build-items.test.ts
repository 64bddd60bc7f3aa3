import { describe, expect, it } from "vitest";
import type { HistoryMessage, Note } from "../state/state.ts";
import { buildItems } from "./build-items.ts";

describe("buildItems", () => {
  it("joins a tool result with its call, and shows one without a call", () => {
    const items = buildItems(
      [
        message("1", {
          role: "assistant",
          content: [{ type: "toolCall", id: "t", name: "read", arguments: { path: "a" } }],
        }),
        message("2", { role: "toolResult", toolCallId: "t", toolName: "read", content: "text of a", isError: false }),
        message("3", { role: "toolResult", toolCallId: "gone", toolName: "bash", content: "oh", isError: true }),
      ],
      [],
    );
    expect(items).toMatchObject([
      { kind: "assistant", blocks: [{ kind: "tool", tool: { name: "read", output: "text of a", isError: false } }] },
      { kind: "tool", tool: { name: "bash", output: "oh", isError: true } },
    ]);
  });

  it("collapses consecutive turns that saved memory", () => {
    const flush = { turnId: "flush:main:3" };
    const items = buildItems(
      [
        message("1", { role: "user", content: "hi" }),
        message("2", { role: "user", content: "save", ...flush }),
        message("3", { role: "assistant", content: "NO_REPLY", ...flush }),
        message("4", { role: "user", content: "go on" }),
      ],
      [],
    );
    expect(items.map(({ kind }) => kind)).toEqual(["user", "flush", "user"]);
    expect(items[1]).toMatchObject({ items: [{ text: "save" }, { kind: "assistant" }] });
  });

  it("shows the person's words without the text added for the engine", () => {
    const said = message("1", { role: "user", content: "[Telegram Ana] hi (history follows)", said: "hi" });
    expect(buildItems([said], [])).toMatchObject([{ kind: "user", text: "hi" }]);
  });

  it("puts notes after their message", () => {
    const note: Note = { key: "k", sessionId: "w", itemId: 7, kind: "answer", text: "fine" };
    const items = buildItems(
      [message("1", { role: "user", content: "a" }), message("2", { role: "user", content: "b" })],
      [note, { ...note, itemId: 8, after: "1" }],
    );
    expect(items.map(({ id }) => id)).toEqual(["note 7", "1", "note 8", "2"]);
  });

  it("accepts any content of a file", () => {
    const shapes = [
      { role: "user", content: undefined },
      { role: "user", content: [null, 7, "text", { type: "text", text: 5 }, { type: "image", data: 1 }] },
      { role: "assistant", content: { type: "text" }, stopReason: 3 },
      { role: "assistant", content: [{ type: "toolCall" }], stopReason: "error", errorMessage: { a: 1 } },
      { role: "toolResult" },
      { role: "bashExecution" },
      { role: "compactionSummary" },
      { role: "custom" },
      { role: "martian", content: "hello" },
      {},
    ];
    const items = buildItems(
      shapes.map((shape, index) => message(String(index), shape)),
      [],
    );
    const errors = items.flatMap((item) => (item.kind === "assistant" ? (item.error ?? []) : []));
    expect(errors).toEqual(["The answer failed."]);
    for (const item of items) expect(item).not.toMatchObject({ text: undefined });
  });

  it("shows a hand-off as a separate note, never as the person's words", () => {
    const text = "<handoff 0123456789abcdef>\nWhat the last conversation left\n</handoff 0123456789abcdef>\n";
    const content = [
      { type: "text", text, handoff: true },
      { type: "text", text: "good morning" },
    ];
    const shown = [
      { kind: "handoff", title: "Hand-off from the previous window", text: "What the last conversation left" },
      { kind: "user", id: "1", text: "good morning" },
    ];
    expect(buildItems([message("1", { role: "user", content })], [])).toMatchObject(shown);
    expect(buildItems([message("1", { role: "user", content, said: "good morning" })], [])).toMatchObject(shown);
  });

  it("shows pictures of harmless types only", () => {
    expect(buildItems([picture("image/png", "iVBORw0KGgo=")], [])).toMatchObject([
      { images: ["data:image/png;base64,iVBORw0KGgo="] },
    ]);
    for (const hostile of [
      picture("image/svg+xml", "PHN2Zz4="),
      picture("image/png", '"><script>'),
      picture("text/html", "aGk="),
    ]) {
      expect(buildItems([hostile], [])).toMatchObject([{ images: [], text: "(an image)" }]);
    }
  });
});

function message(entryId: string, shape: object): HistoryMessage {
  return { timestamp: 1, entryId, ...shape } as unknown as HistoryMessage;
}

function picture(mimeType: string, data: string): HistoryMessage {
  return message("1", { role: "user", content: [{ type: "image", mimeType, data }] });
}
