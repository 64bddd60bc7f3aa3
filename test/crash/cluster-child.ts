/**
 * A gateway of a cluster. Its one argument is a ClusterChildTask as JSON. It prints what it does as lines of JSON, with
 * the time of the machine, whatever its own clock says.
 */
import { createEchoEngine } from "../../src/engine/echo/echo.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { systemClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import { openGateway } from "../../src/compose/turns.ts";
import type { ClusterChildTask, NodeReport } from "./cluster-nodes.ts";

const { home, clockOffsetMs } = JSON.parse(process.argv[2] ?? "") as ClusterChildTask;
const { config } = await loadConfig({ env: process.env, cwd: home, home });

const report = (line: NodeReport): void =>
  void process.stdout.write(`${JSON.stringify({ ...line, at: Date.now() })}\n`);

/** Reports when the engine works on a turn. While its last event is being written, it does not. */
function watched(engine: Engine): Engine {
  return {
    ...engine,
    async *run(turn, signal) {
      const note = (isRunning: boolean): void => report({ what: "turn", key: turn.sessionKey, isRunning });
      note(true);
      try {
        for await (const event of engine.run(turn, signal)) {
          note(false);
          yield event;
          note(true);
        }
      } finally {
        note(false);
      }
    },
  };
}

const gateway = await openGateway({
  home,
  config,
  port: 0,
  channels: true,
  clock: { ...systemClock, now: () => Date.now() + clockOffsetMs },
  engines: { watched: ({ clock, logger }) => watched(createEchoEngine({ clock, logger })) },
  onChannelStatus: (channel, _account, { state, text }) => {
    if (channel === "telegram") report({ what: "channel", state, text });
  },
});
report({ what: "listening", url: gateway.url, token: gateway.token });
process.once("SIGTERM", () => void gateway.close());
