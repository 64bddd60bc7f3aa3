import { describe, expect, it } from "vitest";
import { type CommandHomeOptions, createCommandHome } from "../../../test/support/command-home.ts";

const CONFIG: CommandHomeOptions["config"] = {
  agents: { main: { model: "anthropic/claude-haiku-5-5" } },
  models: {
    "anthropic/claude-haiku-5-5": { alias: "haiku" },
    "minimax/MiniMax-M2.1": {},
    "local/\u001b[31mred": { alias: "red" },
  },
  providers: { local: { baseUrl: "http://127.0.0.1:9" }, minimax: { baseUrl: "http://127.0.0.1:9" } },
};

describe("/model", () => {
  it("shows the model and the known ones", async () => {
    await using home = await createCommandHome({ config: CONFIG, engine: "model" });
    expect(await home.type("/model")).toBe(
      [
        "Model: anthropic/claude-haiku-5-5.",
        "Known:",
        "anthropic/claude-haiku-5-5 (haiku)",
        "minimax/MiniMax-M2.1",
        "local/\\u001b[31mred (red)",
        "Choose one with /model <name> or provider/model; /model default restores the default.",
      ].join("\n"),
    );
  });

  it.each([
    ["minimax/minimax-m2.1", "minimax", "MiniMax-M2.1"],
    ["MiniMax-M2.1", "minimax", "MiniMax-M2.1"],
    ["minimax", "minimax", "MiniMax-M2.1"],
    ["minimax MiniMax-M2.1", "minimax", "MiniMax-M2.1"],
    ["RED", "local", "\u001b[31mred"],
  ])("chooses %s", async (wanted, providerOverride, modelOverride) => {
    await using home = await createCommandHome({ config: CONFIG, engine: "model" });
    const answer = await home.type(`/model ${wanted}`);
    expect(answer).toMatch(/^Model: .* \(chosen for this session\)\.$/);
    expect(answer).not.toContain("\u001b");
    expect(await home.entry()).toMatchObject({ providerOverride, modelOverride });
  });

  it.each(["default", "haiku", "anthropic/claude-haiku-5-5", "claude-haiku"])(
    "restores the default with %s",
    async (wanted) => {
      await using home = await createCommandHome({ config: CONFIG, engine: "model" });
      await home.type("/model minimax");
      expect(await home.type(`/model ${wanted}`)).toBe("Model: anthropic/claude-haiku-5-5.");
      expect(await home.entry()).not.toHaveProperty("modelOverride");
      expect(await home.entry()).not.toHaveProperty("providerOverride");
    },
  );

  it("accepts an unlisted model of a known provider, with a warning", async () => {
    await using home = await createCommandHome({ config: CONFIG, engine: "model" });
    expect(await home.type("/model openai/gpt-x")).toBe(
      "Model: openai/gpt-x (chosen for this session). The configuration does not list it; the next answer shows whether it works.",
    );
    expect(await home.entry()).toMatchObject({ providerOverride: "openai", modelOverride: "gpt-x" });
  });

  it("warns that the echo engine uses no model", async () => {
    await using home = await createCommandHome({ config: CONFIG });
    expect(await home.type("/model minimax")).toContain("The echo engine answers here and uses no model");
  });

  it.each([
    ["haikuu", "Did you mean haiku?"],
    ["antropic/claude-x", 'Did you mean "anthropic"?'],
    ["something else entirely", "Write provider/model"],
    ["minimax summarize this", "No model is called"],
    [`${"x".repeat(500_000)}/y`, 'No model is called "xxxxxxxxxxxxxxxxxxxx…".'],
  ])("refuses %.40s and helps", async (wanted, help) => {
    await using home = await createCommandHome({ config: CONFIG, engine: "model" });
    await home.say("one");
    const before = await home.entry();
    expect(await home.type(`/model ${wanted}`)).toContain(help);
    expect(await home.entry()).toEqual(before);
  });

  it("accepts Claude Code's short names", async () => {
    await using home = await createCommandHome({ engine: "claude-code" });
    expect(await home.type("/model")).toContain("Model: the engine's own.");
    await home.type("/model opus");
    expect(await home.entry()).toMatchObject({ providerOverride: "anthropic", modelOverride: "opus" });
  });
});
