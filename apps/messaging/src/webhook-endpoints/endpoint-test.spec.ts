import { verifyAsync } from '@noble/ed25519';
import { newId } from '@customer-platform/database';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { Webhook } from 'standardwebhooks';
import { ALL_PERMISSIONS, type MessagingWorld } from '../messaging.fixture.js';
import {
  DAY,
  deliveries,
  ENDPOINTS,
  WebhookBench,
  WITHIN,
  type Delivery,
  type Endpoint,
} from './webhook-bench.fixture.js';
import type { Received } from './webhook-receiver.fixture.js';

let bench: WebhookBench;
let world: MessagingWorld;
beforeAll(async () => {
  bench = await WebhookBench.start();
  ({ world } = bench);
});
beforeEach(() => {
  bench.ahead = 0;
  bench.answerWith(204);
});
afterAll(() => bench.end());

describe('POST /v1/messaging/webhook-endpoints/{id}/test', () => {
  const ping = (api: Caller, id: string) => api.post<Delivery['tries'][0]>(`${ENDPOINTS}/${id}/test`, {});

  it('tells a signed ping at once and answers how that went; it is in no list, and counts for nothing', async () => {
    const { api } = world.organization();
    const made = await bench.endpoint(api, { enabled: false });
    const answer = await ping(api, made.id);
    expectStatus(answer, 200);
    expect(answer.body).toEqual({
      at: expect.any(String) as string,
      status: 204,
      error: null,
      ms: expect.any(Number) as number,
    });
    const [received] = bench.at(made);
    if (!received) throw new Error('nothing came');
    const payload = new Webhook(made.secret).verify(
      received.body,
      received.headers as Record<string, string>,
    );
    expect(payload).toEqual({ type: 'ping', timestamp: expect.any(String) as string, data: {} });
    bench.answerWith(410);
    expect((await ping(api, made.id)).body).toMatchObject({ status: 410, error: 'status_not_2xx' });
    expect(JSON.stringify((await ping(api, made.id)).body)).not.toContain('inside');
    expect(await deliveries(api, made.id)).toEqual([]);
    expect((await api.get(`${ENDPOINTS}/${made.id}`)).body).toMatchObject({ disabled_reason: 'manual' });
  });

  it('says no more of a place that it may not go to than that it may not', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await bench.endpoint(api);
    for (const url of ['https://10.0.0.1/', 'https://169.254.169.254/latest/', 'https://[fd00::1]:9200/']) {
      await world.database.query('UPDATE webhook_endpoints SET url = $2 WHERE organization_id = $1', [
        organizationId,
        url,
      ]);
      expect((await ping(api, made.id)).body).toMatchObject({
        status: null,
        error: 'destination_not_allowed',
      });
    }
  });

  it('refuses one that is deleted, another organization’s, and the eleventh of a minute', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await bench.endpoint(api);
    expectProblem(await ping(world.organization().api, made.id), 404, 'not_found');
    // From the beginning of a minute on.
    bench.ahead = 61_000 - (Date.now() % 60_000);
    const statuses: number[] = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await ping(api, made.id)).status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
    const refused = expectProblem(await ping(api, made.id), 429, 'rate_limited');
    expect(refused['scope']).toBe('organization');
    expectStatus(await api.delete(`${ENDPOINTS}/${made.id}`), 204);
    expectProblem(await ping(api, made.id), 409, 'resource_deleted');
    const rest = ALL_PERMISSIONS.filter((permission) => permission !== 'messaging.webhooks.update');
    expectStatus(await ping(world.app.as(organizationId, rest), made.id), 403);
  });
});

