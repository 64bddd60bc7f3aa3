import { describe, expect, it } from "vitest";
import { COMMANDS } from "./commands.ts";
import { suggest } from "./complete.ts";

const words = (...line: string[]): string[] => suggest(line, COMMANDS).words.map(({ word }) => word);

describe("suggest", () => {
  it("suggests the first words of commands, each once", () => {
    expect(words("s")).toEqual(["sessions", "search", "status", "selftest"]);
    expect(words("")).toContain("gateway");
    expect(words("cha")).toEqual(["chat", "channels"]);
  });

  it("suggests the second words", () => {
    expect(words("config", "")).toEqual(["get", "list", "set", "unset", "path", "schema", "check"]);
    expect(words("sessions", "re")).toEqual(["reset", "restore"]);
    expect(words("cc", "run", "")).toEqual([]);
  });

  it("suggests the options that are not given yet", () => {
    expect(words("sessions", "--al")).toEqual(["--all-agents"]);
    expect(words("status", "--")).toEqual(["--json", "--all", "--usage", "--deep", "--help"]);
    expect(words("status", "--json", "--")).not.toContain("--json");
    expect(words("sessions", "patch", "work", "--unset", "label", "--un")).toEqual(["--unset"]);
    expect(words("message", "send", "--channel=telegram", "--ch")).toEqual([]);
  });

  it("suggests the choices of an option, also after an equals sign", () => {
    expect(words("message", "send", "--channel", "t")).toEqual(["telegram"]);
    expect(suggest(["message", "send", "--channel=t"], COMMANDS)).toMatchObject({
      words: [{ word: "telegram" }],
      prefix: "--channel=",
    });
    expect(words("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(words("channels", "approve", "w")).toEqual(["whatsapp"]);
  });

  it.each([
    [["history", ""], "session"],
    [["chat", "--session", ""], "session"],
    [["agent", "-m", "hi", "--agent", ""], "agent"],
    [["sessions", "--store", ""], "file"],
    [["cc", "list", "--repo", ""], "folder"],
    [["config", "get", "se"], "config-key"],
    [["agent", "-m", ""], undefined],
    [["history", "work", ""], undefined],
  ] as const)("knows the values of %j", (line, kind) => {
    expect(suggest(line, COMMANDS).values).toBe(kind);
  });

  it("suggests nothing for unknown commands", () => {
    expect(suggest(["nonsense", ""], COMMANDS)).toEqual({ words: [], prefix: "", typed: "" });
  });
});
