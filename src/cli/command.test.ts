import { describe, expect, it } from "vitest";
import { defineCommand } from "./command.ts";
import { commandHelp } from "./help.ts";

async function parse(...line: string[]) {
  let seen: unknown;
  const command = defineCommand({
    name: "send",
    arguments: ["[more...]"],
    summary: "send something",
    options: {
      target: { type: "text", short: "t", value: "whom", description: "to whom" },
      media: { type: "list", description: "files" },
      json: { type: "flag", description: "print JSON" },
    },
    run: async (given, options) => {
      seen = { given, ...options };
      await Promise.resolve();
    },
  });
  await command.run(line);
  return { seen, help: commandHelp("send", [command]) };
}

describe("options", () => {
  it("have short forms, which the help shows", async () => {
    const { seen, help } = await parse("-t", "me", "x");
    expect(seen).toEqual({ given: ["x"], target: "me" });
    expect(help).toContain("-t, --target <whom>");
  });

  it("take numbers below zero, which name groups on Telegram", async () => {
    expect((await parse("-t", "-100123")).seen).toEqual({ given: [], target: "-100123" });
    expect((await parse("--target", "-100123", "--json")).seen).toEqual({ given: [], target: "-100123", json: true });
    expect((await parse("--media", "-1", "--media", "b")).seen).toEqual({ given: [], media: ["-1", "b"] });
    expect((await parse("--", "--target", "-1")).seen).toEqual({ given: ["--target", "-1"] });
  });

  it("are not mistaken for values", async () => {
    await expect(parse("-t", "--json")).rejects.toThrow(/has no value/);
    await expect(parse("--json", "-1")).rejects.toThrow(/unknown option '-1'/);
  });
});
