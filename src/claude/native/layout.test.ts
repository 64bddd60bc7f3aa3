import { mkdir, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import {
  findProjectFolder,
  openNativeFile,
  projectFolderName,
  resolveClaudeHome,
  listProjectTranscripts,
  listTranscripts,
} from "./layout.ts";

it.each([
  ["/home/user/repo", "-home-user-repo"],
  ["/home/user/my.repo_v2", "-home-user-my-repo-v2"],
  ["/a b/c'd", "-a-b-c-d"],
  // One unit composed or decomposed, two for a character outside the basic plane.
  ["/caf\u00e9", "-caf-"],
  ["/cafe\u0301", "-caf-"],
  ["/😀", "---"],
])("the folder of %s is %s", (path, name) => {
  expect(projectFolderName(path)).toBe(name);
});

it("cuts a long name and adds a hash of the path", () => {
  const exact = `/${"a".repeat(199)}`;
  expect(projectFolderName(exact)).toBe(`-${"a".repeat(199)}`);
  const long = `/${"a".repeat(200)}`;
  // The definition, in exact arithmetic.
  let hash = 0n;
  for (const unit of long) hash = BigInt.asIntN(32, hash * 31n + BigInt(unit.charCodeAt(0)));
  const expected = (hash < 0n ? -hash : hash).toString(36);
  expect(projectFolderName(long)).toBe(`-${"a".repeat(199)}-${expected}`);
  expect(projectFolderName(`${long}b`)).not.toBe(projectFolderName(`${long}c`));
});

it("uses CLAUDE_CONFIG_DIR instead of ~/.claude", () => {
  expect(resolveClaudeHome({ CLAUDE_CONFIG_DIR: "/elsewhere" })).toBe("/elsewhere");
  expect(resolveClaudeHome({ CLAUDE_CONFIG_DIR: "" })).toBe(join(homedir(), ".claude"));
  expect(resolveClaudeHome({})).toBe(join(homedir(), ".claude"));
});

it("finds the folder of a repo through a symbolic link, and of a deleted one", async () => {
  await using folder = await temporaryFolder();
  await mkdir(folder.join("repo"));
  await symlink(folder.join("repo"), folder.join("link"));
  expect(await findProjectFolder("/c", folder.join("link"))).toBe(await findProjectFolder("/c", folder.join("repo")));
  expect(await findProjectFolder("/c", "/gone/repo")).toBe("/c/projects/-gone-repo");
});

it("lists only session transcripts", async () => {
  await using folder = await temporaryFolder();
  const id = "2567e988-bbe2-47b1-88e2-236ca4fc214e";
  const project = folder.join("projects", "-home-user-repo");
  await mkdir(join(project, id, "subagents"), { recursive: true });
  for (const name of [`${id}.jsonl`, "agent-1.jsonl", "notes.jsonl", `${id}.json`])
    await writeFile(join(project, name), "");
  await symlink(join(project, "notes.jsonl"), join(project, "3567e988-bbe2-47b1-88e2-236ca4fc214e.jsonl"));
  await writeFile(folder.join("projects", "stray.jsonl"), "");
  const found = await collect(listTranscripts(folder.path));
  expect(found).toEqual([{ sessionId: id, path: join(project, `${id}.jsonl`), folder: project }]);
  expect(await listProjectTranscripts(project)).toEqual(found);
  expect(await collect(listTranscripts(folder.join("missing")))).toEqual([]);
});

it("opens regular files only", async () => {
  await using folder = await temporaryFolder();
  await writeFile(folder.join("secret"), "token");
  await symlink(folder.join("secret"), folder.join("link"));
  expect(await openNativeFile(folder.join("link"))).toBeUndefined();
  expect(await openNativeFile(folder.path)).toBeUndefined();
  expect(await openNativeFile(folder.join("missing"))).toBeUndefined();
  await using handle = await openNativeFile(folder.join("secret"));
  expect(await handle?.readFile("utf8")).toBe("token");
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
