/**
 * Permission questions of running tasks. A question is open while its process waits; it dies with the process, so it
 * is never asked twice. Without an answer in time it counts as denied.
 */
import type { Clock } from "../base/clock.ts";
import type { PermissionAnswer, PermissionQuestion } from "../claude/protocol/messages.ts";
import { toolDetail } from "../claude/runner/run-events.ts";
import { printableLine } from "../base/text.ts";
import type { TaskState } from "../store/entry-schema.ts";
import { type Task, type Verdict, taskIdOf } from "./task.ts";
import { questionButtons, questionText } from "./task-messages.ts";
import { QUESTION_STEP, type TaskMessenger } from "./task-messenger.ts";

interface QuestionsOptions {
  clock: Clock;
  messenger: TaskMessenger;
  timeoutMinutes: number;
  change: (key: string, next: (state: TaskState) => TaskState | undefined) => Promise<Task | undefined>;
}

interface OpenQuestion {
  code: string;
  task: Task;
  settle: (verdict: Verdict) => void;
}

const CODE_LENGTH = 4;

export function createQuestions({ clock, messenger, timeoutMinutes, change }: QuestionsOptions) {
  const open = new Map<string, OpenQuestion>();
  let asked = 0;

  const newCode = (task: Task): string => {
    const code = taskIdOf(`${task.key}\n${(asked += 1)}\n${clock.now()}`, CODE_LENGTH);
    return open.has(code) ? newCode(task) : code;
  };

  const wait = async (settled: Promise<Verdict>, withdrawn: AbortSignal): Promise<Verdict | undefined> => {
    const ended = new AbortController();
    const signal = AbortSignal.any([withdrawn, ended.signal]);
    const late = clock.sleep(timeoutMinutes * 60_000, signal).catch(() => undefined);
    try {
      return await Promise.race([settled, late.then(() => undefined)]);
    } finally {
      ended.abort();
    }
  };

  return {
    async ask(task: Task, question: PermissionQuestion, withdrawn: AbortSignal): Promise<PermissionAnswer> {
      const code = newCode(task);
      const { promise, resolve: settle } = Promise.withResolvers<Verdict>();
      open.set(code, { code, task, settle });
      const { tool, input } = question;
      const shown = { code, tool: printableLine(tool, 60), detail: toolDetail(input), askedAt: clock.now() };
      await change(task.key, (state) => ({ ...state, question: shown }));
      try {
        const text = questionText(task, question);
        const message = await messenger.send(task, `${QUESTION_STEP}:${code}`, text, questionButtons(code));
        const verdict = await wait(promise, withdrawn);
        open.delete(code);
        // Without its buttons, so that nobody answers it again.
        messenger.replace(task, message, `${text}\n${verdict === undefined ? UNANSWERED : ANSWERS[verdict]}`);
        return toAnswer(verdict, timeoutMinutes);
      } finally {
        open.delete(code);
        await change(task.key, ({ question: _answered, ...state }) => state);
      }
    },
    /** The sender was checked: only people who may command the agent get here. */
    async answer(conversation: string, verdict: Verdict, code?: string): Promise<string> {
      const mine = [...open.values()].filter(({ task }) => task.conversation === conversation);
      const wanted = code === undefined || code === "" ? mine : mine.filter((one) => one.code === code);
      const [first, second] = wanted;
      if (first === undefined) return "There is no such question any more.";
      if (second !== undefined) {
        return `Several questions are open. Add the code: ${wanted.map((one) => one.code).join(", ")}.`;
      }
      first.settle(verdict);
      open.delete(first.code);
      return await Promise.resolve(ANSWERS[verdict]);
    },
    onlyOpen(conversation: string): string | undefined {
      const [first, second] = [...open.values()].filter(({ task }) => task.conversation === conversation);
      return second === undefined ? first?.code : undefined;
    },
  };
}

const ANSWERS: Record<Verdict, string> = {
  allow: "Allowed once.",
  always: "Allowed for the rest of this task.",
  deny: "Denied.",
};

const UNANSWERED = "Not answered, so not allowed.";

function toAnswer(verdict: Verdict | undefined, minutes: number): PermissionAnswer {
  switch (verdict) {
    case "allow":
      return { allow: "once" };
    case "always":
      return { allow: "session" };
    case "deny":
      return { deny: "The person did not allow this." };
    default:
      return { deny: `No one answered within ${minutes} minutes.` };
  }
}