describe('the tests of a tenant', () => {
  it('are 30 a minute, in however many organizations that it founds', async () => {
    const tenant = newId();
    const child = async () => {
      const key = { organizationId: newId(), permissions: ALL_PERMISSIONS, tenant };
      const api = world.app.with(world.app.registry.key(key));
      return { api, made: await bench.endpoint(api) };
    };
    const children = [await child(), await child(), await child(), await child()];
    const other = world.organization();
    const elsewhere = await bench.endpoint(other.api);
    // From the beginning of a minute on.
    bench.ahead = 61_000 - (Date.now() % 60_000);
    const ping = (api: Caller, id: string) => api.post(`${ENDPOINTS}/${id}/test`, {});
    for (const { api, made } of children.slice(0, 3))
      for (let count = 0; count < 10; count += 1) expectStatus(await ping(api, made.id), 200);
    const [last] = children.slice(3);
    if (!last) throw new Error('There is a fourth');
    expectProblem(await ping(last.api, last.made.id), 429, 'rate_limited');
    expectStatus(await ping(other.api, elsewhere.id), 200);
  });
});

describe('signing: v1a', () => {
  const verified = async (publicKey: string | null, { headers, body }: Received): Promise<boolean> => {
    const signed = new TextEncoder().encode(
      `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`,
    );
    const key = new Uint8Array(Buffer.from((publicKey ?? '').slice('whpk_'.length), 'base64'));
    const of = String(headers['webhook-signature']).split(' ');
    const results = of
      .filter((one) => one.startsWith('v1a,'))
      .map((one) => verifyAsync(new Uint8Array(Buffer.from(one.slice(4), 'base64')), signed, key));
    return (await Promise.all(results)).includes(true);
  };

  it('shows the public key and never the private one, and signs by it', async () => {
    const { id: organizationId, api } = world.organization();
    const made = await bench.endpoint(api, { signing: 'v1a' });
    expect(made).toMatchObject({ signing: 'v1a', public_key: expect.stringMatching(/^whpk_/) as string });
    const read = await api.get<Endpoint>(`${ENDPOINTS}/${made.id}`);
    expect(read.body.public_key).toBe(made.public_key);
    for (const body of [made, read.body]) {
      expect(body).not.toHaveProperty('secret');
      expect(JSON.stringify(body)).not.toContain('whsk_');
    }
    const rows = await world.database.query('SELECT secrets FROM webhook_endpoints WHERE id = $1', [made.id]);
    expect(JSON.stringify(rows)).not.toContain('whsk_');
    await bench.publish(organizationId);
    await eventually(() => expect(bench.at(made)).toHaveLength(1), WITHIN);
    const [received] = bench.at(made) as [Received];
    expect(await verified(made.public_key, received)).toBe(true);
    expect(await verified(made.public_key, { ...received, body: `${received.body} ` })).toBe(false);
    expect(String(received.headers['webhook-signature'])).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/);
  });

  it('is changed to and rotated as secrets are: what signed before signs for 24 h more', async () => {
    const { api } = world.organization();
    const made = await bench.endpoint(api);
    const path = `${ENDPOINTS}/${made.id}`;
    const changed = await api.patch<Endpoint>(path, { signing: 'v1a' });
    expect(changed.body).not.toHaveProperty('secret');
    const same = await api.patch<Endpoint>(path, { signing: 'v1a' });
    expect(same.body.public_key).toBe(changed.body.public_key);
    const rotated = await api.patch<Endpoint>(path, { rotate_secret: true });
    expect(rotated.body.public_key).toMatch(/^whpk_/);
    expect(rotated.body.public_key).not.toBe(changed.body.public_key);
    expectStatus(await api.post(`${path}/test`, {}), 200);
    const [during] = bench.at(made) as [Received];
    new Webhook(made.secret).verify(during.body, during.headers as Record<string, string>);
    expect(await verified(changed.body.public_key, during)).toBe(true);
    expect(await verified(rotated.body.public_key, during)).toBe(true);
    bench.ahead = DAY + 1_000;
    expectStatus(await api.post(`${path}/test`, {}), 200);
    const after = bench.at(made)[1] as Received;
    expect(String(after.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(await verified(rotated.body.public_key, after)).toBe(true);
    const back = await api.patch<Endpoint>(path, { signing: 'v1' });
    expect(back.body).toMatchObject({ public_key: null, secret: expect.stringMatching(/^whsec_/) as string });
  });
});
