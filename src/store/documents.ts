/**
 * Small texts by name that processes share: archive manifests, pairing lists, read positions, keys of linked devices.
 * A name ends with `.json`. `test/contract/documents-suite.ts` checks for every implementation:
 * - A resolved promise is durable. A rejected promise changed nothing.
 * - Readers get a complete text, old or new.
 */
export interface Documents {
  /** In alphabetical order. */
  names(): Promise<string[]>;
  read(name: string): Promise<string | undefined>;
  /** Replaces the text, for documents with one writer. */
  write(name: string, text: string): Promise<void>;
  /** Resolves to false if the name is taken. */
  add(name: string, text: string): Promise<boolean>;
  /**
   * One atomic read-modify-write; resolves to `value`. `edit` is synchronous, has no side effects and may run more than
   * once. Without a `text` nothing changes.
   */
  update<T>(name: string, edit: (text: string | undefined) => DocumentEdit<T>): Promise<T>;
  remove(name: string): Promise<void>;
  /** Takes a document out of use and keeps it under a name with this word. */
  setAside(name: string, word: string): Promise<void>;
  /** Where a person finds it. */
  locationOf(name: string): string;
}

export interface DocumentEdit<T> {
  value: T;
  text?: string | undefined;
}
