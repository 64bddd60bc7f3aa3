/** Paths and commands that the documentation names exist. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { optionName } from "../../src/cli/command.ts";
import * as holdfast from "../../src/index.ts";
import * as claude from "../../src/library/claude.ts";
import * as openclaw from "../../src/library/openclaw.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

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
