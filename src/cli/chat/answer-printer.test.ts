import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RpcEvent } from "../../rpc/events.ts";
import { createAnswerPrinter } from "./answer-printer.ts";

const turn = { agentId: "main", sessionKey: "agent:main:main", itemId: 1 };
const text = (piece: string): RpcEvent => ({ type: "turn.text", ...turn, text: piece });
const tool = (phase: "start" | "end", isError = false): RpcEvent => ({
  type: "turn.tool",
  ...turn,
  phase,
  id: "1",
  name: "list\u001b[31m_files",
  isError,
});

let out = "";
let talk = "";

beforeEach(() => {
  out = "";
  talk = "";
  vi.spyOn(process.stdout, "write").mockImplementation((piece) => ((out += String(piece)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((piece) => ((talk += String(piece)), true));
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("an answer on a terminal", () => {
  it("is shown as it comes, once", () => {
    const printer = createAnswerPrinter({ interactive: true, sessionId: "aaaaaaaa-1" });
    for (const event of [text("\nI look. "), tool("start"), tool("end", true), text("Two "), text("files.")]) {
      printer.hear(event);
    }
    printer.end({ outcome: "answered", text: "I look.\n\nTwo files.", sessionId: "aaaaaaaa-1" });
    expect(out).toBe("I look. \nTwo files.\n");
    expect(talk).toContain(String.raw`· list\u001b[31m_files`);
    expect(talk).toContain("_files failed");
  });

  it("is shown again where something else counts in the end", () => {
    const printer = createAnswerPrinter({ interactive: true, sessionId: undefined });
    printer.hear(text("[[reply_to:7]] hi \u0007"));
    printer.end({ outcome: "answered", text: "hi there" });
    expect(out).toBe("[[reply_to:7]] hi \\u0007\nhi there\n");
  });

  it("says that a window was changed, and which one stays", () => {
    const printer = createAnswerPrinter({ interactive: true, sessionId: "aaaaaaaa-1" });
    printer.end({ outcome: "command", text: "done", sessionId: "bbbbbbbb-2" });
    printer.end({ outcome: "silent", sessionId: "bbbbbbbb-2" });
    expect(talk.match(/Window bbbbbbbb; the previous one \(aaaaaaaa\) stays/g)).toHaveLength(1);
    expect(talk).toContain("The agent chose not to answer.");
  });

  it("says so after commands that stayed, and not when one has said it", () => {
    const printer = createAnswerPrinter({ interactive: true, sessionId: "aaaaaaaa-1" });
    printer.end({ outcome: "command", text: "This session has a name." });
    printer.end({ outcome: "answered", text: "hello", sessionId: "bbbbbbbb-2" });
    printer.end({ outcome: "command", text: "Back at window aaaaaaaa", sessionId: "aaaaaaaa-1" });
    printer.end({ outcome: "answered", text: "again", sessionId: "aaaaaaaa-1" });
    expect(talk.match(/Window \w+; the previous one/g)).toEqual(["Window bbbbbbbb; the previous one"]);
  });
});

describe("an answer on a pipe", () => {
  it("is printed whole, and notices are talk", () => {
    const printer = createAnswerPrinter({ interactive: false, sessionId: undefined });
    printer.hear(text("he"));
    printer.hear({ type: "turn.notice", ...turn, text: "a fresh session" });
    printer.end({ outcome: "answered", text: "hello" });
    expect(out).toBe("hello\n");
    expect(talk).toBe("a fresh session\n");
  });
});
