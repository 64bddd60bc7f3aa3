import * as fc from "fast-check";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { type Entries, hasEntries, placesThere, withEntries, withoutEntries } from "./settings-file.ts";
import { CLAUDE_HOOK_EVENTS, type ClaudeHookEvent, type HookEntry, hookEntry, isOurCommand } from "./hook-call.ts";

const ENTRIES = entriesFor(undefined);
const OTHER = { type: "command", command: "echo hi" };

/** Each with its difficulty. */
const SETTINGS: Record<string, string> = {
  empty: "{}",
  "empty over two lines": "{\n}\n",
  "only a comment": "{\n  // nothing yet\n}\n",
  "other keys": `${JSON.stringify({ model: "opus", env: { A: "b" }, permissions: { allow: ["Bash(ls:*)"] } }, undefined, 2)}\n`,
  "four spaces": `${JSON.stringify({ a: { b: [1, 2] } }, undefined, 4)}\n`,
  tabs: `${JSON.stringify({ a: 1, hooks: { Stop: [{ hooks: [OTHER] }] } }, undefined, "\t")}\n`,
  "CRLF and no last line end": '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}',
  "on one line": '{"a":1,"hooks":{"Stop":[{"hooks":[]}]}}',
  "on one line with spaces": '{ "a": [1, 2], "hooks": { "Notification": [ { "hooks": [] } ] } }',
  comments:
    '// mine\n{\n  /* first */ "a": 1, // one\n  "hooks": { // all hooks\n    "Stop": [\n      { "hooks": [] } // the last\n    ] // end\n  } /* done */\n}\n// bye',
  "trailing commas":
    '{\n  "a": [1, 2,],\n  "hooks": {\n    "SessionStart": [\n      { "matcher": "x", "hooks": [], },\n    ],\n  },\n}\n',
  "a line comment at the end of a list": '{"hooks": {"Stop": [{"hooks": []} // no\n]}}',
  "an address and marks in words":
    '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say a: b, c"}]},{"hooks":[{"type":"command","command":"curl http://localhost"}]}]}}',
  "an emoji before":
    '{\n  "statusLine": "🚀🚀🚀",\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": []\n      }\n    ]\n  }\n}\n',
  "single quotes and bare names": "{ a: 'it\\'s', hooks: { Stop: [], }, }",
  "the same name twice": '{"hooks": {"Stop": 1}, "hooks": {"PreCompact": []}}',
  "empty hooks": '{\n  "hooks": {}\n}\n',
};

