/** `history --follow` in a separate process while another one continues the conversation. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { BIN, runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

it("shows old and then new messages, each once, until interrupted", async () => {
  await using home = await temporaryFolder();
  await runCliShared(["chat", "--local"], { home: home.path, input: "one\n" });
  const child = spawn(process.execPath, [BIN, "history", "--follow"], {
    env: { ...process.env, HOLDFAST_HOME: home.path, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const until = async (text: string): Promise<void> => {
    while (!shown.includes(text)) await once(child.stdout, "data");
  };
  await until("message 1 of this window: one");
  await runCliShared(["chat", "--local"], { home: home.path, input: "two\n" });
  await until("message 2 of this window: two");
  child.kill("SIGINT");
  await once(child, "close");
  for (const reply of ["message 1 of", "message 2 of"]) expect(shown.split(reply)).toHaveLength(2);
});
