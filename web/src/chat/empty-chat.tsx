import { Logo } from "../parts/icons.tsx";

export function EmptyChat() {
  return (
    <div className="empty">
      <Logo />
      <p>Choose a conversation, or start a new one.</p>
    </div>
  );
}
