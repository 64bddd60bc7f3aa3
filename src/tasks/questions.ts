/**
 * Permission questions of running tasks. A question is open while its process waits; it dies with the process, so it
 * is never asked twice. Without an answer in time it counts as denied. Another gateway on the same home stores its
 * answer in the task, and the process that asks takes it from there.
 */
import type { Clock } from "../base/clock.ts";
import type { PermissionAnswer, PermissionQuestion } from "../claude/protocol/messages.ts";
import { askedDetail } from "../claude/runner/run-events.ts";
import { printableLine } from "../base/text.ts";
import { processState } from "../base/processes.ts";
import { redactText } from "../base/redact.ts";
import type { Store } from "../store/store.ts";
import { type Task, type Verdict, taskIdOf } from "./task.ts";
import type { TaskEntries } from "./task-entries.ts";
import { questionButtons, questionText } from "./task-messages.ts";
import { QUESTION_STEP, type TaskMessenger } from "./task-messenger.ts";

interface QuestionsOptions {
  clock: Clock;
  messenger: TaskMessenger;
  entries: TaskEntries;
  store: Pick<Store, "onChange">;
  timeoutMinutes: number;
}

interface OpenQuestion {
  code: string;
  task: Task;
  settle: (verdict: Verdict) => void;
}

export type Questions = ReturnType<typeof createQuestions>;

const CODE_LENGTH = 4;
/** A change of the store may be missed. */
const LOOK_MS = 3000;

export function createQuestions({ clock, messenger, entries, store, timeoutMinutes }: QuestionsOptions) {
  const { change } = entries;
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

  /** Takes an answer that another process has stored. */
  const lookElsewhere = ({ code, task: { key }, settle }: OpenQuestion): Disposable => {
    const look = (): void => {
      entries.get(key).then(
        (task) => {
          const { question } = task?.state ?? {};
          if (question?.code === code && question.answer !== undefined) settle(question.answer);
        },
        () => undefined,
      );
    };
    const timer = setInterval(look, LOOK_MS).unref();
    const unsubscribe = store.onChange((changed) => {
      if (changed.what === "entry" && changed.key === key) look();
    });
    return {
      [Symbol.dispose]: () => {
        clearInterval(timer);
        unsubscribe();
      },
    };
  };

  /** Open questions of this process and of others. */
  const openFor = async (conversation: string): Promise<{ code: string; answer: (verdict: Verdict) => unknown }[]> => {
    const own = [...open.values()].filter(({ task }) => task.conversation === conversation);
    const others = (await entries.list(conversation)).filter(isOpenElsewhere).flatMap(({ key, state }) => {
      const code = state.question?.code;
      return code === undefined || open.has(code) ? [] : [{ code, answer: storeAnswer(key, code) }];
    });
    return [...own.map(({ code, settle }) => ({ code, answer: settle })), ...others];
  };

  const storeAnswer = (key: string, code: string) => async (answer: Verdict) =>
    await change(key, (state) =>
      state.question?.code === code ? { ...state, question: { ...state.question, answer } } : undefined,
    );

  return {
    async ask(task: Task, question: PermissionQuestion, withdrawn: AbortSignal): Promise<PermissionAnswer> {
      const code = newCode(task);
      const { promise, resolve: settle } = Promise.withResolvers<Verdict>();
      const mine = { code, task, settle };
      open.set(code, mine);
      const tool = printableLine(question.tool, 60);
      const shown = { code, tool, detail: redactText(askedDetail(question)), askedAt: clock.now() };
      await change(task.key, (state) => ({ ...state, question: shown }));
      try {
        using _elsewhere = lookElsewhere(mine);
        const text = questionText(task, question);
        const message = await messenger.send(task, `${QUESTION_STEP}:${code}`, text, questionButtons(code));
        const verdict = await wait(promise, withdrawn);
        open.delete(code);
        // Without its buttons, because it cannot be answered again.
        messenger.replace(task, message, `${text}\n${verdict === undefined ? UNANSWERED : ANSWERS[verdict]}`);
        return toAnswer(verdict, timeoutMinutes);
      } finally {
        open.delete(code);
        await change(task.key, ({ question: _answered, ...state }) => state);
      }
    },
    /** The sender was checked: only people who may command the agent get here. */
    async answer(conversation: string, verdict: Verdict, code?: string): Promise<string> {
      const mine = await openFor(conversation);
      const wanted = code === undefined || code === "" ? mine : mine.filter((one) => one.code === code);
      const [first, second] = wanted;
      if (first === undefined) return "This question is no longer open.";
      if (second !== undefined) {
        return `Several questions are open. Add the code: ${wanted.map((one) => one.code).join(", ")}.`;
      }
      await first.answer(verdict);
      open.delete(first.code);
      return ANSWERS[verdict];
    },
    codes: async (conversation: string): Promise<string[]> => (await openFor(conversation)).map(({ code }) => code),
  };
}

/** The process that asks is alive, and has no answer yet. */
function isOpenElsewhere({ state: { question, process } }: Task): boolean {
  if (question === undefined || question.answer !== undefined || process === undefined) return false;
  return processState(process) !== "dead";
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
