/** The docs page matches the table, and the client runs in browsers. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderRpcPage } from "../../test/support/rpc-page.ts";
import { METHODS } from "./contract.ts";
import { HANDLERS } from "./dispatch.ts";

describe("docs/rpc.md", () => {
  it("matches the table", async () => {
    await expect(renderRpcPage()).toMatchFileSnapshot("../../docs/rpc.md");
  });

  it("has every method with what it takes and answers", () => {
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
