/** An attached file is readable, exactly that one, and only in its conversation. */
import { execFileSync } from "node:child_process";
import { readFile, rm, symlink } from "node:fs/promises";
import { expect, it } from "vitest";
import { silentLogger } from "../../base/log.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import { type TemporaryFolder, folderWith } from "../../../test/support/temp-folder.ts";
import { createAttachedFiles } from "./confined-files.ts";
import { createWorkspaceTools } from "./workspace-tools.ts";
import { runTool } from "./agent-tool.ts";

const REFUSED = /^ERROR ".*" is outside the workspace/;

async function fixture(): Promise<TemporaryFolder> {
  return await folderWith({
    "workspace/a.txt": "inside",
    "media/ours.txt": "sent to us",
    "media/more.txt": "sent later",
    "media/others.txt": "sent to others",
  });
}

function withFiles(...attachments: unknown[]): TranscriptMessage {
  return { role: "user", content: "look", attachments, timestamp: 1 } as unknown as TranscriptMessage;
}

async function use(
  folder: TemporaryFolder,
  name: string,
  input: object,
  context: TranscriptMessage[] = [withFiles({ path: folder.join("media/ours.txt") })],
): Promise<string> {
  const tools = createWorkspaceTools({ workspace: folder.join("workspace") });
  const options = {
    signal: AbortSignal.timeout(10_000),
    logger: silentLogger,
    sessionKey: "agent:main:main",
    callId: "call",
    attached: createAttachedFiles(context),
  };
  const { text, isError } = await runTool(tools, { name, input }, options);
  return `${isError ? "ERROR " : ""}${text}`;
}

it("reads attachments under any spelling of their path, and workspace files", async () => {
  await using folder = await fixture();
  const { path: root } = folder;
  for (const path of [`${root}/media/ours.txt`, `${root}/media/../media//ours.txt`, `${root}/./media/x/../ours.txt`]) {
    expect(await use(folder, "read_file", { path })).toBe("sent to us");
  }
  expect(await use(folder, "read_file", { path: "a.txt" })).toBe("inside");
});

it("reads no other file next to it", async () => {
  await using folder = await fixture();
  const { path: root } = folder;
  const paths = ["media/others.txt", "media/ours.txt/../others.txt", "media", "media/ours.txt.bak", "media/missing"];
  for (const path of [...paths.map((name) => `${root}/${name}`), "../media/ours.txt", "/etc/passwd"]) {
    expect(await use(folder, "read_file", { path })).toMatch(REFUSED);
  }
  const ours = `${root}/media/ours.txt`;
  expect(await use(folder, "read_file", { path: ours }, [])).toMatch(REFUSED);
  expect(await use(folder, "search_files", { path: ours, pattern: "sent" })).toMatch(REFUSED);
});

it("never writes to it", async () => {
  await using folder = await fixture();
  const path = folder.join("media/ours.txt");
  for (const append of [true, false]) {
    expect(await use(folder, "write_file", { path, content: "x", append })).toMatch(REFUSED);
  }
  expect(await readFile(path, "utf8")).toBe("sent to us");
});

it("follows no link and opens no pipe", async () => {
  await using folder = await fixture();
  const path = folder.join("media/ours.txt");
  await rm(path);
  expect(await use(folder, "read_file", { path })).toMatch(/^ERROR There is no/);
  await symlink("others.txt", path);
  expect(await use(folder, "read_file", { path })).toMatch(REFUSED);
  await rm(path);
  execFileSync("mkfifo", [path]);
  expect(await use(folder, "read_file", { path })).toMatch(/is not a plain file/);
});

it("lists only attachments of the conversation", async () => {
  await using folder = await fixture();
  const [ours, more] = [folder.join("media/ours.txt"), folder.join("media/more.txt")];
  const context = [withFiles({ path: ours }), withFiles({ path: more }, { path: ours })];
  for (const path of [folder.join("media"), `${folder.join("media")}/`]) {
    expect(await use(folder, "list_files", { path }, context)).toBe(`${more}\n${ours}`);
  }
  expect(await use(folder, "list_files", { path: folder.join("media") }, [])).toMatch(REFUSED);
  expect(await use(folder, "list_files", {}, context)).toBe("a.txt");
});

it("ignores malformed attachments in a transcript", async () => {
  await using folder = await fixture();
  const path = folder.join("media/others.txt");
  const wrong = [
    withFiles(path, null, { path: [path] }, { path: "../media/others.txt" }),
    { role: "assistant", content: "", attachments: [{ path }], timestamp: 1 },
    { role: "toolResult", content: `[media attached: ${path}]`, attachments: [{ path }], timestamp: 1 },
    { role: "user", content: `[media attached: ${path} (text/plain)]`, timestamp: 1 },
    { role: "user", content: "", attachments: { path }, timestamp: 1 },
  ] as unknown as TranscriptMessage[];
  expect(await use(folder, "read_file", { path }, wrong)).toMatch(REFUSED);
  const summed = { role: "compactionSummary", summary: "s", tokensBefore: 1, attachments: [{ path }], timestamp: 1 };
  expect(await use(folder, "read_file", { path }, [summed as TranscriptMessage])).toBe("sent to others");
});
