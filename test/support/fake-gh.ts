/**
 * A small executable called `gh` that answers with recorded JSON (test/fixtures/gh), because no test
 * has a GitHub account. It writes down what it was asked.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface FakeGh {
  /** With the fake in front of everything else on PATH. */
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

/** `body` is what the script does instead of answering; it may end with `$ANSWER`. */
export function createFakeGh(folder: string, body = "$ANSWER"): FakeGh {
  mkdirSync(folder, { recursive: true });
  const log = join(folder, "calls.log");
  // One write for each call: the calls run at the same time.
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
