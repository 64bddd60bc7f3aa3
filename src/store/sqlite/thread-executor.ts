import type { JsonPage, KeptHandoff, ListPage } from "../store.ts";
import type { Executor, OnCommitted } from "./executor.ts";
import { type ThreadOptions, createThreadClient } from "./thread-client.ts";
import type { WriteArguments, WriteName, WriteResult } from "./write-operations.ts";

/** One thread writes, another one reads what takes long; both start when they are first needed. */
export function createThreadExecutor(options: ThreadOptions, onCommitted: OnCommitted): Executor {
  const writer = createThreadClient(options, onCommitted);
  const reader = createThreadClient(options, onCommitted);
  const write: Executor["write"] = async <Name extends WriteName>(name: Name, given: WriteArguments<Name>) =>
    (await writer.request({ do: "write", command: { name, arguments: given } })) as WriteResult<Name>;
  return {
    write,
    list: async (query) => (await reader.request({ do: "list", query })) as ListPage,
    listJson: async (query) => (await reader.request({ do: "list-json", query })) as JsonPage,
    listHandoffs: async (limit) => (await reader.request({ do: "list-handoffs", limit })) as KeptHandoff[],
    writeView: async (viewPath) => {
      const shown = (await reader.request({ do: "view", viewPath })) as number | undefined;
      // Not by the thread that reads: while another process has the store locked, lists would wait with it.
      if (shown !== undefined) await write("markView", { shown });
    },
    close: async () => {
      await Promise.all([writer.close(), reader.close()]);
    },
  };
}
