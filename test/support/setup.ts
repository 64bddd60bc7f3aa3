/**
 * Runs before every test file: refuses an old Node, and moves HOME and every path variable to a
 * scratch folder, so that no test can read or write what belongs to the person who runs it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

if (Number(process.versions.node.split(".")[0]) < 24) {
  throw new Error(`The tests need Node 24 (this is ${process.version}); run them with \`npm test\`.`);
}

const scratchHome = mkdtempSync(join(tmpdir(), "holdfast-home-"));
process.on("exit", () => rmSync(scratchHome, { recursive: true, force: true }));
process.env["HOME"] = scratchHome;
process.env["HOLDFAST_HOME"] = join(scratchHome, ".holdfast");
process.env["CLAUDE_CONFIG_DIR"] = join(scratchHome, ".claude");
delete process.env["OPENCLAW_STATE_DIR"];
