/** The pipeline's side of a channel under test: it remembers everything, and refuses what it is told to. */
import type { ChannelHost, ChannelStatus, InboundMessage } from "../../src/channels/channel.ts";

export interface RememberingHost extends ChannelHost {
  /** In order of admission, every call. */
  admitted: InboundMessage[];
  statuses: ChannelStatus[];
  /** Asked before every admission; throws to refuse it. */
  before: (message: InboundMessage) => void | Promise<void>;
  /** Thrown by the next admissions. */
  failures: Error[];
}

export function createRememberingHost(): RememberingHost {
  const host: RememberingHost = {
    admitted: [],
    statuses: [],
    before: () => undefined,
    failures: [],
    admit: async (message) => {
      await host.before(message);
      const failure = host.failures.shift();
      if (failure !== undefined) throw failure;
      host.admitted.push(message);
    },
    report: (status) => void host.statuses.push(status),
  };
  return host;
}
