import { describe, expect, it } from "vitest";
import { DEFAULT_CONFIG } from "./config.ts";
import { type JsonSchema, jsonSchema, projectFileSchema, userFileSchema } from "./schema.ts";

describe("the schema", () => {
  it("accepts the defaults, written down as a file", () => {
    expect(userFileSchema.parse(structuredClone(DEFAULT_CONFIG))).toEqual(DEFAULT_CONFIG);
  });

  it("accepts every field", () => {
    const rule = { mode: "idle", atHour: 0, idleMinutes: 30 };
    const file = {
      $schema: "x",
      defaultAgent: "a",
      agents: { a: { name: "A", model: "p/m", workspace: "/w" } },
      session: {
        scope: "global",
        dmScope: "per-peer",
        mainKey: "home",
        identityLinks: { alice: ["telegram:1"] },
        resetTriggers: ["/new"],
        reset: rule,
        resetByType: { dm: rule, group: rule, thread: rule },
        resetByChannel: { whatsapp: rule },
        idleMinutes: 5,
        sendPolicy: {
          default: "deny",
          rules: [{ action: "allow", match: { channel: "telegram", chatType: "group", keyPrefix: "agent:" } }],
        },
      },
      store: { kind: "json", view: false },
      transcript: { durability: "none" },
      models: { "p/m.1": { alias: "m" } },
      maintenance: { archiveAfterDays: 1, maxSessions: 1, maxMegabytes: 1 },
      log: { level: "silent" },
    };
    expect(userFileSchema.parse(file)).toEqual(file);
  });

  it("lets a project set exactly the default agent and the sessions", () => {
    expect(Object.keys(projectFileSchema.shape).toSorted()).toEqual(["$schema", "defaultAgent", "session"]);
  });

  it("describes every field", () => {
    const undescribed = fieldsOf(jsonSchema("user")).filter(([, schema]) => (schema.description ?? "") === "");
    expect(undescribed.map(([name]) => name)).toEqual([]);
    expect(fieldsOf(jsonSchema("user")).length).toBeGreaterThan(30);
  });

  it("is strict at every level of the JSON Schema", () => {
    const open = fieldsOf(jsonSchema("user")).filter(
      ([, schema]) => schema.properties !== undefined && schema.additionalProperties !== false,
    );
    expect(open).toEqual([]);
    expect(jsonSchema("user")).toMatchObject({ type: "object", additionalProperties: false });
  });
});

function fieldsOf(schema: JsonSchema, path = ""): [string, JsonSchema][] {
  const fields: [string, JsonSchema][] = [];
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    fields.push([`${path}${name}`, inner], ...fieldsOf(inner, `${path}${name}.`));
  }
  for (const inner of [schema.additionalProperties, schema.items]) {
    if (typeof inner === "object") fields.push(...fieldsOf(inner, `${path}*.`));
  }
  return fields;
}
