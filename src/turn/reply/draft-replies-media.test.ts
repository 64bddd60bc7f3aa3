/** Uses real files and links, because the real path decides whether a file may be attached. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { resolveMedia } from "./draft-replies.ts";

describe("resolveMedia", () => {
  it("finds files in the workspace, even through links that stay inside", async () => {
    await using folder = await workspaceWithNeighbour();
    const workspace = folder.join("linked");
    for (const ref of ["./out/a.png", "out/a.png", " out/a.png ", "alias.png", "a%2e%2eb.png"]) {
      await expect(resolveMedia(workspace, ref)).resolves.toMatchObject({ kind: "file" });
    }
    const { path } = (await resolveMedia(workspace, "alias.png")) as { path: string };
    expect(path.endsWith("/work/out/a.png")).toBe(true);
  });

  it.each([
    "../secret.txt",
    "out/../../secret.txt",
    "./../secret.txt",
    "/etc/passwd",
    "~/secret.txt",
    "file:///etc/passwd",
    "ftp://a.test/x",
    "javascript:alert(1)",
    "..\\secret.txt",
    "out\u0000.png",
    "",
    ".",
    "http://",
    "out-link.txt",
    "out-folder/secret.txt",
    "sideways/secret.txt",
    "out",
    "pipe",
  ])("refuses %j", async (ref) => {
    await using folder = await workspaceWithNeighbour();
    await expect(resolveMedia(folder.join("work"), ref)).rejects.toMatchObject({
      kind: "forbidden",
      code: "media-refused",
    });
  });

  it.each(["missing.png", "out/a.png/b.png", "loop", `${"x".repeat(300)}.png`])("does not find %j", async (ref) => {
    await using folder = await workspaceWithNeighbour();
    await expect(resolveMedia(folder.join("work"), ref)).rejects.toMatchObject({
      kind: "not-found",
      code: "media-missing",
    });
  });

  it("accepts http and https, and downloads nothing", async () => {
    await expect(resolveMedia("/nowhere", "HTTPS://a.test/b c".replace(" ", "%20"))).resolves.toEqual({
      kind: "url",
      url: "https://a.test/b%20c",
    });
    await expect(resolveMedia("/nowhere", "http://a.test")).resolves.toMatchObject({ kind: "url" });
  });
});

async function workspaceWithNeighbour(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  mkdirSync(folder.join("work", "out"), { recursive: true });
  // The name begins like the workspace's.
  mkdirSync(folder.join("work-other"));
  for (const path of ["work/out/a.png", "work/a%2e%2eb.png", "secret.txt", "work-other/secret.txt"]) {
    writeFileSync(folder.join(path), "abc");
  }
  symlinkSync(folder.join("work"), folder.join("linked"));
  symlinkSync("out/a.png", folder.join("work", "alias.png"));
  symlinkSync("../secret.txt", folder.join("work", "out-link.txt"));
  symlinkSync(folder.path, folder.join("work", "out-folder"));
  symlinkSync(folder.join("work-other"), folder.join("work", "sideways"));
  symlinkSync("loop", folder.join("work", "loop"));
  execFileSync("mkfifo", [folder.join("work", "pipe")]);
  return folder;
}
