/** The completion scripts in the shells they are for; zsh and fish where they are installed. */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";
import { BIN } from "../support/cli.ts";

const run = promisify(execFile);

describe.runIf(isInstalled("bash"))("completion in bash", () => {
  it("completes commands, options, values and files", async () => {
    await using home = await createFixture();
    expect(await home.bash("holdfast sel")).toEqual(["selftest"]);
    expect(await home.bash("holdfast config ")).toEqual(["get", "list", "set", "unset", "path", "schema", "check"]);
    expect(await home.bash("holdfast sessions --all")).toEqual(["--all-agents"]);
    expect(await home.bash("holdfast message send --channel te")).toEqual(["telegram"]);
    expect(await home.bash("holdfast sessions --store ses")).toEqual(["sessions.json"]);
    expect(await home.bash("holdfast cc list --repo some")).toEqual(["some folder"]);
  });

  it("completes agents, labels and session keys, whose colons end a word in bash", async () => {
    await using home = await createFixture();
    expect(await home.bash("holdfast chat --agent he")).toEqual(["helper"]);
    await home.holdfast(["sessions", "patch", "agent:main:main", "label=work"]);
    expect(await home.bash("holdfast history wo")).toEqual(["work"]);
    expect(await home.bash("holdfast history agent:ma")).toEqual(["main:main"]);
    expect(await home.bash("holdfast message send --channel=te")).toEqual(["telegram"]);
  });

  it("prints no errors", async () => {
    await using home = await createFixture();
    await writeFile(home.folder.join("home/config.json"), "{ this is no configuration");
    expect(await home.bash("holdfast history ")).toEqual([]);
    expect(await home.bash("holdfast nonsense ")).toEqual([]);
  });
});

describe.runIf(isInstalled("zsh"))("completion in zsh", () => {
  it("loads and asks for words", async () => {
    await using home = await createFixture();
    const script = `autoload -Uz compinit; compinit -u -d "$PWD/dump"; source <(holdfast completion zsh); echo \${_comps[holdfast]}`;
    expect(await home.shell("zsh", ["-f", "-c", script])).toBe("_holdfast\n");
  });
});

describe.runIf(isInstalled("fish"))("completion in fish", () => {
  it("completes commands and values", async () => {
    await using home = await createFixture();
    const script = `holdfast completion fish | source; complete -C "holdfast message send --channel te"`;
    expect(await home.shell("fish", ["--no-config", "-c", script])).toBe("telegram\n");
  });
});

function isInstalled(shell: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, shell), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

interface Fixture extends AsyncDisposable {
  folder: TemporaryFolder;
  holdfast(args: readonly string[]): Promise<string>;
  shell(program: string, args: readonly string[]): Promise<string>;
  /** The completions of bash with the cursor at the end of the line. */
  bash(line: string): Promise<string[]>;
}

/** A folder with a `holdfast` on the path and an agent with a session. */
async function createFixture(): Promise<Fixture> {
  const folder = await temporaryFolder();
  const bin = folder.join("bin");
  await Promise.all([
    mkdir(bin),
    mkdir(folder.join("some folder")),
    mkdir(folder.join("home/agents/helper"), { recursive: true }),
  ]);
  await writeFile(folder.join("sessions.json"), "{}");
  await writeFile(join(bin, "holdfast"), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
  const env = {
    ...process.env,
    HOLDFAST_HOME: folder.join("home"),
    HOLDFAST_STORE: "json",
    PATH: `${bin}${delimiter}${process.env["PATH"]}`,
  };
  await mkdir(folder.join("home/agents/main/sessions"), { recursive: true });
  const entry = { sessionId: "11111111-1111-4111-8111-111111111111", updatedAt: 1_800_000_000_000 };
  await writeFile(folder.join("home/agents/main/sessions/sessions.json"), JSON.stringify({ "agent:main:main": entry }));
  const shell = async (program: string, args: readonly string[]): Promise<string> =>
    (await run(program, [...args], { cwd: folder.path, env })).stdout;
  const bash = async (line: string): Promise<string[]> => {
    const script = `
      source <(holdfast completion bash)
      COMP_LINE="$1"; COMP_POINT=\${#COMP_LINE}
      _holdfast
      printf '%s\\n' "\${COMPREPLY[@]}"
    `;
    const out = await shell("bash", ["--norc", "-c", script, "bash", line]);
    return out.split("\n").filter((word) => word !== "");
  };
  return {
    folder,
    shell,
    bash,
    holdfast: async (args) => await shell("holdfast", args),
    [Symbol.asyncDispose]: async () => await folder[Symbol.asyncDispose](),
  };
}