describe("our entries in a settings.json", () => {
  it.each(Object.entries(SETTINGS))("are added and removed without a trace: %s", (_, text) => {
    const after = withEntries(text, ENTRIES);
    expect(ownIn(after)).toEqual(CLAUDE_HOOK_EVENTS.map((event) => [event, ENTRIES[event]]));
    expect(withEntries(after, ENTRIES)).toBe(after);
    expect(isWithin(text.replace(/\{\s*\}/g, ""), after)).toBe(true);
    const back = withoutEntries(after, placesThere(text));
    expect(back.replace(/\{\s+\}/g, "{}")).toBe(text.replace(/\{\s+\}/g, "{}"));
    expect(JSON5.parse(back)).toEqual(JSON5.parse(text));
  });

  it("keep strict JSON strict", () => {
    for (const text of Object.values(SETTINGS).filter(isStrict))
      expect(isStrict(withEntries(text, ENTRIES))).toBe(true);
  });

  it("create a new file if there was none", () => {
    expect(JSON.parse(withEntries(" \n", ENTRIES))).toEqual(JSON.parse(withEntries("{}", ENTRIES)));
  });

  it("of another installation are updated in place and keep a changed timeout", () => {
    const old = "node /old/place/bin/holdfast.js hook Stop";
    const text = `{ "hooks": { "Stop": [ { "matcher": "*", "hooks": [ { "type": "command", "command": "${old}", "timeout": 60 /* mine */ }, ${JSON.stringify(OTHER)} ] } ] } }`;
    const after = withEntries(text, ENTRIES);
    expect(after).toContain(text.slice(text.indexOf(', "timeout": 60'), text.indexOf(" ] } ] }")));
    const parsed = JSON5.parse<{ hooks: { Stop: unknown } }>(after);
    expect(parsed.hooks.Stop).toEqual([{ matcher: "*", hooks: [{ ...ENTRIES.Stop, timeout: 60 }, OTHER] }]);
    // A foreign group stays, even if it becomes empty.
    expect(JSON5.parse(withoutEntries(after, { hooks: true, events: [] }))).toEqual({
      hooks: { Stop: [{ matcher: "*", hooks: [OTHER] }] },
    });
  });

  it("are merged into one", () => {
    const twice = withEntries("{}", ENTRIES).replace(
      /"Stop": ?\[/,
      `"Stop": [ {"hooks": [${JSON.stringify(ENTRIES.Stop)}]}, `,
    );
    expect(ownIn(twice)).toHaveLength(CLAUDE_HOOK_EVENTS.length + 1);
    expect(ownIn(withEntries(twice, ENTRIES))).toHaveLength(CLAUDE_HOOK_EVENTS.length);
  });

  it.each(["{", '{"a": }', "[]", "3", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"a": "\n"}'])(
    "are refused by %s",
    (text) => {
      expect(() => withEntries(text, ENTRIES)).toThrow(expect.objectContaining({ name: "SettingsProblem" }) as Error);
    },
  );

  it("do not reveal the content of a broken file", () => {
    expect(() => withEntries('{"env": {"KEY": sk-secret}}', ENTRIES)).toThrow(
      /^it is not valid JSON \(line 1, column \d+\)$/,
    );
  });

  it("leave all other settings unchanged", () => {
    const groups = fc.array(
      fc.record(
        { matcher: fc.string(), hooks: fc.array(fc.record({ type: fc.string(), command: fc.string() })) },
        { requiredKeys: ["hooks"] },
      ),
      { maxLength: 3 },
    );
    const hooks = fc.dictionary(fc.constantFrom(...CLAUDE_HOOK_EVENTS, "Notification", "🚀"), groups);
    const settings = fc.record(
      {
        "🚀": fc.string({ unit: "grapheme" }),
        permissions: fc.jsonValue(),
        hooks,
        env: fc.dictionary(fc.string(), fc.string()),
      },
      { requiredKeys: [] },
    );
    const layout = fc.record({
      unit: fc.constantFrom("", " ", "  ", "\t", "    "),
      lineEnd: fc.constantFrom("\n", "\r\n"),
    });
    fc.assert(
      fc.property(settings, layout, (value, { unit, lineEnd }) => {
        const text = JSON.stringify(value, undefined, unit).replaceAll("\n", lineEnd);
        const after = withEntries(text, ENTRIES);
        expect(ownIn(after)).toHaveLength(CLAUDE_HOOK_EVENTS.length);
        expect(withoutEntries(after, placesThere(text))).toBe(text);
      }),
      { numRuns: 100 },
    );
  });
});

describe("a hook's command", () => {
  it("has absolute paths, quoted for a shell, and the home folder", () => {
    const { command } = hookEntry("SessionStart", { home: "/it's mine" });
    expect(command).toMatch(
      /^HOLDFAST_HOME='\/it'\\''s mine' \S*\/node\S* \S*\/bin\/holdfast\.js hook SessionStart \|\| true$/,
    );
    expect(isOurCommand(command)).toBe(true);
  });

  it.each([
    ["holdfast hook Stop", true],
    ["'/a b/holdfast' hook Stop", true],
    ['"/opt/holdfast.js" hook SessionEnd', true],
    ["echo holdfast hooks", false],
    ["my-holdfast hook Stop", false],
    ["holdfast hooks list", false],
    ["HOLDFAST_HOME='/it'\\''s' '/a b/node' '/a b/bin/holdfast.js' hook Stop || true", true],
    ["echo holdfast hook Stop >> calls.log", false],
    ["notify-send 'holdfast hook Stop'", false],
    ["cd /tmp && holdfast hook Stop", false],
    ["holdfast hook Stop | tee -a calls.log", false],
    ["echo holdfast hook Stop", false],
    [`${"a".repeat(500)} hook`, false],
    [3, false],
  ])("%s is ours: %s", (command, ours) => {
    expect(isOurCommand(command)).toBe(ours);
  });
});

function entriesFor(home: string | undefined): Entries {
  return Object.fromEntries(CLAUDE_HOOK_EVENTS.map((event) => [event, hookEntry(event, { home })])) as Entries;
}

function ownIn(text: string): [ClaudeHookEvent, HookEntry][] {
  expect(hasEntries(text)).toBe(true);
  const { hooks } = JSON5.parse<{ hooks: Record<ClaudeHookEvent, { hooks: HookEntry[] }[]> }>(text);
  return CLAUDE_HOOK_EVENTS.flatMap((event) =>
    hooks[event].flatMap((group) =>
      group.hooks
        .filter(({ command }) => isOurCommand(command))
        .map((entry): [ClaudeHookEvent, HookEntry] => [event, entry]),
    ),
  );
}

/** Every character of `part` is in `whole`, in the same order. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const character of part) {
    at = whole.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

function isStrict(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
