/**
 * The contract of `src/store/store.ts` as tests. Every implementation calls this once per
 * way of opening it. Every promise of the contract is tested here, for all stores.
 */
import { describe } from "vitest";
import { describeChanges } from "./changes-suite.ts";
import { describeDocuments } from "./documents-suite.ts";
import { describeEntries } from "./entries-suite.ts";
import { describeHandoffs } from "./handoffs-suite.ts";
import { describeHostileInput } from "./hostile-suite.ts";
import { describeInbox } from "./inbox-suite.ts";
import { describeLeases } from "./leases-suite.ts";
import { describeListing } from "./listing-suite.ts";
import { describeMedia } from "./media-suite.ts";
import { describeOutbox } from "./outbox-suite.ts";
import { describePending } from "./pending-suite.ts";
import type { MakeStore } from "./store-fixture.ts";
import { describeTranscripts } from "./transcripts-suite.ts";
import { describeWindows } from "./windows-suite.ts";

export function describeStoreContract(name: string, makeStore: MakeStore): void {
  describe(`store contract: ${name}`, () => {
    describeEntries(makeStore);
    describeHostileInput(makeStore);
    describeListing(makeStore);
    describeWindows(makeStore);
    describeLeases(makeStore);
    describeInbox(makeStore);
    describeOutbox(makeStore);
    describeHandoffs(makeStore);
    describePending(makeStore);
    describeChanges(makeStore);
    describeTranscripts(makeStore);
    describeDocuments(makeStore);
    describeMedia(makeStore);
  });
}
