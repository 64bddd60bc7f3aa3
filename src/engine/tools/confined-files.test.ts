/** No path, link or race leaves the workspace. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, readdir, rename, stat, symlink, unlink, writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../base/errors.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createConfinedFiles } from "./confined-files.ts";

const SECRET = "the secret";
const MAX = 1_000_000;
const LINKS = ["file-link", "folder-link", "sub-link", "chain", "loop", "dangling", "up"];
const WAYS = ["..", ".", "", "sub", "a.txt", ...LINKS, "secret.txt", "new", "~", "..\\..", "%2e%2e", " ..", "proc"];

describe("reading", () => {
  it("reaches files inside, also through links and absolute paths", async () => {
    await using folder = await fixture();
    const files = createConfinedFiles(folder.join("workspace"));
    for (const path of ["a.txt", "./sub/../a.txt", "inner-link", "sub-link/../a.txt", folder.join("workspace/a.txt")]) {
      await using handle = await files.openFile(path);
      expect((await handle.readFile()).toString()).toBe("inside");
    }
    expect((await files.listFolder("sub-link")).map(({ name }) => name)).toEqual(["b.txt"]);
  });

  it.each([
    "../secret.txt",
    "sub/../../secret.txt",
    "/etc/passwd",
    "file-link",
    "folder-link/secret.txt",
    "sub/folder-link/secret.txt",
    "chain",
    "a.txt\0",
    "..",
    "",
    ".",
    "a.txt/x",
    "loop",
    "dangling",
  ])("does not open %j", async (path) => {
    await using folder = await fixture();
    const files = createConfinedFiles(folder.join("workspace"));
    await expect(files.openFile(path)).rejects.toBeInstanceOf(HoldfastError);
  });

  it.runIf(process.platform !== "win32")("does not wait for a pipe or read a device", async () => {
    await using folder = await fixture();
    execFileSync("mkfifo", [folder.join("workspace/pipe")]);
    await symlink("/dev/zero", folder.join("workspace/zero"));
    const files = createConfinedFiles(folder.join("workspace"));
    await expect(files.openFile("pipe")).rejects.toMatchObject({ code: "not-a-file" });
    await expect(files.writeFile("pipe", "x")).rejects.toMatchObject({ code: "not-a-file" });
    await expect(files.appendFile("pipe", "x", MAX)).rejects.toMatchObject({ code: "not-a-file" });
    await expect(files.openFile("zero")).rejects.toMatchObject({ code: "path-outside-workspace" });
  });

  it("reveals no absolute path", async () => {
    await using folder = await fixture();
    const error = await createConfinedFiles(folder.join("workspace"))
      .openFile("nothing.txt")
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "not-found", code: "file-missing" });
    expect(String(error)).not.toContain(folder.path);
  });
});

describe("writing", () => {
  it("creates folders, replaces files, keeps the mode, and appends on a new line", async () => {
    await using folder = await fixture();
    const files = createConfinedFiles(folder.join("workspace"));
    expect(await files.writeFile("x/y/z.txt", "one")).toEqual({ created: true });
    await chmod(folder.join("workspace/x/y/z.txt"), 0o755);
    expect(await files.writeFile("x/y/z.txt", "two")).toEqual({ created: false });
    expect((await stat(folder.join("workspace/x/y/z.txt"))).mode & 0o777).toBe(0o755);
    expect(await files.appendFile("x/y/z.txt", "three\n", MAX)).toEqual({ created: false });
    expect(await files.appendFile("sub-link/new.md", "four\n", MAX)).toEqual({ created: true });
    expect(await readFile(folder.join("workspace/x/y/z.txt"), "utf8")).toBe("two\nthree\n");
    expect(await readFile(folder.join("workspace/sub/new.md"), "utf8")).toBe("four\n");
    await expect(files.appendFile("x/y/z.txt", "x".repeat(100), 50)).rejects.toMatchObject({ code: "file-too-large" });
  });

  it.each(["file-link", "folder-link/new.txt", "dangling", "../new.txt", "", "sub", "a.txt/new.txt", "chain", "loop"])(
    "refuses %j and changes nothing",
    async (path) => {
      await using folder = await fixture();
      const files = createConfinedFiles(folder.join("workspace"));
      await expect(files.writeFile(path, "evil")).rejects.toBeInstanceOf(HoldfastError);
      await expect(files.appendFile(path, "evil", MAX)).rejects.toBeInstanceOf(HoldfastError);
      await untouched(folder);
    },
  );

  it("loses nothing in parallel appends", async () => {
    await using folder = await fixture();
    const files = createConfinedFiles(folder.join("workspace"));
    const others = createConfinedFiles(folder.join("workspace"));
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    await Promise.all(
      lines.map(async (line, index) => {
        await (index % 2 === 0 ? files : others).appendFile("memory/day.md", `${line}\n`, MAX);
      }),
    );
    const written = (await readFile(folder.join("workspace/memory/day.md"), "utf8")).trim().split("\n");
    expect(written.sort()).toEqual(lines.sort());
  });
});

it("never leaves the folder, for any path", async () => {
  await using folder = await fixture();
  const files = createConfinedFiles(folder.join("workspace"));
  const part = fc.constantFrom(...WAYS, folder.path, folder.join("outside"));
  const path = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join("/"));
  await fc.assert(
    fc.asyncProperty(path, fc.constantFrom("read", "write", "append", "list"), async (said, action) => {
      const done = await attempt(files, said, action).catch((error: unknown) => {
        if (!(error instanceof HoldfastError)) throw error;
        return "";
      });
      expect(done).not.toContain(SECRET);
      await untouched(folder);
    }),
    { numRuns: 400 },
  );
});

it("withstands a folder that is replaced by a link", async () => {
  await using folder = await fixture();
  const files = createConfinedFiles(folder.join("workspace"));
  const place = folder.join("workspace/place");
  await mkdir(place);
  await writeFile(folder.join("workspace/place/secret.txt"), "inside");
  const stop = new AbortController();
  const swapping = (async () => {
    for (let round = 0; !stop.signal.aborted; round++) {
      // A step fails if a write has just recreated the folder; the next round starts with that folder.
      await rename(place, folder.join(`workspace/away-${round}`)).catch(() => undefined);
      await symlink(folder.join("outside"), place).catch(() => undefined);
      await unlink(place).catch(() => undefined);
      await rename(folder.join(`workspace/away-${round}`), place).catch(() => undefined);
    }
  })();
  for (let round = 0; round < 300; round++) {
    const read = await attempt(files, "place/secret.txt", "read").catch(String);
    expect(read).not.toContain(SECRET);
    await attempt(files, `place/new-${round}.txt`, "write").catch(String);
    await attempt(files, "place/secret.txt", "append").catch(String);
  }
  stop.abort();
  await swapping;
  await untouched(folder);
});

async function attempt(files: ReturnType<typeof createConfinedFiles>, said: string, action: string): Promise<string> {
  if (action === "write") await files.writeFile(said, "evil");
  if (action === "append") await files.appendFile(said, "evil", MAX);
  if (action === "list") return (await files.listFolder(said)).map(({ name }) => name).join(" ");
  if (action !== "read") return "";
  await using handle = await files.openFile(said);
  return (await handle.readFile()).toString();
}

/** A workspace with ways out of it, and a folder outside that must stay as it is. */
async function fixture(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  const inside = (name: string): string => folder.join("workspace", name);
  await mkdir(inside("sub"), { recursive: true });
  await mkdir(folder.join("outside"));
  await writeFile(folder.join("secret.txt"), SECRET);
  await writeFile(folder.join("outside/secret.txt"), SECRET);
  await writeFile(inside("a.txt"), "inside");
  await writeFile(inside("sub/b.txt"), "below");
  await symlink("a.txt", inside("inner-link"));
  await symlink("sub", inside("sub-link"));
  await symlink("../secret.txt", inside("file-link"));
  await symlink(folder.join("outside"), inside("folder-link"));
  await symlink("file-link", inside("chain"));
  await symlink("loop", inside("loop"));
  await symlink("../not-there.txt", inside("dangling"));
  await symlink("..", inside("up"));
  return folder;
}

async function untouched(folder: TemporaryFolder): Promise<void> {
  expect((await readdir(folder.path)).sort()).toEqual(["outside", "secret.txt", "workspace"]);
  expect(await readdir(folder.join("outside"))).toEqual(["secret.txt"]);
  expect(await readFile(folder.join("secret.txt"), "utf8")).toBe(SECRET);
  expect(await readFile(folder.join("outside/secret.txt"), "utf8")).toBe(SECRET);
}
