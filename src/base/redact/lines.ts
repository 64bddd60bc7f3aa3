/** Passwords in lines whose form says what they are. */
import { createRedaction } from "./behind.ts";

/** From the first colon on, which is rarer than a word, up to where the password begins. */
const LINES: readonly string[] = [
  // `.pgpass`: host, port, database, user.
  String.raw`(?:\d{4,5}|\*):(?<=(?:^|[\s"'\x60(])[\w.*-]{1,128}:[\d*]{1,5}:)(?=[\w.-]{0,63}[A-Za-z*])[\w.*-]{1,64}:(?=[\w.@-]{0,63}[A-Za-z])[\w.@-]{1,64}:(?=[^\s:/*])`,
  // As lists of accounts have them: `name@host:password`.
  String.raw`(?<=(?:^|\n)[ \t]{0,8}[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2,12}:)(?=[^\s\d]{0,64}\d)(?=[^\s/.:]{5,64}(?:\s|$))(?!\d{1,5}\s)`,
  // Postfix' map of relays: `[host]:port user:password`.
  String.raw`(?<=\]:)\d{2,5}[ \t]{1,20}[^\s:]{1,128}:`,
  // Oracle's addresses: `user/password@host`.
  String.raw`(?<=jdbc:)oracle:\w{2,6}:[\w$#.-]{1,64}\/(?=[^\s/]{2,128}@)`,
  // What a phone scans to enter a wireless network.
  String.raw`(?<=WIFI:)(?:[A-Z]:[^;\s]{0,64};){1,4}P:(?=[^\s;]{2,64};)`,
];

export const redactLines = createRedaction({ before: `:(?:${LINES.join("|")})`, mark: /:[\d*o]|WIFI:|@/ });
