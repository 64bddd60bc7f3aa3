/**
 * Sends the messages of tasks: durably through the outbox, and into the transcript of the conversation, so that the
 * agent and the page know them. The status message is sent once and then edited, as far as the channel can.
 */
import { createKeyedMutex } from "../base/async.ts";
import type { Logger } from "../base/log.ts";
import type { Channel, MessageButton } from "../channels/channel.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { mirrorDelivery } from "../session/transcript-changes.ts";
import type { DeliveryTarget, OutboxDraft } from "../store/queues.ts";
import type { Task } from "./task.ts";

export type TaskMessenger = ReturnType<typeof createTaskMessenger>;

export interface MessengerOptions {
  agent: AgentHandle;
  findChannel: (target: DeliveryTarget) => Channel | undefined;
  /** Splits a text for its channel. */
  draft: (request: { text: string; turnId: string; target: DeliveryTarget }) => Promise<OutboxDraft[]>;
  /** Remembers which outbox items belong to the task. */
  onQueued: (task: Task, outboxIds: readonly number[]) => Promise<void>;
  logger: Logger;
}

export function createTaskMessenger({ agent, findChannel, draft, onQueued, logger }: MessengerOptions) {
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

  return {
    async send(task: Task, step: string, text: string, buttons: readonly MessageButton[] = []): Promise<void> {
      await enqueue(task, step, text, buttons);
      const words = withWords(text, buttons);
      await mirrorDelivery(agent, { sessionKey: task.conversation, text: words, turnId: messageKey(task, step) });
    },

    canShow: ({ target }: Task): boolean => target !== undefined && findChannel(target)?.edit !== undefined,

    /** Only for channels that can edit. A failed edit is logged: the next one, or the result, says the same. */
    async showStatus(task: Task, text: string, buttons: readonly MessageButton[] = []): Promise<void> {
      const { target } = task;
      const channel = target === undefined ? undefined : findChannel(target);
      if (target === undefined || channel?.edit === undefined) return;
      await edits.run(task.key, async () => {
        const shown = statuses.get(task.key);
        if (shown === undefined) {
          const [item] = await enqueue(task, "status", text, buttons);
          if (item !== undefined) statuses.set(task.key, { outboxId: item.id, text });
          return;
        }
        if (shown.text === text) return;
        const messageId = (await outbox.get(shown.outboxId))?.deliveredId;
        if (messageId === undefined) return;
        shown.text = text;
        await channel.edit?.(target, messageId, { text, buttons }).catch((error: unknown) => {
          logger.warn("A status message could not be edited", { key: task.key, error });
        });
      });
    },

    /** Whether a message of this task has this id on its platform. */
    async isMessageOf(task: Task, messageId: string): Promise<boolean> {
      for (const id of task.state.messages ?? []) {
        if ((await outbox.get(id))?.deliveredId === messageId) return true;
      }
      return false;
    },
  };
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
