/** The server on the loopback interface. */

export interface GatewayConfig {
  /** On the loopback interface. 0: any free one. */
  port: number;
  /** Largest request body and WebSocket frame. */
  maxBodyBytes: number;
  /** Requests of one client within a minute. */
  requestsPerMinute: number;
}

export const DEFAULT_GATEWAY: GatewayConfig = { port: 7433, maxBodyBytes: 4_194_304, requestsPerMinute: 600 };
