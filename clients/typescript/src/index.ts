// A typed client of the gear search and order service. Requests and responses are those of its HTTP API.
import createFetchClient, { type Client } from "openapi-fetch";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

import { GearError, type ErrorEnvelope } from "./errors.js";
import { retryingFetch } from "./retry.js";
import type { components, operations, paths } from "./schema.js";

export { ConnectionFailedError, GearError } from "./errors.js";
export { WebhookVerificationError as CallbackError };

type Schemas = components["schemas"];
export type SearchBody = Partial<Schemas["SearchBody"]>;
export type ChangesBody = Partial<Schemas["ChangesBody"]>;
export type SearchResponse = Schemas["SearchResponse"];
export type SearchHit = Schemas["SearchHit"];
export type OrderBody = Partial<Schemas["OrderBody"]> & Pick<Schemas["OrderBody"], "account" | "email" | "platform" | "item">;
export type CheapestBody = Schemas["CheapestBody"];
export type TransitionBody = Schemas["TransitionBody"];
type Query<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;

export interface ClientOptions {
  /** Milliseconds until an attempt is given up; 30,000 by default. */
  timeout?: number;
  /** How often a call is tried in all; 5 by default. */
  attempts?: number;
}

const PAGE = 100;
const CHANGES = 1000;
const WAIT_SECONDS = 20; // below the deadline of a call

/**
 * The service. A method is one operation of the HTTP API; it throws GearError where the service refuses the call and
 * ConnectionFailedError where no response of it comes.
 *
 * A call is repeated after a lost connection or a refusal that passes, if that is safe; orders carry an idempotency
 * key, so that a repeated one is placed once.
 */
export class GearClient {
  readonly #http: Client<paths>;

