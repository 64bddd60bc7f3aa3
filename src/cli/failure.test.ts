import { describe, expect, it } from "vitest";
import { COMMANDS } from "./commands.ts";
import { unknownCommand } from "./help.ts";

const hint = (...args: string[]): string => unknownCommand(args, COMMANDS).hint ?? "";

/** Each letter dropped, doubled, replaced or swapped with the next one. */
function mistypedForms(word: string): string[] {
  return word.split("").flatMap((letter, index) => {
    const [before, after] = [word.slice(0, index), word.slice(index + 1)];
    const [next = "", rest] = [after[0], after.slice(1)];
    return [before + after, before + letter + letter + after, `${before}q${after}`, before + next + letter + rest];
  });
}

describe("unknownCommand", () => {
  it("never suggests a command that changes something, however it is mistyped", () => {
    const names = new Set(COMMANDS.map(({ name }) => name));
    const changing = COMMANDS.filter(({ onlyReads }) => !onlyReads).map(({ name }) => name);
    for (const name of COMMANDS.map((command) => command.name)) {
      const [first = "", second] = name.split(" ");
      for (const form of mistypedForms(second ?? first)) {
        const line = second === undefined ? [form] : [first, form];
        if (names.has(line.join(" ")) || line.join(" ").trim() !== line.join(" ")) continue;
        const [, suggested = ""] = /Did you mean ([^?]*)\?/.exec(hint(...line)) ?? [];
        for (const each of suggested.split(/, | or /))
          expect(changing, `${line.join(" ")}: ${each}`).not.toContain(each);
      }
    }
  });

  it.each([
    [["sesions"], "Did you mean sessions?"],
    [["sessions", "lst"], "Did you mean sessions list?"],
    [["list"], "Did you mean sessions list, agents list or cc list?"],
    [["log"], "Did you mean gateway logs?"],
    [["stop"], "See `holdfast gateway --help`."],
    [["delete", "work"], "See `holdfast sessions --help`."],
    [["chta"], "`holdfast help chat` explains `chat`."],
    [["sessions", "garden"], "To show one: `holdfast sessions show garden`."],
    [["sessions", "delte", "x"], "`holdfast sessions --help` shows its commands."],
    [["--json", "sessions"], "Options follow the command: holdfast sessions --json"],
    [["--verbose"], "`holdfast help` shows all commands."],
    [["ls"], "Did you mean sessions list, agents list or cc list?"],
    [["cc", "ls"], "Did you mean cc list?"],
  ])("gives a hint after %j", (line, expected) => {
    expect(hint(...line)).toContain(expected);
    expect(hint(...line)).not.toMatch(/sessions delete|sessions reset|cc kill/);
  });
});
