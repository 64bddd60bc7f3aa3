/**
 * A person on Telegram asks for a list of files; the engine uses a tool, the answer arrives on Telegram, and the
 * transcript has everything. Runs with every engine.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { text, toolUse, withUsage } from "../support/fake-anthropic/reply.ts";
import { createClaudeHome } from "../support/claude-home.ts";
import { startFakeModelStream, says, uses } from "../support/fake-model-stream.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { createChatHome, withModel } from "../support/chat-home.ts";
import { memoryFile } from "../../src/engine/workspace/workspace-description.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;
const QUESTION = "Which files are there?";

describe("a person on Telegram asks for a list of files", () => {
  it("the model engine calls list_files and answers", async () => {
    await using model = await startFakeModelStream(
      uses("list_files", { path: "." }, "Let me look."),
      says("There is plan.md and AGENTS.md."),
    );
    await using home = await createChatHome(withModel(model.url));
    await writeFile(join((await home.agent()).workspace, "plan.md"), "a plan");
    home.telegram.say(QUESTION);
    await home.hears(ADA.id, "There is plan.md and AGENTS.md.");

    expect(model.requests.map(({ protocol }) => protocol)).toEqual(["anthropic", "anthropic"]);
    // The tool really ran in the workspace: its result reached the model.
    expect(JSON.stringify(model.requests[1]?.body)).toContain("plan.md");
    const transcript = await home.transcript(KEY);
    expect(transcript).toEqual([
      expect.stringContaining(QUESTION),
      "assistant: Let me look.",
      expect.stringMatching(/^list_files: [\s\S]*plan\.md/),
      "assistant: There is plan.md and AGENTS.md.",
    ]);
    expect(home.texts(ADA.id)).toEqual(["Let me look.", "There is plan.md and AGENTS.md."]);
  });

  it("the echo engine does so on request", async () => {
    await using home = await createChatHome();
    home.telegram.say("tool:list_files .");
    await home.hears(ADA.id, "AGENTS.md");
    expect(await home.transcript(KEY)).toEqual([
      "user: tool:list_files .",
      "assistant: ",
      expect.stringMatching(/^list_files: [\s\S]*AGENTS\.md/),
      expect.stringMatching(/^assistant: \[echo\][\s\S]*AGENTS\.md/),
    ]);
  });

  it("Claude Code uses its own tool, and saves memory when its window is nearly full and before /new", async () => {
    await using api = await startFakeAnthropic();
    await using claude = await createClaudeHome(api);
    await using home = await createChatHome({
      config: (config) => ({
        ...config,
        agents: { main: { engine: "claude-code", workspace: claude.repo } },
        claudeCode: { ...config.claudeCode, command: claude.command, permissionMode: "default" },
      }),
      env: claude.env,
    });
    const nearlyFull = withUsage(text("There is a README.md."), { input_tokens: 178_000 });
    api.script(toolUse("Bash", { command: "ls" }), nearlyFull);
    home.telegram.say(QUESTION);
    await home.hears(ADA.id, "There is a README.md.");
    expect(await home.transcript(KEY)).toEqual([
      `user: ${QUESTION}`,
      "assistant: ",
      expect.stringMatching(/^Bash: [\s\S]*README\.md/),
      "assistant: There is a README.md.",
    ]);

    const file = join(claude.repo, memoryFile(Date.now()));
    api.script(toolUse("Write", { file_path: file, content: "They asked for files.\n" }), text("NO_REPLY"));
    home.telegram.say("And now?");
    await home.hears(ADA.id, "And now?");
    expect(await readFile(file, "utf8")).toBe("They asked for files.\n");

    const seen = { file_path: file, content: "They asked for files, twice.\n" };
    api.script(toolUse("Write", seen), text("NO_REPLY"));
    home.telegram.say("/new");
    await home.hears(ADA.id, "A new conversation has begun");
    expect(await readFile(file, "utf8")).toBe("They asked for files, twice.\n");
    expect(home.texts(ADA.id)).toHaveLength(3);
    await home.stop();
    await claude.empty();
  });
});
