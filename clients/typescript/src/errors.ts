// What a call can fail with.
import type { components } from "./schema.js";

export type ErrorEnvelope = components["schemas"]["ErrorResponse"];

/** The service refused a call; `code` is the stable part, `message` is for people. */
export class GearError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: { field: string; message: string }[];
  readonly requestId: string;
  /** The current price, with `price_changed`. */
  readonly price: number | null;
  /** How many items can be ordered at the price, with `not_enough`. */
  readonly available: number | null;

  constructor(response: Response, { error }: ErrorEnvelope) {
    super(`${response.status} ${error.code}: ${error.message} (request ${error.requestId})`);
    this.name = "GearError";
    this.status = response.status;
    this.code = error.code;
    this.details = error.details;
    this.requestId = error.requestId;
    this.price = error.price ?? null;
    this.available = error.available ?? null;
  }
}

/** No response of the service came: no connection, none in time, or one of something else, such as a proxy. */
export class ConnectionFailedError extends Error {
  override readonly name = "ConnectionFailedError";
}
