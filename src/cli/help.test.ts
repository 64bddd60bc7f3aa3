import { describe, expect, it } from "vitest";
import { COMMANDS } from "./commands.ts";
import { commandHelp, programHelp } from "./help.ts";

const NORMAL_WIDTH = 80;

describe("help", () => {
  it("shows every command in groups, with three examples, in 80 columns and on one screen", () => {
    const lines = programHelp().split("\n");
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(NORMAL_WIDTH);
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.filter((line) => /^[A-Z][\w ]*$/.test(line)).length).toBeGreaterThanOrEqual(4);
    expect(lines.filter((line) => line.startsWith("  holdfast "))).toHaveLength(3);
    const named = lines.flatMap((line) => /^ {2}(.+?) {2}/.exec(line)?.[1]?.split(/[ ,]+/) ?? []);
    // `hook` is called by Claude Code, not by people.
    const words = new Set(COMMANDS.map(({ name }) => name.split(" ")[0] ?? "").filter((word) => word !== "hook"));
    expect(named).toEqual(expect.arrayContaining([...words]));
  });

  it("fits 80 columns for every command", () => {
    const groups = COMMANDS.map(({ name }) => name.split(" ")[0] ?? "");
    for (const name of new Set([...groups, ...COMMANDS.map((command) => command.name)])) {
      for (const line of commandHelp(name, COMMANDS).split("\n")) {
        expect(line.length, `${name}: ${line}`).toBeLessThanOrEqual(NORMAL_WIDTH);
      }
    }
  });

  it("gives examples that are valid commands", () => {
    const texts = [
      programHelp(),
      ...new Set(COMMANDS.map(({ name }) => commandHelp(name.split(" ")[0] ?? "", COMMANDS))),
    ];
    const examples = texts.flatMap((text) => [...text.matchAll(/^ {2}(?:echo hello \| )?holdfast (.+)$/gm)]);
    expect(examples.length).toBeGreaterThan(20);
    for (const [, line = ""] of examples) {
      const [first = "", second = ""] = line.split(" ");
      const command =
        COMMANDS.find(({ name }) => name === `${first} ${second}`) ?? COMMANDS.find(({ name }) => name === first);
      expect(command, line).toBeDefined();
      for (const [, option = ""] of line.matchAll(/ --([a-z-]+)/g)) {
        const known = Object.keys(command?.options ?? {}).map((name) =>
          name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`),
        );
        expect(known, line).toContain(option);
      }
    }
  });
});
