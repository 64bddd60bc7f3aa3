/** The asking side: a question to the process that holds a run. */
import { type Socket, createConnection } from "node:net";
import { ERROR_KINDS, type ErrorReport, HoldfastError, errorMessage } from "../../base/errors.ts";
import { type ControlAnswers, type ControlQuestion, parseAnswer } from "./control-protocol.ts";
import { throwIfCancelled } from "./wait-line.ts";

export interface AskOptions {
  /** Takes the question back; the answer then says how far it had come. */
  cancel?: AbortSignal | undefined;
  /** Left out: as long as it takes, which for a message can be an hour. */
  timeoutMs?: number;
}

export async function askHost<Op extends ControlQuestion["op"]>(
  socketPath: string,
  question: ControlQuestion & { op: Op },
  { cancel, timeoutMs }: AskOptions = {},
): Promise<ControlAnswers[Op]> {
  throwIfCancelled(cancel);
  const socket = createConnection(socketPath).setEncoding("utf8");
  // Any further line means that the question is taken back.
  const onCancel = (): void => void socket.write("cancel\n");
  cancel?.addEventListener("abort", onCancel, { once: true });
  if (timeoutMs !== undefined) socket.setTimeout(timeoutMs, () => socket.destroy(noAnswer(`none in ${timeoutMs} ms`)));
  try {
    socket.write(`${JSON.stringify(question)}\n`);
    const answer = parseAnswer(await readToEnd(socket));
    if (!answer.ok) throw fromReport(answer.error);
    return answer.result as ControlAnswers[Op];
  } catch (error) {
    throw error instanceof HoldfastError ? error : noAnswer(errorMessage(error));
  } finally {
    cancel?.removeEventListener("abort", onCancel);
    socket.destroy();
  }
}

async function readToEnd(socket: Socket): Promise<string> {
  let received = "";
  for await (const chunk of socket) received += String(chunk);
  return received;
}

function noAnswer(why: string): HoldfastError {
  return new HoldfastError(
    "unavailable",
    "run-not-reached",
    `The process that runs the session gave no answer: ${why}`,
    {
      hint: "Look whether it still runs (`holdfast cc list --running`) and try again.",
    },
  );
}

function fromReport(report: ErrorReport): HoldfastError {
  const kind = report.kind in ERROR_KINDS ? report.kind : "internal";
  return new HoldfastError(kind, report.code, report.message, { hint: report.hint, data: report.data });
}
