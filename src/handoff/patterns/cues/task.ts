/**
 * How people say that something is put down to be done later: a ticket, a list, a reminder. What is asked
 * for here and now is the work itself, not a task to remember.
 */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";

const TICKET = String.raw`(?:ticket|issue|task|bug|story|card|change request|follow-?up|action item)s?`;
const LIST = String.raw`(?:to-?do(?:s| list)?|list|backlog|board|tracker|calendar|checklist|jira|shopping list|agenda|roadmap|kanban)`;

export const TASK_CUES: readonly Cue[] = [
  cue(
    "task_created",
    "todo",
    2.8,
    pattern`
      \b(?:todo|to-do|action items?|new task|note (?:to self|for (?:later|next|the next|tomorrow|monday|myself))|follow[- ]?up with|remind me|reminder|remember to|
      (?:do not|never) (?:let (?:me|us) )?forget|(?:lest|so|that) we (?:do not )?forget)\b
    `,
    { despite: ["request", "negated"] },
  ),
  cue(
    "task_created",
    "ticket",
    2.6,
    pattern`
      (?<!\b(?:like|want) me to )(?<!\b(?:should|shall|may|can|could) i )\b(?:open|file|create|make|raise|log|cut|opened|filed|created|made|raised|logged|opening|filing|creating)(?:d)? (?:(?:a|an|another|it as|new|\w+) ){0,3}(?:${TICKET}|#\d+|[a-z]{2,8}-\d+)\b|
      \b(?:own|separate|new) ${TICKET}\b|\bthere is (?:now )?an? (?:\w+ )?${TICKET} (?:for|about|on)\b|\b${TICKET} (?:for|about) .{1,50} (?:is |was |has been |just )?(?:created|filed|opened|open|there|made)\b|
      ^${TICKET} (?:created|filed|opened)\b|\bjust filed\b|\b(?:noted|listed|wrote down|collected) (?:\w+ )?${TICKET}\b
    `,
    { despite: ["request"] },
  ),
  cue(
    "task_created",
    "noted-down",
    2.4,
    pattern`
      \b(?:add|added|adding|put|putting|stick|stuck|throw|wrote|written|goes|is|are|noted|noting|jot|jotted|jotting|park|parked|parking|log|logged|pencil(?:l?ed)?|i put)\b.{0,50}\b(?:(?:on|to|in|into) (?:the|my|our|your) ${LIST}|
      down (?:for|in)|for (?:later|the weekend|the next|next (?:week|sprint|month|time|release)|the revision|phase two))\b|\b(?:noted|parked|left|saved) for (?:later|the|next)\b|
      ^(?:for later|later|next time|someday|after the \w+)[:,]|\bput on (?:the|my|our) ${LIST}
    `,
    { despite: ["request"] },
  ),
  cue(
    "task_created",
    "due",
    1,
    String.raw`\bdue (?:on |by |next )?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|next|eod)\b|\bsomeday\b|\bsomebody (?:will have|has|needs) to\b|\bby (?:thursday|friday|monday) latest\b`,
    { despite: ["planned"] },
  ),
  cue(
    "task_created",
    "need",
    1.2,
    String.raw`\b(?:we|i) (?:still |also )?(?:need|have) (?:to|a|an)\b|^need to\b|\bneeds to be\b|^someone please\b`,
    { despite: ["planned", "request"] },
  ),
];