  constructor(url: string, token: string, { timeout = 30_000, attempts = 5 }: ClientOptions = {}) {
    this.#http = createFetchClient<paths>({
      baseUrl: url.replace(/\/+$/, ""),
      headers: { Authorization: `Bearer ${token}` },
      fetch: retryingFetch(timeout, attempts),
    });
  }

  /** Items on offer by text and filters. */
  async search(body: SearchBody = {}): Promise<SearchResponse> {
    return contentOf(await this.#http.POST("/v1/gear/search", { body: body as Schemas["SearchBody"] }));
  }

  /** Every hit of a search, page after page, of one moment. */
  async *searchAll(body: SearchBody = {}): AsyncGenerator<SearchHit, void, undefined> {
    let cursor: string | null | undefined = "*";
    while (cursor != null) {
      const response: SearchResponse = await this.search({ limit: PAGE, ...body, cursor });
      yield* response.gear;
      cursor = response.nextCursor;
    }
  }

  /** What came, changed and went since a bookmark; without one the feed starts now. */
  async listChanges(body: ChangesBody = {}): Promise<Schemas["ChangesResponse"]> {
    const asked = await this.#http.POST("/v1/gear/changes", { body: body as Schemas["ChangesBody"] });
    return contentOf(asked) as Schemas["ChangesResponse"];
  }

  /** The pages of changes, without end: keep `next` of each once its changes are applied, and resume from it. */
  async *followChanges(body: ChangesBody = {}): AsyncGenerator<Schemas["ChangesResponse"], never, undefined> {
    let since = body.since ?? null;
    for (;;) {
      const response = await this.listChanges({ limit: CHANGES, wait: WAIT_SECONDS, ...body, since });
      yield response;
      since = response.next;
    }
  }

  /** Names, weapons, finishes, collections and stickers that begin with a text. */
  async getSuggestions(query: Query<"getSuggestions">): Promise<Schemas["SuggestResponse"]> {
    return contentOf(await this.#http.GET("/v1/gear/suggest", { params: { query } }));
  }

  /** One item, and whether it is on offer. */
  async getItem(id: number, query: Query<"getItem"> = {}): Promise<Schemas["ItemResponse"]> {
    return contentOf(await this.#http.GET("/v1/gear/{id}", { params: { path: { id: String(id) }, query } }));
  }

  /** What every name on offer costs. */
  async getPrices(query: Query<"getPrices">): Promise<Schemas["PricesResponse"]> {
    return contentOf(await this.#http.GET("/v1/gear/prices", { params: { query } })) as Schemas["PricesResponse"];
  }

  /** The platforms, and every limit, sort and error code. */
  async listPlatforms(): Promise<Schemas["PlatformsResponse"]> {
    return contentOf(await this.#http.GET("/v1/platforms"));
  }

  /** Orders one item. */
  async orderItem(body: OrderBody, idempotencyKey: string = crypto.randomUUID()): Promise<Schemas["OrderResponse"]> {
    const params = { header: { "Idempotency-Key": idempotencyKey } };
    return contentOf(await this.#http.POST("/v1/gear", { body: body as Schemas["OrderBody"], params }));
  }

  /** Orders the cheapest items of a search, all or none. */
  async orderCheapestItems(
    body: CheapestBody,
    idempotencyKey: string = crypto.randomUUID(),
  ): Promise<Schemas["CheapestResponse"]> {
    const params = { header: { "Idempotency-Key": idempotencyKey } };
    return contentOf(await this.#http.POST("/v1/gear/cheapest", { body, params }));
  }

  /** One order with its history. */
  async getOrder(id: string): Promise<Schemas["OrderWithHistoryResponse"]> {
    return contentOf(await this.#http.GET("/v1/orders/{id}", { params: { path: { id } } }));
  }

  /** A page of orders, newest first. */
  async listOrders(query: Query<"listOrders"> = {}): Promise<Schemas["OrdersResponse"]> {
    return contentOf(await this.#http.GET("/v1/orders", { params: { query } }));
  }

  /** Saves a search that calls back; the same one again is the same. */
  async saveSearch(body: Schemas["SavedSearchBody"]): Promise<Schemas["SavedSearchResponse"]> {
    return contentOf(await this.#http.POST("/v1/searches", { body }));
  }

  /** A page of the token's saved searches, newest first. */
  async listSavedSearches(query: Query<"listSavedSearches"> = {}): Promise<Schemas["SavedSearchesResponse"]> {
    return contentOf(await this.#http.GET("/v1/searches", { params: { query } }));
  }

  /** One saved search. */
  async getSavedSearch(id: string): Promise<Schemas["SavedSearchResponse"]> {
    return contentOf(await this.#http.GET("/v1/searches/{id}", { params: { path: { id } } }));
  }

  /** Deletes a saved search, and what it was still to be told. */
  async deleteSavedSearch(id: string): Promise<Schemas["RemovedSearchResponse"]> {
    return contentOf(await this.#http.DELETE("/v1/searches/{id}", { params: { path: { id } } }));
  }

  /** Moves an order to another state. */
  async transitionOrder(id: string, body: TransitionBody): Promise<Schemas["OrderResponse"]> {
    return contentOf(await this.#http.POST("/v1/orders/{id}/transitions", { params: { path: { id } }, body }));
  }

  /** Where an order's item is sent to. */
  async getFulfilment(id: string): Promise<Schemas["FulfilmentResponse"]> {
    return contentOf(await this.#http.GET("/v1/orders/{id}/fulfilment", { params: { path: { id } } }));
  }

  /** Puts new and changed items, at most 5,000; with `visible` it returns once searches show them. */
  async putItems(platform: number | string, items: object[], visible = false): Promise<Schemas["CatalogueResponse"]> {
    const params = { path: { platform: String(platform) }, query: visibility(visible) };
    return contentOf(await this.#http.PUT("/v1/catalogue/{platform}/items", { params, body: items }));
  }

  /** Deletes items, at most 5,000; with `visible` it returns once no search shows them. */
  async deleteItems(
    platform: number | string,
    body: Schemas["DeleteBody"],
    visible = false,
  ): Promise<Schemas["CatalogueResponse"]> {
    const params = { path: { platform: String(platform) }, query: visibility(visible) };
    return contentOf(await this.#http.DELETE("/v1/catalogue/{platform}/items", { params, body }));
  }

  /** An order's callbacks. */
  async listDeliveries(id: string): Promise<Schemas["DeliveriesResponse"]> {
    return contentOf(await this.#http.GET("/v1/orders/{id}/deliveries", { params: { path: { id } } }));
  }

  /** Sends a callback again. */
  async replayDelivery(id: string, n: number): Promise<Schemas["DeliveryResponse"]> {
    return contentOf(await this.#http.POST("/v1/orders/{id}/deliveries/{n}/replay", { params: { path: { id, n: String(n) } } }));
  }
}

/**
 * The event of a callback; throws CallbackError where it is not one of the service.
 *
 * `body` is the text as it came, before anything parses it; `secret` is what `gear-api token create` or
 * `gear-api webhook endpoint add` printed (`whsec_…`).
 */
export function verifyCallback(
  body: string,
  headers: Record<string, string>,
  secret: string,
): { type: string; timestamp: string; data: { order: Schemas["OrderEntry"] } } {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return new Webhook(secret).verify(body, lower) as ReturnType<typeof verifyCallback>;
}

function visibility(visible: boolean): { visible?: "true" } {
  return visible ? { visible: "true" } : {};
}

function contentOf<Content>(result: { data?: Content; error?: unknown; response: Response }): Content {
  if (result.data !== undefined) return result.data;
  throw new GearError(result.response, result.error as ErrorEnvelope);
}
