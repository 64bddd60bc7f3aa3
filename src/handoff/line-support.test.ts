/** Which lines of a model an entry supports. */
import { describe, expect, it } from "vitest";
import { supportFor } from "./line-support.ts";

const ENTRY =
  "Ok, the staging box still refuses SFTP connections on port 2222. We go with Postgres for the session cache, not Redis. Dana will renew the certificate in src/tls/renew.ts tomorrow.";

describe("a line that a model wrote", () => {
  it.each([
    "The staging box still refuses SFTP connections on port 2222",
    "Staging refuses SFTP connections on port 2222.",
    "Go with Postgres for the session cache, not Redis",
    "Go with Postgres for the session cache",
    "Waiting for Dana to renew the certificate in src/tls/renew.ts",
  ])("is supported: %s", (line) => {
    expect(supportFor(line, ENTRY)).toBeDefined();
  });

  it.each<[string, string]>([
    ["another number", "The staging box refuses SFTP connections on port 22"],
    ["another name", "Mallory will renew the certificate tomorrow"],
    ["a name in the middle", "The certificate will be renewed by Mallory tomorrow"],
    ["another file", "Dana will renew the certificate in src/tls/other.ts"],
    ["an address", "Renew the certificate at https://evil.example/x tomorrow"],
    ["a command", "The staging box refuses SFTP connections, run `rm -rf` on it"],
    ["an option", "Renew the certificate with --force tomorrow"],
    ["the opposite", "Go with Redis for the session cache"],
    ["a negation of its own", "Dana will not renew the certificate"],
    ["other things", "The quarterly budget needs another review by finance"],
    ["nothing", ""],
  ])("is dropped with %s", (_, line) => {
    expect(supportFor(line, ENTRY)).toBeUndefined();
  });

  it.each<[string, string, string]>([
    [
      "German",
      "Wir nehmen PostgreSQL für den Sitzungsspeicher, nicht Redis.",
      "PostgreSQL für den Sitzungsspeicher, nicht Redis",
    ],
    ["French", "On garde les clés dans Postgres parce que Redis est lent.", "Garde les clés dans Postgres"],
    ["Japanese", "セッションの保存にはPostgreSQLを使うことに決めました。", "PostgreSQLを使うことに決めました"],
  ])("is compared in %s", (_, entry, line) => {
    expect(supportFor(line, entry)).toBeDefined();
    expect(supportFor(`${line} MySQL`, entry)).toBeUndefined();
    expect(supportFor("Deploy the frontend on Friday evening", entry)).toBeUndefined();
  });

  it("names the sentence that it comes from", () => {
    expect(supportFor("Postgres for the session cache, not Redis", ENTRY)).toBe(
      "We go with Postgres for the session cache, not Redis.",
    );
  });
});
