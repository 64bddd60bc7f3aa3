/** Paths and commands that the documentation names exist. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import * as holdfast from "../../src/index.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", "CONTRIBUTING.md", ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith(".md"),
);

it.each(pages)("%s names only files that exist", (page) => {
  const text = readFileSync(`${root}${page}`, "utf8");
  const paths = [...text.matchAll(/`((?:src|test|docs|bench|examples|scripts|bin)\/[\w./-]+)`/g)].map(
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
  for (const name of Object.keys(holdfast)) expect(text, name).toContain(name);
});

it("docs/cli.md names every command", () => {
  const text = readFileSync(`${root}docs/cli.md`, "utf8");
  for (const { name } of COMMANDS) {
    const [group = "", sub] = name.split(" ");
    expect(text, name).toContain(`## holdfast ${group}`);
    expect(text, name).toContain(sub ?? group);
  }
});
