/** Where an answer goes: `channel:<id>`, `user:<id>`, or what `From` says (`discord:<user id>`, `discord:channel:<id>`). */
import { HoldfastError } from "../../base/errors.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import { isSnowflake } from "./snowflake.ts";

export type DiscordTarget = { kind: "channel"; id: string } | { kind: "user"; id: string };

export function parseDiscordTarget({ to, threadId, chatType }: DeliveryTarget): DiscordTarget {
  // To Discord a thread is a channel.
  if (threadId !== undefined) return { kind: "channel", id: checked(String(threadId), String(threadId)) };
  const [prefix, address] = /^discord:/i.test(to.trim())
    ? ["user", to.trim().slice("discord:".length)]
    : ["", to.trim()];
  const [, word = "", id = ""] = /^(?:([a-z]+):)?(.*)$/i.exec(address) ?? [];
  const named = word === "" ? prefix : word.toLowerCase();
  const isUser = ["user", "dm", "direct"].includes(named) || (named === "" && chatType === "direct");
  if (!isUser && !["", "channel", "group", "thread"].includes(named)) throw unknownTarget(to);
  return { kind: isUser ? "user" : "channel", id: checked(id, to) };
}

function checked(id: string, to: string): string {
  if (!isSnowflake(id)) throw unknownTarget(to);
  return id;
}

function unknownTarget(to: string): HoldfastError {
  return new HoldfastError("usage", "discord-target", `Not a Discord address: ${to}`, {
    hint: "Write channel:<id> or user:<id>. Discord shows ids once Developer Mode is on (Settings, Advanced).",
    data: { to },
  });
}
