/** Who left what stands in a file. It is read from there, so it may be anything. */
export interface Left {
  sessionKey: unknown;
  /** The window. */
  sessionId: unknown;
}
