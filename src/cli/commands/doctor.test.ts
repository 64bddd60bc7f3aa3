/** The output and exit codes of `holdfast doctor`, run as a separate process. */
import { spawnSync } from "node:child_process";
import { appendFile, chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDoctorHome, say } from "../../../test/support/doctor-home.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";

const MAIN = new URL("../main.ts", import.meta.url).href;
const SCRIPT = `import { main } from ${JSON.stringify(MAIN)}; process.exitCode = await main(process.argv.slice(1));`;

function holdfast(home: string, ...args: string[]) {
  const env = { ...process.env, HOLDFAST_HOME: home, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT, "--", ...args], {
    env,
    cwd: "/",
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("holdfast doctor", () => {
  it("reports an empty home and creates nothing", async () => {
    await using folder = await temporaryFolder();
    const home = folder.join("none");
    const { status, stdout } = holdfast(home, "doctor");
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `No problems found: ${home} is empty.\n`,
    });
    expect(JSON.parse(holdfast(home, "doctor", "--fix", "--json").stdout)).toEqual({
      ok: true,
      fixed: 0,
      findings: [],
      checked: { agents: 0, sessions: 0, transcripts: 0 },
    });
  });

  it("finds and repairs problems, in words and as JSON", async () => {
    await using home = await createDoctorHome("sqlite");
    await chmod(home.home, 0o700);
    const sessionId = await home.use(async (agent) => await say(agent, "main", "hello"));
    expect(holdfast(home.home, "doctor")).toMatchObject({
      status: 0,
      stdout: "No problems found (1 agent, 1 session, 1 transcript)\n",
    });

    const path = join(home.layout.sessionsFolder, `${sessionId}.jsonl`);
    await appendFile(path, "{");
    const found = holdfast(home.home, "doctor");
    expect(found.status).toBe(5);
    expect(found.stdout.split("\n")).toEqual([
      "Agent main",
      `  ✗ Ends in 1 bytes of an unfinished line (agent:main:main · ${path})`,
      "      --fix would set them aside",
      "1 problem found (1 agent, 1 session, 1 transcript); `holdfast doctor --fix` repairs 1",
      "",
    ]);
    const finding = {
      check: "transcripts",
      agent: "main",
      severity: "error",
      message: "Ends in 1 bytes of an unfinished line",
      path,
      key: "agent:main:main",
      fix: "set them aside",
    };
    const asJson = holdfast(home.home, "doctor", "--json");
    expect(asJson.status).toBe(5);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false, fixed: 0, findings: [finding] });

    const mended = holdfast(home.home, "doctor", "--fix", "--agent", "main");
    expect(mended.status).toBe(0);
    expect(mended.stdout).toContain("  ✓ Ends in 1 bytes");
    expect(mended.stdout).toContain("1 problem repaired. No problems left (1 agent, 1 session, 1 transcript)");
    expect(holdfast(home.home, "doctor", "--fix").stdout).toMatch(/^No problems found/);
  });

  it("reports an invalid configuration and checks no store", async () => {
    await using home = await createDoctorHome("json");
    await chmod(home.home, 0o700);
    await home.use(async (agent) => void (await say(agent, "main", "hello")));
    await writeFile(join(home.home, "config.json"), "{ store: { kind: 'jso' } }", { mode: 0o600 });
    const { status, stdout } = holdfast(home.home, "doctor", "--fix");
    expect(status).toBe(5);
    expect(stdout).toContain("✗");
    expect(stdout).toContain("config.json");
    expect(stdout).toContain("(0 agents, 0 sessions, 0 transcripts)");
  });

  it("refuses an unknown agent and a home that is not a folder", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("agents"));
    const unknown = holdfast(folder.path, "doctor", "--agent", "nobody");
    expect(unknown).toMatchObject({ status: 3, stderr: expect.stringContaining('There is no agent "nobody"') });
    await writeFile(folder.join("file"), "");
    const notAFolder = holdfast(folder.join("file"), "doctor");
    expect(notAFolder).toMatchObject({ status: 2, stderr: expect.stringContaining("must be a folder") });
  });
});
