/**
 * Runs before every test file: refuses an old Node, and moves HOME and every path variable to a
 * scratch folder, so that no test can touch the user's own files or use their Claude Code.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

if (Number(process.versions.node.split(".")[0]) < 24) {
  throw new Error(`The tests need Node 24 (this is ${process.version}); run them with \`npm test\`.`);
}

const MARK = "HOLDFAST_TEST_HOME";

// Test files share a process; the first one makes the folder for all of them.
if (process.env[MARK] === undefined) {
  const scratch = process.env["HOLDFAST_TEST_SCRATCH"] ?? tmpdir();
  const home = mkdtempSync(join(scratch, "home-"));
  // Most processes and threads of the tests start from TypeScript, and stripping its types again for each of
  // them would take longer than their work. Set here, because a worker that started with it would write there
  // when it ends, after the folder is gone.
  process.env["NODE_COMPILE_CACHE"] = join(scratch, "holdfast-compiled");
  process.env[MARK] = home;
  process.env["HOME"] = home;
  process.env["HOLDFAST_HOME"] = join(home, ".holdfast");
  process.env["CLAUDE_CONFIG_DIR"] = join(home, ".claude");
  delete process.env["OPENCLAW_STATE_DIR"];
  // A decision that is not sure asks Claude Code. A test that wants that sets `claudeCode.command`.
  const programs = join(home, "bin");
  mkdirSync(programs);
  writeFileSync(join(programs, "claude"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  process.env["PATH"] = `${programs}${delimiter}${process.env["PATH"] ?? ""}`;
}
