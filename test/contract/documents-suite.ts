import { describe, expect, it } from "vitest";
import type { Documents } from "../../src/store/documents.ts";
import type { Store } from "../../src/store/store.ts";
import type { MakeStore } from "./store-fixture.ts";

/** One of the places where a store has documents. */
function documentsOf({ transcripts }: Store): Documents {
  return transcripts.manifests;
}

function increment(text = "0") {
  return { value: Number(text), text: String(Number(text) + 1) };
}

export function describeDocuments(makeStore: MakeStore): void {
  describe("documents", () => {
    it("are read by every handle, and nothing is there before", async () => {
      await using fixture = await makeStore();
      const documents = documentsOf(fixture.store);
      expect(await documents.names()).toEqual([]);
      expect(await documents.read("a.json")).toBeUndefined();
      await documents.remove("a.json");
      await documents.write("b.json", "1");
      await documents.write("a.json", '{"a":"ä\\u0000"}\n');
      await documents.write("b.json", "2");
      const second = documentsOf(await fixture.reopen());
      expect(await second.names()).toEqual(["a.json", "b.json"]);
      expect(await second.read("a.json")).toBe('{"a":"ä\\u0000"}\n');
      expect(await second.read("b.json")).toBe("2");
      expect(second.locationOf("b.json")).toContain("b.json");
      await second.remove("b.json");
      expect(await documents.names()).toEqual(["a.json"]);
    });

    it("are added only under a free name", async () => {
      await using fixture = await makeStore();
      const documents = documentsOf(fixture.store);
      expect(await documents.add("a.json", "1")).toBe(true);
      expect(await documentsOf(await fixture.reopen()).add("a.json", "2")).toBe(false);
      expect(await documents.read("a.json")).toBe("1");
    });

    it("are changed one after the other", async () => {
      await using fixture = await makeStore();
      const one = documentsOf(fixture.store);
      const other = documentsOf(await fixture.reopen());
      const changes = Array.from({ length: 20 }, async (_, index) => {
        return await (index % 2 === 0 ? one : other).update("count.json", increment);
      });
      const seen = await Promise.all(changes);
      expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
      expect(await one.read("count.json")).toBe("20");
    });

    it("stay as they are if an edit fails or changes nothing", async () => {
      await using fixture = await makeStore();
      const documents = documentsOf(fixture.store);
      await documents.write("a.json", "1");
      const failing = documents.update("a.json", () => {
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await documents.update("a.json", (text) => ({ value: text }))).toBe("1");
      expect(await documents.update("b.json", (text) => ({ value: text }))).toBeUndefined();
      expect(await documents.names()).toEqual(["a.json"]);
    });

    it("are kept when they are set aside", async () => {
      await using fixture = await makeStore();
      const documents = documentsOf(fixture.store);
      await documents.write("a.json", "half");
      await documents.setAside("a.json", "corrupt");
      expect(await documents.names()).toEqual([]);
      expect(await documents.add("a.json", "whole")).toBe(true);
    });

    it("belong to one agent", async () => {
      await using fixture = await makeStore();
      await documentsOf(fixture.store).write("a.json", "1");
      expect(await documentsOf(await fixture.openOther("other")).names()).toEqual([]);
    });
  });
}
