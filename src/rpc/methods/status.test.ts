import { expect, it } from "vitest";
import { createGatewayHome } from "../../../test/support/gateway-home.ts";
import { KEY, caller } from "../../../test/support/gateway-requests.ts";
import { withSessionLease } from "../../session/lease.ts";

it("status counts messages that an earlier process left, before this one has looked at them", async () => {
  await using home = await createGatewayHome();
  const { inbox } = home.agent.store;
  for (const messageId of ["1", "2", "3"]) {
    const address = { channel: "web", accountId: "default", chatId: KEY, messageId };
    await inbox.admit({ key: KEY, address, payload: {}, receivedAt: 0 });
  }
  // Its process died during the first one.
  await withSessionLease(home.agent, KEY, {}, async ({ lease }) => await inbox.claim(lease, { limit: 1 }));
  const { turns } = await caller(home).call("status", {});
  expect(turns).toMatchObject({ running: [], queued: 3 });
});
