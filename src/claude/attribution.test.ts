import { describe, expect, it } from "vitest";
import { markTask, readMarker, sessionOrigin } from "./attribution.ts";

describe("the marker", () => {
  it("is read from the raw first message", () => {
    const text = markTask("kyo_2-b", "Fix it.\n\n[openclaw:agent=other]\nand that");
    expect(text.split("\n")[0]).toBe("[openclaw:agent=kyo_2-b]");
    expect(readMarker(text)).toEqual({ agentId: "kyo_2-b", text: "Fix it.\n\n[openclaw:agent=other]\nand that" });
    expect(readMarker("[openclaw:agent=main]\r\n\r\ntask")).toEqual({ agentId: "main", text: "task" });
    expect(readMarker("[openclaw:agent=main]")).toEqual({ agentId: "main", text: "" });
  });

  it.each(["", "a]b", "a\nb", "Main", "-a", "a b", "../x", "a".repeat(65), "ä", "a,channel=x"])(
    "cannot be broken by an agent id: %j is refused",
    (agentId) => {
      expect(() => markTask(agentId, "task")).toThrow(expect.objectContaining({ code: "invalid-agent-id" }));
    },
  );

  it.each([
    "hello [openclaw:agent=main]",
    "hello\n[openclaw:agent=main]\n",
    " [openclaw:agent=main]\n",
    "\n[openclaw:agent=main]\n",
    "[openclaw:agent=main] do this",
    "[openclaw:agent=main][openclaw:agent=kyo]\n",
    "[openclaw:agent=MAIN]\n",
    "[openclaw:agent=]\n",
    "\u001b[0m[openclaw:agent=main]\n",
    "[openclaw:agent=ma\u202ein]\n",
    "[openclaw:agent=main",
  ])("is ignored in other places or forms: %j", (text) => {
    expect(readMarker(text)).toEqual({ text });
  });
});

describe("sessionOrigin", () => {
  it("distinguishes the asking agent from others, whatever the entrypoint", () => {
    expect(sessionOrigin({ agentId: "kyo", askingAgent: "kyo", entrypoint: "cli" })).toBe("this-agent");
    expect(sessionOrigin({ agentId: "kyo", askingAgent: "main", entrypoint: "holdfast" })).toBe("other-agent");
    expect(sessionOrigin({ agentId: "kyo" })).toBe("other-agent");
  });

  it.each([
    ["cli", "cli"],
    ["sdk-cli", "sdk"],
    ["sdk-ts", "sdk"],
    ["sdk-py", "sdk"],
    ["claude-vscode", "vscode"],
    ["claude-desktop", "desktop"],
    ["claude-code-github-action", "github-action"],
    ["mcp", "other"],
    ["remote", "other"],
    ["holdfast", "other-agent"],
    ["constructor", "other"],
    [undefined, "other"],
  ])("knows the entrypoint %s", (entrypoint, origin) => {
    expect(sessionOrigin({ askingAgent: "main", entrypoint })).toBe(origin);
  });
});
