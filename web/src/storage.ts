/**
 * Browser storage. The token, drafts and pending messages belong to the tab and survive a reload; read marks
 * belong to the browser. If storage is full or forbidden, the page works without it.
 */
const PREFIX = "holdfast.";

export const tabStorage = createStorage(() => sessionStorage);
export const browserStorage = createStorage(() => localStorage);

export interface PageStorage {
  read(name: string): string | undefined;
  /** Undefined removes it. */
  write(name: string, value: string | undefined): void;
  readJson(name: string): unknown;
}

function createStorage(open: () => Storage): PageStorage {
  const read = (name: string): string | undefined => {
    try {
      return open().getItem(PREFIX + name) ?? undefined;
    } catch {
      return undefined;
    }
  };
  return {
    read,
    write: (name, value) => {
      try {
        if (value === undefined) open().removeItem(PREFIX + name);
        else open().setItem(PREFIX + name, value);
      } catch {
        // Full or forbidden; see above.
      }
    },
    readJson: (name) => {
      try {
        return JSON.parse(read(name) ?? "null") as unknown;
      } catch {
        return undefined;
      }
    },
  };
}
