import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { installFaultAction } from "./faults.ts";
import {
  ensurePrivateFolder,
  freeName,
  isTemporaryName,
  readFileIfPresent,
  setAside,
  temporaryPath,
  writeFileDurable,
} from "./files.ts";

afterEach(() => installFaultAction(undefined));

describe("writeFileDurable", () => {
  it("replaces the whole content privately and leaves no temporary file", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("f");
    await writeFileDurable(path, "one");
    await writeFileDurable(path, ["t", "w", "o"]);
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path)).toEqual(["f"]);
  });

  it.each(["file.temp-written", "file.temp-synced"] as const)(
    "keeps the old content when it fails at %s",
    async (wanted) => {
      await using folder = await temporaryFolder();
      const path = folder.join("f");
      writeFileSync(path, "old");
      installFaultAction((point) => {
        if (point === wanted) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      });
      await expect(writeFileDurable(path, "new")).rejects.toThrow(/no space/);
      expect(readFileSync(path, "utf8")).toBe("old");
    },
  );

  it("names the file and a remedy when the folder is missing or the disk is full", async () => {
    await using folder = await temporaryFolder();
    const missing = writeFileDurable(folder.join("none/f"), "x");
    await expect(missing).rejects.toMatchObject({ data: { system: "ENOENT" } });
    installFaultAction((point) => {
      if (point === "file.temp-written") throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    });
    const full = writeFileDurable(folder.join("f"), "x");
    await expect(full).rejects.toMatchObject({ kind: "unavailable", code: "disk-full" });
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe("folders", () => {
  it("are created private with their parents, even concurrently", async () => {
    await using folder = await temporaryFolder();
    const deep = folder.join("a/b/c");
    await Promise.all(Array.from({ length: 20 }, async () => await ensurePrivateFolder(deep)));
    for (const path of ["a", "a/b", "a/b/c"]) expect(statSync(folder.join(path)).mode & 0o777).toBe(0o700);
  });

  it("fail where they cannot be created, without endless retries", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(folder.join("file"), "");
    await expect(ensurePrivateFolder(folder.join("file/x"))).rejects.toMatchObject({ code: "not-a-folder" });
    await expect(ensurePrivateFolder(folder.join("file"))).rejects.toMatchObject({ data: { system: "EEXIST" } });
    await expect(ensurePrivateFolder("/proc/nope/x")).rejects.toMatchObject({ name: "HoldfastError" });
  });
});

describe("names", () => {
  it("of temporary files are recognised, others are not", () => {
    expect(isTemporaryName(temporaryPath("sessions.json"))).toBe(true);
    for (const name of ["sessions.json", "a.tmp", "a.1.zz.tmp", "a.1.0123456789ab.tmp.bak"]) {
      expect(isTemporaryName(name)).toBe(false);
    }
  });

  it("of files set aside are never reused", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("f");
    const at = Date.UTC(2026, 10, 15, 12);
    writeFileSync(path, "1");
    expect(await setAside(path, "torn", at)).toBe(`${path}.torn-2026-11-15T12-00-00.000Z`);
    writeFileSync(path, "2");
    expect(await setAside(path, "torn", at)).toBe(`${path}.torn-2026-11-15T12-00-00.000Z-1`);
    expect(await freeName(path, "torn", at)).toBe(`${path}.torn-2026-11-15T12-00-00.000Z-2`);
    expect(readFileSync(`${path}.torn-2026-11-15T12-00-00.000Z`, "utf8")).toBe("1");
  });

  it("of folders are not readable files", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("d"));
    expect(await readFileIfPresent(folder.join("none"))).toBeUndefined();
    await expect(readFileIfPresent(folder.join("d"))).rejects.toMatchObject({ name: "HoldfastError" });
  });
});
