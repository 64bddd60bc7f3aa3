import { expect, it } from "vitest";
import { channelLine, toChannelRecord } from "./channel-view.ts";

it("names a channel once, and its account unless it is the default", () => {
  const status = { state: "starting", text: "WhatsApp: connecting." } as const;
  expect(channelLine({ channel: "whatsapp", accountId: "default", status })).toBe("WhatsApp: connecting.");
  expect(channelLine({ channel: "whatsapp", accountId: "work", status })).toBe("WhatsApp (work): connecting.");
  expect(channelLine({ channel: "fax", accountId: "default", status })).toBe("fax: WhatsApp: connecting.");
});

it("omits login codes", () => {
  const status = { state: "starting", text: "scan it", loginCode: "2@secret" } as const;
  const record = toChannelRecord([{ channel: "whatsapp", accountId: "default", agentId: "main", status }]);
  expect(record).toEqual({
    whatsapp: {
      configured: true,
      running: false,
      accounts: { default: { agentId: "main", state: "starting", text: "scan it" } },
    },
  });
});
