import { Clock, newId } from '@customer-platform/database';
import { eventually, expectStatus, type Caller } from '@customer-platform/testing';
import { aContact, messagingWorld, type MessagingWorld } from '../messaging.fixture.js';
import { WebhookReceiver, type Received } from './webhook-receiver.fixture.js';

/** Where endpoints are made. */
export const ENDPOINTS = '/v1/messaging/webhook-endpoints';
export const DAY = 86_400_000;
export const WITHIN = { within: 20_000 };

/** A delivery as the list shows it. */
export interface Delivery {
  id: string;
  event_id: string;
  state: string;
  attempts: number;
  error: string | null;
  tries: { at: string; status: number | null; error: string | null; ms: number }[];
}

/** An endpoint as it is answered, and the path at which it hears. */
export interface Endpoint {
  id: string;
  path: string;
  secret: string;
  public_key: string | null;
}

/** Messaging, a server that is told of events, and a clock that can go ahead. */
export class WebhookBench {
  readonly receiver = new WebhookReceiver();
  /** Milliseconds that the service’s clock is ahead. */
  ahead = 0;

  private constructor(readonly world: MessagingWorld) {}

  static async start(): Promise<WebhookBench> {
    const bench = new WebhookBench(await messagingWorld());
    await bench.receiver.start();
    bench.world.app.app.get(Clock).now = () => new Date(Date.now() + bench.ahead);
    return bench;
  }

  async end(): Promise<void> {
    await this.receiver.stop();
    await this.world.close();
  }

  answerWith(status: number): void {
    this.receiver.answer = (response) => response.writeHead(status).end('a secret of the inside');
  }

  async endpoint(api: Caller, fields: Record<string, unknown> = {}): Promise<Endpoint> {
    const path = `/${newId()}`;
    const body = { name: path, url: this.receiver.url(path), events: ['core.contact.created'], ...fields };
    const answer = await api.post<Endpoint>(ENDPOINTS, body);
    expectStatus(answer, 201);
    return { ...answer.body, path };
  }

  async publish(organizationId: string): Promise<string> {
    const contact = aContact();
    const data = { contact_id: contact.id, version: 1, changed_fields: ['email'], contact };
    const [event] = await this.world.probe.publish({ type: 'core.contact.created.v1', organizationId, data });
    return event?.id ?? '';
  }

  /** What came to an endpoint. */
  at({ path }: Endpoint): Received[] {
    return this.receiver.at(path);
  }
}

/** What was told to an endpoint, newest first. */
export async function deliveries(api: Caller, id: string, query = ''): Promise<Delivery[]> {
  const answer = await api.get<{ data: Delivery[] }>(`${ENDPOINTS}/${id}/deliveries${query}`);
  expectStatus(answer, 200);
  return answer.body.data;
}

/** The one delivery of an endpoint, once it is as expected. */
export function delivery(api: Caller, id: string, expected: Partial<Delivery>): Promise<Delivery> {
  return eventually(async () => {
    const found = await deliveries(api, id);
    expect(found).toEqual([expect.objectContaining(expected)]);
    return found[0] as Delivery;
  }, WITHIN);
}
