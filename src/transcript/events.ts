/** Tells listeners of this process that a transcript has grown. Other processes are not told. */
export interface SessionTranscriptUpdate {
  sessionFile: string;
}

export type SessionTranscriptListener = (update: SessionTranscriptUpdate) => void;

const listeners = new Set<{ listener: SessionTranscriptListener }>();

/** Returns the way to stop. The same function may listen twice. */
export function onSessionTranscriptUpdate(listener: SessionTranscriptListener): () => void {
  const registration = { listener };
  listeners.add(registration);
  return () => void listeners.delete(registration);
}

export function emitSessionTranscriptUpdate(sessionFile: string): void {
  const path = sessionFile.trim();
  if (path === "") return;
  for (const { listener } of listeners) {
    try {
      listener({ sessionFile: path });
    } catch {
      // What a listener does is its own affair: it must harm neither the writer nor the others.
    }
  }
}
