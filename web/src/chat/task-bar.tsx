/** The running tasks of a session, above the field for messages: what each does, its question, and Stop. */
import { useController, usePageState } from "../page-context.ts";
import { Button } from "../parts/button.tsx";
import type { OpenTask } from "../state/state.ts";

export function TaskBar({ sessionKey }: { sessionKey: string }) {
  const tasks = usePageState((state) => (state.tasks?.key === sessionKey ? state.tasks.tasks : undefined));
  if (tasks === undefined || tasks.length === 0) return null;
  return (
    <section className="tasks" aria-label="Tasks of Claude Code">
      {tasks.map((task) => (
        <TaskCard key={task.id} task={task} sessionKey={sessionKey} />
      ))}
    </section>
  );
}

function TaskCard({ task, sessionKey }: { task: OpenTask; sessionKey: string }) {
  const controller = useController();
  const { id, text, line, state, question } = task;
  /** Buttons send the commands that a person would write. */
  const send = (command: string) => (): void => controller.chat.send(sessionKey, command);
  return (
    <article className={question === undefined ? "task" : "task asking"}>
      <div className="task-head">
        <p className="task-title" dir="auto" title={text}>
          {text}
        </p>
        <Button onClick={send(`/cc stop ${id}`)}>Stop</Button>
      </div>
      {question === undefined ? (
        <p className="task-line" role="status" dir="auto">
          {line ?? (state === "accepted" ? "Accepted." : "Running.")}
        </p>
      ) : (
        <div role="alert">
          <p className="task-question">
            Claude Code asks to use {question.tool}: <code dir="auto">{question.detail}</code>
          </p>
          <div className="task-answers">
            <button type="button" className="primary" onClick={send(`/cc allow ${question.code}`)}>
              Allow once
            </button>
            <button type="button" onClick={send(`/cc always ${question.code}`)}>
              Allow for this task
            </button>
            <button type="button" onClick={send(`/cc deny ${question.code}`)}>
              Deny
            </button>
          </div>
        </div>
      )}
    </article>
  );
}
