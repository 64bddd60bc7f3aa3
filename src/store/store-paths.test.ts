import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveHome } from "../config/layout.ts";
import {
  resolveDefaultSessionStorePath,
  resolveSessionTranscriptsDirForAgent,
  resolveStorePath,
} from "./store-paths.ts";

describe("store paths", () => {
  it("lie in the agent's folder", () => {
    const folder = join(resolveHome(), "agents", "my-agent", "sessions");
    expect(resolveSessionTranscriptsDirForAgent("My Agent")).toBe(folder);
    expect(resolveDefaultSessionStorePath("My Agent")).toBe(join(folder, "sessions.json"));
    expect(resolveStorePath(undefined, { agentId: "My Agent" })).toBe(join(folder, "sessions.json"));
  });

  it("fill in the agent and the home, and cannot be led elsewhere by an agent's name", () => {
    expect(resolveStorePath("/data/{agentId}/s.json", { agentId: "../../etc" })).toBe("/data/etc/s.json");
    expect(resolveStorePath("~/s.json")).toBe(join(process.env["HOME"] ?? "", "s.json"));
  });
});
