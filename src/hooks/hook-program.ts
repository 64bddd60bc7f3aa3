/**
 * The process of a hook. A hook may loop, exit, throw anything or change global prototypes, so everything needed for the
 * answer is captured before it is loaded.
 */
import { type HookEvent, MAX_PRINTED_CHARACTERS, type ProgramAnswer, type ProgramRequest } from "./hook.ts";

const { parse, stringify } = JSON;
const write = process.stdout.write.bind(process.stdout);
const exit = process.exit.bind(process);
const MAX_REASON = 500;

const request = await readRequest();
process.on("uncaughtException", (error) => {
  answer({ failed: describe(error) });
  exit(1);
});
await run(request).then(answer, (error: unknown) => answer({ failed: describe(error) }));

async function readRequest(): Promise<ProgramRequest> {
  let text = "";
  for await (const piece of process.stdin.setEncoding("utf8")) text += String(piece);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only hook-processes.ts starts this program
  return parse(text) as ProgramRequest;
}

async function run({ handler: url, event }: ProgramRequest): Promise<ProgramAnswer> {
  const handler = handlerOf((await import(url)) as { default?: unknown });
  if (handler === undefined) return { failed: "its module has no function as default export" };
  if (event === undefined) return { result: { messages: [], bootstrapFiles: [] } };
  const given = event.context.bootstrapFiles ?? [];
  await handler(event);
  return { result: { messages: event.messages, bootstrapFiles: event.context.bootstrapFiles ?? given } };
}

type Handler = (event: HookEvent) => unknown;

/** The default export. CommonJS modules are wrapped once more. */
function handlerOf({ default: inner }: { default?: unknown }): Handler | undefined {
  const wrapped = typeof inner === "object" && inner !== null && "default" in inner ? inner.default : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its parameters cannot be checked
  return [inner, wrapped].find((candidate) => typeof candidate === "function") as Handler | undefined;
}

function answer(value: ProgramAnswer): void {
  let text: string;
  try {
    text = stringify(value);
  } catch {
    text = stringify({ failed: "its result is not valid JSON" });
  }
  if (text.length > MAX_PRINTED_CHARACTERS / 2) text = stringify({ failed: "its result is too much" });
  write(`\n${request.mark}${text}\n`);
}

function describe(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : `threw ${String(error)}`;
    return text.slice(0, MAX_REASON);
  } catch {
    return "threw something that cannot be displayed";
  }
}
