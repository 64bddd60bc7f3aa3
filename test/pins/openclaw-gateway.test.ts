/**
 * Recorded answers of OpenClaw 2026.1.30's gateway (test/fixtures/openclaw/rpc), compared with the method table. Each
 * member that ours lack is listed in docs/openclaw-compatibility.md.
 */
import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import type { z } from "zod";
import { METHODS, type MethodName } from "../../src/rpc/contract.ts";
import { sample } from "../support/gateway-requests.ts";

const page = readFileSync(new URL("../../docs/openclaw-compatibility.md", import.meta.url), "utf8");
const [, table = ""] = /^### Answers$([\s\S]*?)^###? /m.exec(page) ?? [];
const listed = new Map(
  Array.from(table.matchAll(/^\| `([\w.]+)` +\| (`.+?) +\|/gm), ([, method = "", members = ""]) => [
    method,
    Array.from(members.matchAll(/`([^`]+)`/g), ([, member = ""]) => member),
  ]),
);

it("lists every member that an answer lacks", () => {
  const lacking = new Map<string, Set<string>>();
  for (const file of readdirSync(new URL("../fixtures/openclaw/rpc/", import.meta.url))) {
    const name = file.replace(/\.json$/, "");
    const method = methodOf(name);
    const members = lackingMembers(METHODS[method].result, sample(name));
    if (members.length === 0) continue;
    lacking.set(method, new Set([...(lacking.get(method) ?? []), ...members]));
  }
  expect(listed).toEqual(new Map(Array.from(lacking, ([method, members]) => [method, [...members].toSorted()])));
});

/** `sessions.list` for `sessions.list`, `agent` for `agent.to`. */
function methodOf(name: string): MethodName {
  const method = Object.keys(METHODS).findLast((known) => name === known || name.startsWith(`${known}.`));
  return method as MethodName;
}

function lackingMembers(schema: z.core.$ZodType, value: unknown, at = ""): string[] {
  const { def } = schema as unknown as { def: Definition };
  if (def.innerType !== undefined) return lackingMembers(def.innerType, value, at);
  if (def.type === "array" && def.element !== undefined) {
    if (!Array.isArray(value)) return [at];
    const { element } = def;
    return [...new Set(value.flatMap((item) => lackingMembers(element, item, `${at}[]`)))];
  }
  // Other shapes, such as a session's entry, belong to the page on formats.
  if (def.type !== "object" || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = at === "" ? name : `${at}.${name}`;
    const known = def.shape?.[name];
    return known === undefined ? [place] : lackingMembers(known, inner, place);
  });
}

interface Definition {
  type: string;
  innerType?: z.core.$ZodType;
  element?: z.core.$ZodType;
  shape?: Record<string, z.core.$ZodType>;
}
