/**
 * Sends the messages of tasks: durably through the outbox, and into the transcript of the conversation, so that the
 * agent and the page know them. The status message is sent once and then edited, as far as the channel can.
 */
import { createKeyedMutex } from "../base/async.ts";
import type { Logger } from "../base/log.ts";
import type { Channel, MessageButton, MessageEdit } from "../channels/channel.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { mirrorDelivery } from "../session/transcript-changes.ts";
import type { DeliveryTarget, OutboxDraft, OutboxItem } from "../store/queues.ts";
import type { Task } from "./task.ts";
import { stopButton } from "./task-messages.ts";

export type TaskMessenger = ReturnType<typeof createTaskMessenger>;

export interface MessengerOptions {
  agent: AgentHandle;
  findChannel: (target: DeliveryTarget) => Channel | undefined;
  /** Splits a text for its channel. */
  draft: (request: { text: string; turnId: string; target: DeliveryTarget }) => Promise<OutboxDraft[]>;
  /** Remembers which outbox items belong to the task. */
  onQueued: (task: Task, outboxIds: readonly number[]) => Promise<void>;
  /** A task of this conversation has changed, or has written this text. */
  onChange: (conversation: string, text?: string) => void;
  logger: Logger;
}

export function createTaskMessenger(options: MessengerOptions) {
  const { agent, findChannel, draft, onQueued, logger } = options;
  const { outbox } = agent.store;
  const edits = createKeyedMutex();
  /** Outbox id and last text of the status messages of this process, by task key. */
  const statuses = new Map<string, { outboxId: number; text: string }>();

  const enqueue = async (task: Task, step: string, text: string, buttons: readonly MessageButton[]) => {
    const { target, conversation } = task;
    if (target === undefined) return [];
    const hasButtons = findChannel(target)?.capabilities.buttons === true;
    const shown = hasButtons ? text : withWords(text, buttons);
    const drafts = await draft({ text: shown, turnId: messageKey(task, step), target });
    const items = await outbox.enqueue(conversation, hasButtons ? withButtons(drafts, buttons) : drafts);
    const ids = items.map(({ id }) => id);
    await onQueued(task, ids);
    return items;
  };

  /** Waits for the delivery if `patienceMs` is given. False: the message cannot be edited yet. */
  const edit = async (task: Task, outboxId: number, message: MessageEdit, patienceMs = 0): Promise<boolean> => {
    const { target } = task;
    const channel = target === undefined ? undefined : findChannel(target);
    if (target === undefined || channel?.edit === undefined) return false;
    let item = await outbox.get(outboxId);
    for (let waited = 0; isOnItsWay(item) && waited < patienceMs; waited += DELIVERY_POLL_MS) {
      await agent.clock.sleep(DELIVERY_POLL_MS);
      item = await outbox.get(outboxId);
    }
    if (item?.deliveredId === undefined) return false;
    await channel.edit(target, item.deliveredId, message).catch((error: unknown) => {
      logger.warn("A message of a task could not be edited", { key: task.key, error });
    });
    return true;
  };

  /** Writes a message into the transcript of the conversation, and shows it to people who have it open. */
  const record = async (task: Task, step: string, text: string, buttons: readonly MessageButton[] = []) => {
    await mirrorDelivery(agent, { sessionKey: task.conversation, text, turnId: messageKey(task, step) });
    options.onChange(task.conversation, withWords(text, buttons));
  };

  return {
    /** For messages that reach the chat through another process. */
    record,

    /** Resolves to the outbox id of the message. Undefined: it is only in the transcript. */
    async send(
      task: Task,
      step: string,
      text: string,
      buttons: readonly MessageButton[] = [],
    ): Promise<number | undefined> {
      const items = await enqueue(task, step, text, buttons);
      await record(task, step, text, buttons);
      return items.at(-1)?.id;
    },

    /** A sign of life for channels that cannot edit. Like the status message, it is not in the transcript. */
    async note(task: Task, step: string, text: string): Promise<void> {
      await enqueue(task, step, text, []);
      options.onChange(task.conversation, text);
    },

    canShow: ({ target }: Task): boolean => target !== undefined && findChannel(target)?.edit !== undefined,

    /** Only for channels that can edit. A failed edit is logged: the next one, or the result, says the same. */
    async showStatus(task: Task, text: string): Promise<void> {
      if (!this.canShow(task)) return;
      await edits.run(task.key, async () => {
        const buttons = [stopButton(task)];
        const shown = statuses.get(task.key);
        if (shown === undefined) {
          const [item] = await enqueue(task, "status", text, buttons);
          if (item !== undefined) statuses.set(task.key, { outboxId: item.id, text });
        } else if (shown.text !== text && (await edit(task, shown.outboxId, { text, buttons }))) {
          shown.text = text;
        }
      });
    },

    /** The last edit: without buttons. It waits for the first delivery, which may be under way. */
    async endStatus(task: Task, text: string): Promise<void> {
      if (!this.canShow(task)) return;
      await edits.run(task.key, async () => {
        const known = statuses.get(task.key)?.outboxId;
        const outboxId = known ?? (await enqueue(task, "status", text, [])).at(0)?.id;
        if (outboxId !== undefined) await edit(task, outboxId, { text }, DELIVERY_PATIENCE_MS);
        statuses.delete(task.key);
      });
    },

    /** Replaces a sent message that needs no answer any more. */
    replace(task: Task, outboxId: number | undefined, text: string): void {
      if (outboxId === undefined) return;
      edit(task, outboxId, { text }).catch((error: unknown) => {
        logger.warn("A message of a task could not be replaced", { key: task.key, error });
      });
    },

    /** Questions of a dead process can no longer be answered, so those that were not sent yet are settled unsent. */
    async withdrawQuestions({ state }: Task): Promise<void> {
      for (const id of state.messages ?? []) {
        const item = await outbox.get(id);
        if (isOnItsWay(item) && item?.idempotencyKey.includes(`:${QUESTION_STEP}:`) === true)
          await outbox.delivered(id);
      }
    },

    /** Whether a message of this task has this id in this chat. `soon`: one is being sent, so its id is not known. */
    async isMessageOf({ state: { messages = [], untold } }: Task, messageId: string, chat: DeliveryTarget) {
      let isSending = untold !== undefined;
      for (const id of messages) {
        const item = await outbox.get(id);
        if (item?.deliveredId === messageId && isSameChat(item.target, chat)) return true;
        isSending ||= item?.state === "sending";
      }
      return isSending && ("soon" as const);
    },
  };
}

export const QUESTION_STEP = "question";

/** One person may write to several accounts in one conversation. */
function isSameChat(one: DeliveryTarget, other: DeliveryTarget): boolean {
  return one.channel === other.channel && one.accountId === other.accountId && one.to === other.to;
}

const DELIVERY_POLL_MS = 100;
/** A channel that is down gets the message later, unedited. */
const DELIVERY_PATIENCE_MS = 3000;

function isOnItsWay(item: OutboxItem | undefined): boolean {
  return item?.state === "pending" || item?.state === "sending";
}

function messageKey({ id }: Task, step: string): string {
  return `task:${id}:${step}`;
}

/** Buttons belong to the last part of a long text. */
function withButtons(drafts: readonly OutboxDraft[], buttons: readonly MessageButton[]): OutboxDraft[] {
  const last = drafts.length - 1;
  return drafts.map((one, at) =>
    at === last && buttons.length > 0 ? { ...one, payload: { ...(one.payload as object), buttons } } : one,
  );
}

/** For channels without buttons: what to write instead. */
function withWords(text: string, buttons: readonly MessageButton[]): string {
  return [text, ...buttons.map(({ label, command }, at) => `${at + 1}. ${label}: ${command}`)].join("\n");
}
