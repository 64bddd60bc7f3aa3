/** Real git repos in a temporary folder, independent of the machine's git settings, and a fake `gh`. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, delimiter } from "node:path";
import { fileURLToPath } from "node:url";

export interface TestRepo {
  path: string;
  git(...args: string[]): string;
  write(file: string, content?: string): void;
  /** Writes the file and commits it. */
  commit(message: string, file?: string, content?: string): void;
}

// No background maintenance, which could write while the folder is removed, and no fsync.
const SETTINGS = ["protocol.file.allow=always", "gc.auto=0", "maintenance.auto=false", "core.fsync=none"].flatMap(
  (setting) => ["-c", setting],
);

/** The environment of git in tests: a fixed author, no settings of the machine. */
export function gitTestEnv(): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.org",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.org",
  };
}

export function runTestGit(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  return execFileSync("git", [...SETTINGS, ...args], {
    cwd,
    env: { ...gitTestEnv(), ...env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export function openTestRepo(path: string): TestRepo {
  const git = (...args: string[]) => runTestGit(path, args);
  const write = (file: string, content = `${file}\n`) => {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  };
  return {
    path,
    git,
    write,
    commit: (message, file = "file.txt", content = `${message}\n`) => {
      write(file, content);
      git("add", "--", file);
      git("commit", "--quiet", "--message", message);
    },
  };
}

/** An empty repo on branch `main`. */
export function createTestRepo(path: string): TestRepo {
  cpSync(
    templateOf("empty", (folder) => runTestGit(folder, INIT)),
    path,
    { recursive: true },
  );
  return openTestRepo(path);
}

const INIT = ["init", "--quiet", "--initial-branch=main", "--template="];
const templates = new Map<string, string>();

/** A folder that `make` fills once in this process. Copying it takes a tenth of the time that git takes. */
export function templateOf(name: string, make: (folder: string) => void): string {
  const known = templates.get(name);
  if (known !== undefined && existsSync(known)) return known;
  const folder = mkdtempSync(join(process.env["HOLDFAST_TEST_SCRATCH"] ?? tmpdir(), "template-"));
  make(folder);
  templates.set(name, folder);
  return folder;
}

/** A wrapper script that does something, then runs the real git. */
export function wrapGit(folder: string, first: string): NodeJS.ProcessEnv {
  const real = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
  mkdirSync(folder);
  writeFileSync(join(folder, "git"), `#!/bin/sh\n${first}\nexec ${real} "$@"\n`, { mode: 0o755 });
  return { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
}

export interface FakeGh {
  /** With the fake first on PATH. */
  env: NodeJS.ProcessEnv;
  /** The arguments of each call so far. */
  calls(): string[][];
}

const FIXTURES = fileURLToPath(new URL("../fixtures/gh", import.meta.url));

const ANSWER = `
case "$*" in
  *--head=*) cat "$FIXTURES/branch.json" ;;
  *--assignee=*) cat "$FIXTURES/assigned.json" ;;
  *--search=*) cat "$FIXTURES/recent.json" ;;
  *) echo "unknown command" >&2; exit 1 ;;
esac
`;

/** `body` replaces the script's answer; it may contain `$ANSWER`. */
export function createFakeGh(folder: string, body = "$ANSWER"): FakeGh {
  mkdirSync(folder, { recursive: true });
  const log = join(folder, "calls.log");
  // One write per call, because calls run concurrently.
  const record = `printf '%s' "$(printf '%s\\t' "$@")
" >> '${log}'`;
  const script = `#!/bin/sh\nFIXTURES='${FIXTURES}'\n${record}\n${body.replaceAll("$ANSWER", ANSWER)}\n`;
  writeFileSync(join(folder, "gh"), script, { mode: 0o755 });
  return {
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` },
    calls: () => {
      if (!existsSync(log)) return [];
      const lines = readFileSync(log, "utf8").trimEnd().split("\n");
      return lines.map((line) => line.split("\t").filter((argument) => argument !== ""));
    },
  };
}
