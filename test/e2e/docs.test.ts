/** Paths and commands that the documentation names exist. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { optionName } from "../../src/cli/command.ts";
import * as holdfast from "../../src/index.ts";
import * as claude from "../../src/library/claude.ts";
import * as openclaw from "../../src/library/openclaw.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { isRecord } from "../../src/base/json-record.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { type JsonSchema, jsonSchema } from "../../src/config/schema.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", "CONTRIBUTING.md", ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith(".md"),
);

it.each(pages)("%s names only files that exist", (page) => {
  const text = readFileSync(`${root}${page}`, "utf8");
  const paths = [...text.matchAll(/`((?:src|web|test|docs|data|bench|examples|scripts|bin)\/[\w./-]+)`/g)].map(
    ([, path]) => path,
  );
  const links = [...text.matchAll(/\]\(([\w./-]+\.md)\)/g)].map(([, link]) =>
    page.startsWith("docs/") ? `docs/${link}` : link,
  );
  for (const path of [...paths, ...links]) expect(existsSync(`${root}${path}`), `${page}: ${path}`).toBe(true);
  expect(text.length).toBeGreaterThan(100);
});

it("docs/architecture.md names only functions and constants that exist", () => {
  const text = readFileSync(`${root}docs/architecture.md`, "utf8");
  const named = [...text.matchAll(/`(\w+)` in `([\w./-]+\.ts)`/g)];
  expect(named.length).toBeGreaterThan(10);
  for (const [, name = "", path = ""] of named) {
    expect(readFileSync(`${root}${path}`, "utf8"), path).toMatch(new RegExp(`(?:function|const) ${name}\\b`));
  }
});

it.each(pages)("%s links only to headings that exist", (page) => {
  const text = readFileSync(`${root}${page}`, "utf8");
  const links = [...text.matchAll(/\]\(([\w./-]+\.md)?#([\w-]+)\)/g)];
  for (const [link, file, anchor] of links) {
    const target = file === undefined ? page : page.startsWith("docs/") ? `docs/${file}` : file;
    const headings = [...readFileSync(`${root}${target}`, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
    expect(headings, link).toContain(anchor);
  }
});

it("docs/library.md names every exported function", () => {
  const text = readFileSync(`${root}docs/library.md`, "utf8");
  for (const name of Object.keys({ ...holdfast, ...openclaw, ...claude })) expect(text, name).toContain(name);
});

it("docs/cli.md names every command", () => {
  const text = readFileSync(`${root}docs/cli.md`, "utf8");
  for (const { name } of COMMANDS) {
    const [group = "", sub] = name.split(" ");
    expect(text, name).toContain(`## holdfast ${group}`);
    expect(text, name).toContain(sub ?? group);
  }
});

it("docs/cli.md names every option of a command", () => {
  const text = readFileSync(`${root}docs/cli.md`, "utf8");
  const [common = ""] = text.split("\n## holdfast ");
  const missing = COMMANDS.flatMap(({ name, options }) => {
    const [, section = ""] = text.split(`\n## holdfast ${name.split(" ")[0]}\n`);
    const described = `${common}${section.split("\n## ")[0]}`;
    const names = Object.keys(options).map((option) => `--${optionName(option)}`);
    return names
      .filter((option) => !new RegExp(`${option}(?![\\w-])`).test(described))
      .map((each) => `${name} ${each}`);
  });
  expect(missing).toEqual([]);
});

it("docs/configuration.md names every setting with its default", () => {
  const text = readFileSync(`${root}docs/configuration.md`, "utf8");
  const settings = settingsOf(jsonSchema());
  expect(settings.length).toBeGreaterThan(100);
  expect(settings.filter((path) => !namePattern(path).test(text))).toEqual([]);
  const rows = [...text.matchAll(/^\| `([^`]+)` +\| ([^|]*) \|/gm)];
  const wrong = rows.filter(([, path = "", shown = ""]) => {
    const names = path.split(".");
    const value = names.reduce<unknown>((node, name) => (isRecord(node) ? node[name] : undefined), DEFAULT_CONFIG);
    if (typeof value === "string") return shown.trim() !== `\`${value}\``;
    return (typeof value === "number" || typeof value === "boolean") && shown.trim() !== `\`${value}\``;
  });
  expect(wrong.map(([row]) => row)).toEqual([]);
});

/** Dotted paths of all settings; members of a record have the name `*`. */
function settingsOf({ properties, additionalProperties }: JsonSchema, path = ""): string[] {
  const below = Object.entries({
    ...properties,
    ...(typeof additionalProperties === "object" ? { "*": additionalProperties } : {}),
  });
  if (below.length === 0) return [path];
  return below.flatMap(([name, schema]) => settingsOf(schema, path === "" ? name : `${path}.${name}`));
}

/** Settings that repeat those of another section are named once, and so is the section of several in one row. */
function namePattern(path: string): RegExp {
  const [, scoring] = /\.scoring\.(?:\w+\.)*(\w+)$/.exec(path) ?? [];
  if (scoring !== undefined) return new RegExp(`\\b${scoring}: `);
  const named = path
    .replace(/^agents\.\*\.claudeCode\b.*/, "agents.*.claudeCode")
    .replace(/^(session\.resetBy\w+|session\.identityLinks)\b.*/, "$1")
    .replace(/^channels\.\w+/, "channels.*");
  const [, section = "", last = ""] = /^(?:(.*)\.)?([^.]+)$/.exec(named) ?? [];
  const [whole, within] = [named, section].map((each) =>
    each.replaceAll(/[.$]/g, String.raw`\$&`).replaceAll("*", "<[^>]+>"),
  );
  return new RegExp(`\`${whole}\`|\`${within}\\.\\w+\`.*\`\\.${last}\``);
}

it("hints name only commands and options that exist", () => {
  const names = COMMANDS.map(({ name }) => name);
  const options = new Set(COMMANDS.flatMap((command) => Object.keys(command.options).map((name) => optionName(name))));
  const files = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" });
  let hints = 0;
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    for (const [, hint = ""] of readFileSync(`${root}src/${file}`, "utf8").matchAll(/\bhint(?:s|:| =)(.*(?:\n.*)?)/g)) {
      hints += 1;
      for (const [, option = ""] of hint.matchAll(/(?<![\w-]|claude )--([a-z][a-z-]+)/g)) {
        expect([...options, "help"], `${file}: ${hint}`).toContain(option);
      }
      for (const [, first = "", second = ""] of hint.matchAll(/`holdfast ([a-z]+)(?: ([a-z][a-z-]*))?/g)) {
        const isGroup = names.some((name) => name.startsWith(`${first} `));
        const isKnown =
          isGroup && second !== "" ? names.includes(`${first} ${second}`) : isGroup || names.includes(first);
        expect(isKnown || first === "help", `${file}: holdfast ${first} ${second}`).toBe(true);
      }
    }
  }
  expect(hints).toBeGreaterThan(100);
});
