/** The docs page matches the table, and the client runs in browsers. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { METHODS } from "./contract.ts";
import { HANDLERS } from "./dispatch.ts";
import { EVENTS } from "./protocol.ts";

describe("docs/rpc.md", () => {
  it("matches the table", async () => {
    await expect(renderRpcPage()).toMatchFileSnapshot("../../docs/rpc.md");
  });

  it("lists every method with its parameters and results", () => {
    const page = renderRpcPage();
    for (const [name, { params, result }] of Object.entries(METHODS)) {
      const part = page.split(`### \`${name}\`\n`)[1]?.split("\n### ")[0] ?? "";
      for (const field of [...Object.keys(params.shape), ...Object.keys(result.shape)]) {
        expect([name, part.includes(`- \`${field}\``)]).toEqual([name, true]);
      }
    }
  });
});

describe("the table", () => {
  it("has a handler for every method and no other", () => {
    expect(Object.keys(HANDLERS).toSorted()).toEqual(Object.keys(METHODS).toSorted());
  });
});

describe("the client", () => {
  it("loads nothing that a browser does not have, and no zod", () => {
    expect(runtimeImports(new URL("client.ts", import.meta.url))).toEqual(["client.ts", "errors.ts", "protocol.ts"]);
  });
});

/** The files that a module loads, its own name included; types are gone by then. */
function runtimeImports(module: URL, seen = new Set<string>()): string[] {
  seen.add(module.href);
  const source = readFileSync(module, "utf8");
  for (const [, clause = "", from = ""] of source.matchAll(/^(?:import|export) ([^;]*?) from "([^"]+)";/gms)) {
    const isType = clause.startsWith("type ") || /^\{\s*(?:type [^,}]+,?\s*)+\}$/.test(clause);
    if (isType) continue;
    if (!from.startsWith(".")) throw new Error(`${module.pathname} loads ${from}`);
    const target = new URL(from, module);
    if (!seen.has(target.href)) runtimeImports(target, seen);
  }
  return [...seen].map((href) => href.slice(href.lastIndexOf("/") + 1)).toSorted();
}

interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  default?: unknown;
}

function renderRpcPage(): string {
  const methods = Object.entries(METHODS).map(([name, method]) =>
    [
      `### \`${name}\``,
      `${method.summary} Permission: \`${method.permission}\`.`,
      ...section("Parameters", toSchema(method.params, "input"), "none"),
      ...section("Result", toSchema(method.result, "output"), "an empty object"),
    ].join("\n\n"),
  );
  const events = EVENTS.map(({ name, summary }) => `- \`${name}\`: ${summary}`);
  return `${[HEAD, "## Events", EVENT_TEXT, events.join("\n"), "## Methods", ...methods].join("\n\n")}\n`;
}

const HEAD = `# RPC

The methods of the gateway, for WebSocket and HTTP. This page is generated from the method table in \`src/rpc/contract.ts\` (\`npx vitest run src/rpc -u\`). [gateway.md](gateway.md) explains how to start the gateway, where the token is and how frames look.

A parameter or field marked _optional_ may be missing. Unknown parameters are refused. Times are milliseconds since 1970. Errors have the shape \`{code, kind, message, hint?, retryable, data?}\`; \`code\` is for programs and does not change, \`kind\` is the category of the failure.

Permissions: \`read\` shows data, \`write\` sends messages and changes settings, \`admin\` removes sessions and starts programs. A connection has all of them unless it asks for fewer.`;

const EVENT_TEXT =
  'After `events.subscribe`, a WebSocket receives frames `{type: "event", event, payload, seq}`. The payload is the whole event, with `type`, `agentId`, `sessionKey` and, for a turn, `itemId`.';

function toSchema(schema: z.ZodType, io: "input" | "output"): Schema {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" }) as Schema;
}

function section(title: string, schema: Schema, none: string): string[] {
  const lines = fields(schema, 0);
  return lines.length === 0 ? [`${title}: ${none}.`] : [`${title}:`, lines.join("\n")];
}

function fields({ properties = {}, required = [] }: Schema, level: number): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const notes = [
      typeText(schema),
      ...(required.includes(name) || schema.default !== undefined ? [] : ["_optional_"]),
      ...(schema.default === undefined ? [] : [`default \`${JSON.stringify(schema.default)}\``]),
    ].join(", ");
    const described = schema.description ?? schema.items?.description;
    const line = `${"  ".repeat(level)}- \`${name}\` (${notes})${described === undefined ? "" : `: ${described}`}`;
    return [line, ...fields(schema.items ?? schema, level + 1)];
  });
}

function typeText(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(" or ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(" or ");
  if (schema.type === "array") return `list of ${typeText(schema.items ?? {})}`;
  return schema.type === "integer" ? "whole number" : (TYPE_WORDS[schema.type ?? ""] ?? schema.type ?? "object");
}

const TYPE_WORDS: Record<string, string> = { string: "text", boolean: "yes or no" };
