/**
 * Browser storage. The token, drafts and pending messages belong to the tab and survive a reload; read marks
 * belong to the browser. If storage is full or forbidden, the page works without it.
 */
import { useState } from "react";

const PREFIX = "holdfast.";

export const tabStorage = createStorage(() => sessionStorage);
export const browserStorage = createStorage(() => localStorage);

/** State that survives a reload of the tab. Undefined removes it. */
export function useTabState(name: string) {
  const [value, setValue] = useState(() => tabStorage.read(name));
  const change = (next: string | undefined): void => {
    setValue(next);
    tabStorage.write(name, next);
  };
  return [value, change] as const;
}

function createStorage(open: () => Storage) {
  const read = (name: string): string | undefined => {
    try {
      return open().getItem(PREFIX + name) ?? undefined;
    } catch {
      return undefined;
    }
  };
  return {
    read,
    /** Undefined removes it. */
    write: (name: string, value: string | undefined): void => {
      try {
        if (value === undefined) open().removeItem(PREFIX + name);
        else open().setItem(PREFIX + name, value);
      } catch {
        // Full or forbidden; see above.
      }
    },
    readJson: (name: string): unknown => {
      try {
        return JSON.parse(read(name) ?? "null") as unknown;
      } catch {
        return undefined;
      }
    },
  };
}
