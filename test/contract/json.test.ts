import { agentLayout } from "../../src/config/layout.ts";
import { createJsonStore } from "../../src/store/json/json-store.ts";
import { describeStoreConcurrency } from "./concurrency-suite.ts";
import { createStoreFixture } from "./store-fixture.ts";
import { describeStoreContract } from "./store-suite.ts";

describeStoreContract("json", () =>
  createStoreFixture(({ home, ...options }) =>
    createJsonStore({ ...options, path: agentLayout(home, options.agentId).sessionsFile }),
  ),
);

describeStoreConcurrency("json");
