/** The package from `npm pack` is complete, and works with only its dependencies installed. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

let consumer: TemporaryFolder;
let unpacked: string;

beforeAll(async () => {
  consumer = await temporaryFolder();
  unpacked = consumer.join("node_modules", "holdfast");
  mkdirSync(unpacked, { recursive: true });
  const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", consumer.path];
  execFileSync("npm", pack, { cwd: root, env: { ...process.env, npm_config_cache: consumer.join("cache") } });
  const tarball = readdirSync(consumer.path).find((name) => name.endsWith(".tgz")) ?? "";
  execFileSync("tar", ["xzf", consumer.join(tarball), "-C", unpacked, "--strip-components=1"]);
});

afterAll(async () => await consumer[Symbol.asyncDispose]());

describe("the packed files", () => {
  it("include everything that the documentation links to", () => {
    const pages = filesIn(unpacked).filter((path) => path.endsWith(".md"));
    expect(pages.length).toBeGreaterThan(20);
    const missing = pages.flatMap((page) =>
      linksOf(readFileSync(page, "utf8"))
        .filter((link) => !existsSync(join(dirname(page), link)))
        .map((link) => `${relative(unpacked, page)}: ${link}`),
    );
    expect(missing).toEqual([]);
  });

  it("include the examples, skills, hooks and data that the documentation names", () => {
    const pages = [join(unpacked, "README.md"), ...filesIn(join(unpacked, "docs"))];
    const named = pages.flatMap((page) =>
      Array.from(
        readFileSync(page, "utf8").matchAll(/(?<![\w./~-])((?:bin|data|docs|examples|hooks|skills)\/[\w./-]*\w)/g),
        ([, path = ""]) => path,
      ),
    );
    const ofRepo = new Set(named.filter((path) => existsSync(join(root, path))));
    expect(ofRepo).toContain("examples/selection-cases.jsonl");
    expect([...ofRepo].filter((path) => !existsSync(join(unpacked, path)))).toEqual([]);
    for (const folder of ["skills", "examples", "hooks"]) {
      expect(filesIn(join(unpacked, folder)).length).toBe(filesIn(join(root, folder)).length);
    }
  });
});

describe("a program in strict TypeScript", () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };

  beforeAll(() => {
    // The packages that `npm install holdfast` installs: neither Baileys nor development dependencies.
    for (const name of [...Object.keys(dependencies), "@types/node"]) {
      const link = consumer.join("node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, "node_modules", name), link);
    }
    writeFileSync(consumer.join("package.json"), JSON.stringify({ type: "module" }));
  });

  it("compiles against the types of the package with every check", () => {
    writeFileSync(
      consumer.join("program.ts"),
      `import * as h from "holdfast";
export const key: string = h.normalizeAgentId("Main");
export const open: () => Promise<h.OpenedGateway> = h.openHoldfastGateway;
`,
    );
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      module: "nodenext",
      target: "es2024",
      types: ["node"],
      noEmit: true,
    };
    writeFileSync(consumer.join("tsconfig.json"), JSON.stringify({ compilerOptions, include: ["program.ts"] }));
    expect(compile()).toBe("");
  });

  function compile(): string {
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    try {
      return execFileSync(process.execPath, [compiler, "-p", consumer.path], { encoding: "utf8" });
    } catch (error) {
      return String((error as { stdout?: unknown }).stdout ?? error);
    }
  }
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.slice(folder.length).includes("node_modules"))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Relative links, without their fragments. */
function linksOf(text: string): string[] {
  return Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link.replace(/#.*$/, "")).filter(
    (link) => link !== "" && !/^[a-z]+:/i.test(link),
  );
}
