/** `holdfast channels pending|approve|revoke`: whom the owner lets in. Works whether a gateway runs or not. */
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { ApprovedSender, PairingSender, PairingStore } from "../../channels/pairing-store.ts";
import { configuredAccounts } from "../../config/channel-accounts.ts";
import { channelsFolder } from "../../config/layout.ts";
import { parseChoice } from "../arguments.ts";
import { type Setup, loadSetup } from "../context.ts";
import { formatAge, print, printJson, printTable, talk } from "../output.ts";

export const CHANNEL_NAMES = ["telegram", "discord", "whatsapp"] as const;
type ChannelName = (typeof CHANNEL_NAMES)[number];

interface PairingOptions {
  json?: boolean;
  account?: string;
}

export async function pending(options: { json?: boolean; channel?: string }): Promise<void> {
  const setup = await loadSetup();
  const wanted = options.channel === undefined ? undefined : parseChoice("--channel", options.channel, CHANNEL_NAMES);
  const accounts = configuredAccounts(setup.config).filter(({ name }) => wanted === undefined || name === wanted);
  const lists = await Promise.all(
    accounts.map(async ({ name, accountId }) => {
      const requests = await (await openPairing(setup, name, accountId)).pending();
      return requests.map((request) => ({ channel: name, accountId, ...request }));
    }),
  );
  const requests = lists.flat();
  if (options.json === true) return printJson({ schema: 1, count: requests.length, requests });
  if (requests.length === 0) {
    talk(
      accounts.length === 0 ? "No channel is configured: `holdfast channels status` tells how." : "Nobody is waiting.",
    );
    return;
  }
  printTable(
    [
      { title: "CHANNEL" },
      { title: "ACCOUNT" },
      { title: "CODE" },
      { title: "WHO", flexible: true },
      { title: "GOOD FOR", align: "right" },
    ],
    requests.map((request) => [
      request.channel,
      request.accountId,
      request.code,
      describeSender(request),
      formatAge(request.expiresAt - Date.now()),
    ]),
  );
  talk(`Let one in: holdfast channels approve ${requests[0]?.channel} <code>`);
}

export async function approve(rawChannel: string, code: string, options: PairingOptions): Promise<void> {
  const { channel, accountId, store } = await choose(rawChannel, options, async (candidate) => {
    const requests = await candidate.pending();
    return requests.some((request) => request.code === code.trim().toUpperCase());
  });
  const sender: ApprovedSender = await store.approve(code);
  if (options.json === true) return printJson({ schema: 1, ok: true, channel, accountId, sender });
  print(`${describeSender(sender)} can write to the agent on ${channel} now.`);
}

export async function revoke(rawChannel: string, id: string, options: PairingOptions): Promise<void> {
  const { channel, accountId, store } = await choose(rawChannel, options, async (candidate) => {
    const senders = await candidate.approved();
    return senders.some((sender) => sender.id === id);
  });
  if (!(await store.revoke(id))) {
    throw new HoldfastError("not-found", "sender-unknown", `Nobody with the id "${id}" was let in on ${channel}`, {
      hint: `Those of the allow list are in the configuration: holdfast config get channels.${channel}.${accountId}.allowFrom`,
      data: { channel, accountId, id },
    });
  }
  if (options.json === true) return printJson({ schema: 1, ok: true, channel, accountId, id });
  print(`${id} cannot write to the agent on ${channel} any more.`);
}

interface ChosenAccount {
  channel: ChannelName;
  accountId: string;
  store: PairingStore;
}

/** The account that is named, else the one that knows the person, else the first. */
async function choose(
  rawChannel: string,
  { account }: PairingOptions,
  knows: (store: PairingStore) => Promise<boolean>,
): Promise<ChosenAccount> {
  const channel = parseChoice("The channel", rawChannel, CHANNEL_NAMES);
  const setup = await loadSetup();
  const accountIds = account === undefined ? accountsOf(setup, channel) : [requireAccount(setup, channel, account)];
  const chosen = await Promise.all(
    accountIds.map(async (accountId) => ({ channel, accountId, store: await openPairing(setup, channel, accountId) })),
  );
  for (const candidate of chosen) if (await knows(candidate.store)) return candidate;
  const [first] = chosen;
  if (first !== undefined) return first;
  throw noSuchAccount(setup, channel, "default");
}

function accountsOf({ config }: Setup, channel: ChannelName): string[] {
  return Object.keys(config.channels[channel]);
}

/** A name that is not configured would make a file that nobody reads. */
export function requireAccount(setup: Setup, channel: ChannelName, accountId: string): string {
  if (accountsOf(setup, channel).includes(accountId)) return accountId;
  throw noSuchAccount(setup, channel, accountId);
}

function noSuchAccount(setup: Setup, channel: ChannelName, accountId: string): HoldfastError {
  const known = accountsOf(setup, channel);
  return new HoldfastError("not-found", "account-not-found", `${channel} has no account "${accountId}"`, {
    hint:
      known.length === 0
        ? `Configure one: holdfast config set channels.${channel}.${accountId} '{}'`
        : `There is ${known.join(", ")}.`,
    data: { channel, accountId },
  });
}

async function openPairing({ home }: Setup, channel: ChannelName, accountId: string): Promise<PairingStore> {
  const { createPairingStore } = await import("../../channels/pairing-store.ts");
  return createPairingStore({ folder: channelsFolder(home), channel, accountId, clock: systemClock });
}

function describeSender({ id, name, username }: PairingSender): string {
  const known = [name, username === undefined ? undefined : `@${username}`].filter((part) => part !== undefined);
  return known.length === 0 ? id : `${known.join(" ")} (${id})`;
}
