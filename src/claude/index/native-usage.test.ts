/** Tokens and costs of sessions, with each message counted once. */
import { appendFile, rm, stat } from "node:fs/promises";
import { expect, it } from "vitest";
import {
  THREE_LINES,
  answer,
  file,
  id,
  createIndexHome,
  toText,
  time,
  writeLines,
} from "../../../test/support/native-home.ts";

it("counts a message of a fork for the session that had it first", async () => {
  await using home = await createIndexHome();
  await writeLines(
    home.transcript(file(2)),
    { type: "mode", timestamp: time(50) },
    ...THREE_LINES,
    answer("m4", 9, 51),
  );
  await home.index().refresh();
  expect(home.index().get(id(2))).toMatchObject({ tokens: { input: 30, output: 19 } });
  await writeLines(home.transcript(file(1)), ...THREE_LINES, answer("m3", 7, 3));
  await home.index().refresh();
  expect(home.index().get(id(1))).toMatchObject({ tokens: { input: 30, output: 17 } });
  expect(home.index().get(id(1))?.forkedFrom).toBeUndefined();
  expect(home.index().get(id(2))).toMatchObject({ tokens: { input: 10, output: 9 }, forkedFrom: id(1) });
  // Both continue.
  await appendFile(home.transcript(file(1)), toText(answer("m5", 1, 60)));
  await appendFile(home.transcript(file(2)), toText(answer("m6", 2, 61)));
  await home.index().refresh();
  expect(
    home
      .index()
      .usage({ by: "session" })
      .map(({ group, output }) => [group, output]),
  ).toEqual([
    [id(1), 18],
    [id(2), 11],
  ]);
  // Only the fork is left.
  await rm(home.transcript(file(1)));
  await home.index().refresh();
  const left = home.index().get(id(2));
  expect([left?.tokens.output, left?.forkedFrom]).toEqual([21, undefined]);
});

it("adds the usage of subagents", async () => {
  await using home = await createIndexHome();
  await writeLines(home.transcript(file(1)), ...THREE_LINES);
  await writeLines(home.transcript(`${id(1)}/subagents/agent-x.jsonl`), answer("s1", 40, 3));
  await home.index().refresh();
  expect([...home.index().list({ limit: 5 })]).toMatchObject([{ subagentCount: 1, tokens: { input: 30, output: 50 } }]);
  expect(home.index().usage({ by: "folder" })).toMatchObject([
    { group: "/repo", output: 50, messages: 3, unpricedTokens: 0 },
  ]);
});

it("gives costs only for known prices", async () => {
  await using home = await createIndexHome();
  await writeLines(home.transcript(file(1)), ...THREE_LINES);
  await writeLines(home.transcript(file(2)), {
    ...answer("x", 5),
    message: { ...answer("x", 5).message, model: "gpt-next" },
  });
  await home.index().refresh();
  expect(home.index().get(id(1))?.costUsd).toBeCloseTo((20 * 5 + 10 * 25) / 1e6, 12);
  expect(home.index().get(id(2))?.costUsd).toBeUndefined();
  expect(home.index().usage({ by: "model" })).toMatchObject([
    { group: "claude-opus-4-5-20251101", unpricedTokens: 0 },
    { group: "gpt-next", unpricedTokens: 15 },
  ]);
});

it("reads forks next to their original once, and counts forks in other folders too", async () => {
  await using home = await createIndexHome();
  const paths = [home.transcript(file(1)), home.transcript(file(2)), home.transcript(file(3), "-other")];
  for (const [index, path] of paths.entries())
    await writeLines(path, ...THREE_LINES, answer(`own${index}`, 10, 3 + index));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const { bytesRead } = await home.index().refresh();
  const [, , elsewhere = 0] = sizes;
  expect(bytesRead).toBe(sizes.reduce((sum, size) => sum + size, 0) + elsewhere);
  const outputs = [1, 2, 3].map((number) => home.index().get(id(number))?.tokens.output);
  expect(outputs).toEqual([20, 10, 10]);
});
