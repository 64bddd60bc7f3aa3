import { chmod, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { HoldfastError, reportError } from "../../src/base/errors.ts";
import { silentLogger } from "../../src/base/log.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { resetSession } from "../../src/session/window.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { STORE_KINDS } from "../support/agent-home.ts";
import { REPO, SESSION, createSearchHome, prompt } from "../support/search-home.ts";
import { createTestClock } from "../support/time.ts";
import { openWorkload } from "./workload.ts";
import { openAgent } from "../../src/compose/agent.ts";

const NOBODY = 65_534;

describe.each(STORE_KINDS)("a home that cannot be written (%s)", (kind) => {
  test("read-only folders: every write fails with a clear error, and no file changes", async () => {
    await using folder = await temporaryFolder();
    const choice = { seed: "read-only" };
    {
      await using work = await openWorkload({ home: folder.path, kind, choice, clock: createTestClock() });
      for (let count = 0; count < 20; count++) await work.next();
    }
    const layout = agentLayout(folder.path, "main");
    const before = await contentsOf(folder.path);
    await setModes(folder.path, { folders: 0o555, files: 0o444 });

    const refusal = await withoutPrivileges(async () => await tryToWrite(folder.path, kind));

    await setModes(folder.path, { folders: 0o700, files: 0o600 });
    expect(refusal).toBeInstanceOf(HoldfastError);
    expect(reportError(refusal)).toMatchObject({ kind: "forbidden", hint: expect.any(String) as string });
    expect(await contentsOf(folder.path)).toEqual(before);
    expect(before).toHaveProperty([kind === "json" ? layout.sessionsFile : layout.database]);
  });

  test("a file in place of the folder: a clear error, and the file stays", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("agents"));
    await writeFile(folder.join("agents", "main"), "mine");
    const refusal = await tryToWrite(folder.path, kind);
    expect(reportError(refusal)).toMatchObject({ hint: expect.any(String) as string });
    expect(["not-a-folder", "file-exists"]).toContain(reportError(refusal).code);
    expect(await readFile(folder.join("agents", "main"), "utf8")).toBe("mine");
  });
});

test("a search finds everything in a home that cannot be written", async () => {
  await using home = await createSearchHome();
  await home.memory("main", "MEMORY.md", "The otter likes fish.");
  await home.native(REPO, SESSION, [prompt(REPO, "an otter swims")]);
  const root = dirname(home.home);
  await chmod(dirname(root), 0o755);
  await setModes(root, { folders: 0o555, files: 0o444 });
  const before = await contentsOf(root);
  const found = await withoutPrivileges(async () => {
    const index = await home.refreshed();
    return index.sessions({ text: "otter", person: true, kinds: ["memory", "native"] });
  });
  expect(found).toMatchObject({ total: 2, matched: "all", indexing: { complete: true } });
  expect(await contentsOf(root)).toEqual(before);
  await setModes(root, { folders: 0o700, files: 0o600 });
  await chmod(dirname(root), 0o700);
});

/** Resolves to the error of the refused attempt. */
async function tryToWrite(home: string, kind: StoreKind): Promise<unknown> {
  try {
    const config = { ...DEFAULT_CONFIG, store: { kind, view: true } };
    const agent = await openAgent({ home, config, logger: silentLogger });
    try {
      const [session] = (await agent.store.list()).sessions;
      if (session === undefined) throw new Error("The store reads as empty");
      await resetSession(agent, session.key);
    } finally {
      await agent.store.close();
    }
    return undefined;
  } catch (error) {
    return error;
  }
}

/** File modes do not restrict root. */
async function withoutPrivileges<T>(task: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await task();
  process.seteuid?.(NOBODY);
  try {
    return await task();
  } finally {
    process.seteuid?.(0);
  }
}

async function setModes(root: string, modes: { folders: number; files: number }): Promise<void> {
  await chmod(root, 0o700);
  const found = await readdir(root, { withFileTypes: true, recursive: true });
  for (const item of found.filter((each) => each.isDirectory())) await chmod(join(item.parentPath, item.name), 0o700);
  for (const item of found) {
    await chmod(join(item.parentPath, item.name), item.isDirectory() ? modes.folders : modes.files);
  }
  await chmod(root, modes.folders);
}

async function contentsOf(root: string): Promise<Record<string, string>> {
  const found = await readdir(root, { withFileTypes: true, recursive: true });
  const files = found.filter((item) => item.isFile()).map((item) => join(item.parentPath, item.name));
  const contents = files.toSorted().map(async (file) => [file, (await readFile(file)).toString("base64")] as const);
  return Object.fromEntries(await Promise.all(contents));
}
