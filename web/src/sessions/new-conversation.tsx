import { useController, usePageState } from "../page-context.ts";
import { PlusIcon } from "../parts/icons.tsx";
import { newSessionKey } from "./session-title.ts";

/** With several agents it asks with which one. */
export function NewConversation() {
  const controller = useController();
  const agents = usePageState((state) => state.agents);
  const start = (agentId: string): void => controller.open({ key: newSessionKey(agentId) });
  if (agents === undefined || agents.ids.length < 2) {
    return (
      <button
        type="button"
        className="new-conversation"
        disabled={agents === undefined}
        onClick={() => start(agents?.defaultId ?? "main")}
      >
        <PlusIcon />
        New
        <span className="hidden"> conversation</span>
      </button>
    );
  }
  return (
    <span className="new-conversation choice">
      <PlusIcon />
      New
      <select aria-label="New conversation with" value="" onChange={({ target }) => start(target.value)}>
        <option value="" disabled>
          with…
        </option>
        {agents.ids.map((id) => (
          <option key={id}>{id}</option>
        ))}
      </select>
    </span>
  );
}
