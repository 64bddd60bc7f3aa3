/** Passwords in lines whose form says what they are. */
import { createRedaction } from "./behind.ts";

/** A compiler writes of files what others write of hosts: `main.go:1234:warning:…`. */
const FILE_ENDING = String.raw`\.(?:[cm]?[jt]sx?|go|py|rs|rb|java|kts?|swift|[ch](?:pp|xx|c|h|s)?|php|scala|dart|lua|zig|exs?|hs|mm?|sh|sql|tf|proto|vue|svelte|s?css|less|html?|xml|ya?ml|json|toml|md|txt|log)`;

/** Only there may the sentence around it go on. */
const BEHIND_USUAL_PORT = String.raw`(?<=:(?:543\d|6432|\*):[^\s:]{1,64}:[^\s:]{1,64}:)`;
const ENDS_LINE = String.raw`(?=[^\s"'\x60]{1,256}(?:["'\x60]|\s{0,4}$|[ \t]{0,4}\r?\n))`;

/** From the first colon on, which is rarer than a word, up to where the password begins. */
const LINES: readonly string[] = [
  // `.pgpass`: host, port, database, user.
  String.raw`(?:\d{4,5}|\*):(?<=(?:^|[\s"'\x60(])[\w.*-]{1,128}:[\d*]{1,5}:)(?<!${FILE_ENDING}:\d{1,5}:)(?=[\w.-]{0,63}[A-Za-z*])[\w.*-]{1,64}:(?=[\w.@-]{0,63}[A-Za-z])[\w.@-]{1,64}:(?=[^\s:/*])(?:${BEHIND_USUAL_PORT}|${ENDS_LINE})`,
  // As lists of accounts have them: `name@host:password`.
  String.raw`(?<=(?:^|\n)[ \t]{0,8}(?!git@)[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2,12}:)(?=[^\s\d]{0,64}\d)(?=[^\s/.:]{5,64}(?:\s|$))(?!\d{1,5}\s)`,
  // Postfix' map of relays: `[host]:port user:password`.
  String.raw`(?<=\.[A-Za-z]{2,24}\]:)\d{2,5}[ \t]{1,20}[^\s:]{1,128}:`,
  // Oracle's addresses: `user/password@host`.
  String.raw`(?<=jdbc:)oracle:\w{2,6}:[\w$#.-]{1,64}\/(?=[^\s/]{2,128}@)`,
  // What a phone scans to enter a wireless network.
  String.raw`(?<=WIFI:)(?:[A-Z]:[^;\s]{0,64};){1,4}P:(?=[^\s;]{2,64};)`,
];

export const redactLines = createRedaction({ before: `:(?:${LINES.join("|")})`, mark: /:[\d*o]|WIFI:|@/ });
