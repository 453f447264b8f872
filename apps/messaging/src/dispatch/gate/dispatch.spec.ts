import { randomUUID } from 'node:crypto';
import { eventually } from '@customer-platform/testing';
import {
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  type MessagingWorld,
} from '../../messaging.fixture.js';

describe('a send by the API', () => {
  let world: MessagingWorld;
  beforeAll(async () => {
    world = await messagingWorld();
    world.probe.collect('messaging');
  });
  afterAll(() => world.close());
  beforeEach(() => {
    world.mail.treat = () => undefined;
    world.mail.treatSender = () => undefined;
    world.mail.delay = () => 0;
  });

  it('leaves by SMTP, with its steps, its events and its correlation id', async () => {
    const { id: organizationId, api } = world.organization();
    const address = `Ana.${randomUUID()}@Example.com`;
    const correlationId = randomUUID();
    const answer = await api.post<{ send_id: string; state: string }>(
      '/v1/messaging/sends',
      aSend({
        recipient: { address },
        content: { subject: 'Tu compra 🎉', html: '<p>Hola &amp; gracias</p>' },
      }),
      { 'idempotency-key': randomUUID(), 'x-correlation-id': correlationId },
    );
    expect(answer.status).toBe(202);
    expect(answer.body.state).toBe('accepted');
    const sent = await settled(api, answer.body.send_id, 'sent');
    expect(sent).toMatchObject({
      correlation_id: correlationId,
      subject: 'Tu compra 🎉',
      attempts: 1,
      occurred_at: sent.created_at,
    });

    const delivered = address.replace('Example', 'example');
    const [mail] = await world.mail.parsed(delivered);
    expect(mail?.subject).toBe('Tu compra 🎉');
    expect(mail?.text?.trim()).toBe('Hola & gracias');
    expect(mail?.html?.trim()).toBe('<p>Hola &amp; gracias</p>');
    expect(mail?.messageId).toBe(sent.provider_message_id);
    const headers = new Map(mail?.headers.map(({ key, value }) => [key, value]));
    expect(headers.get('x-correlation-id')).toBe(correlationId);
    expect(headers.has('list-unsubscribe')).toBe(false);
    expect(world.mail.to(delivered)[0]?.from).toBe('no-reply@customer-platform.example');

    const steps = ['accepted', 'rendering', 'gated', 'dispatching', 'sent'];
    expect((await history(api, sent.id)).map(({ state }) => state)).toEqual(steps);
    for (const step of steps) {
      const type = `messaging.send.${step}.v1` as 'messaging.send.sent.v1';
      const events = await world.probe.expectEvents(type, organizationId, 1);
      expect(events).toHaveLength(1);
      expect(events[0]).toMatchObject({ correlationid: correlationId, data: { send_id: sent.id } });
    }
    const left = await world.database.query('SELECT 1 FROM send_payloads WHERE send_id = $1', [sent.id]);
    expect(left).toEqual([]);
  });

  it('carries both unsubscribe headers and the link when it is marketing', async () => {
    const { api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    const body = aSend({
      recipient: { address },
      category: 'marketing',
      locale: 'es',
      content: { subject: 's', html: '<html><body><p>x</p></body></html>' },
    });
    await settled(api, await send(api, body), 'sent');
    const [mail] = await world.mail.parsed(address);
    const header = (name: string): string => mail?.headers.find(({ key }) => key === name)?.value ?? '';
    expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const url = header('list-unsubscribe').slice(1, -1);
    expect(url).toMatch(/^http:\/\/127.0.0.1:8080\/v1\/messaging\/unsubscribe\?token=[\w-]+\.[\w-]+$/);
    expect(mail?.html).toContain(`<a href="${url}">Cancelar suscripción</a>`);
    expect(mail?.text).toContain(`Cancelar suscripción: ${url}`);
  });

  it('is tried again after a 4xx, with the same Message-ID, and not sooner than the schedule says', async () => {
    const { api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    world.mail.treat = () => ({ code: 451, text: '4.3.0 later' });
    const id = await send(api, aSend({ recipient: { address } }));
    const waiting = await eventually(async () => {
      const [row] = await world.database.query<{
        state: string;
        attempts: number;
        due_at: Date;
        updated_at: Date;
      }>('SELECT state, attempts, due_at, updated_at FROM sends WHERE id = $1', [id]);
      expect(row).toMatchObject({ state: 'gated', attempts: 1 });
      return row;
    });
    if (!waiting) throw new Error('no row');
    expect(waiting.due_at.getTime() - waiting.updated_at.getTime()).toBe(30_000);
    const before = (await settled(api, id, 'gated')).provider_message_id;
    world.mail.treat = () => undefined;
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [id]);
    const sent = await settled(api, id, 'sent');
    expect(sent).toMatchObject({ attempts: 2, provider_message_id: before });
    expect(
      (await history(api, id)).map(({ state, attempt, smtp_code }) => [state, attempt, smtp_code]),
    ).toEqual([
      ['accepted', 0, null],
      ['rendering', 0, null],
      ['gated', 0, null],
      ['dispatching', 1, null],
      ['gated', 1, 451],
      ['dispatching', 2, null],
      ['sent', 2, 250],
    ]);
    expect(world.mail.to(address)).toHaveLength(1);
  });

  it('has failed when the last pause is over', async () => {
    const { api } = world.organization();
    world.mail.treat = () => ({ code: 421, text: '4.7.0 never' });
    const id = await send(api, aSend());
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      await eventually(async () => {
        const [row] = await world.database.query<{ attempts: number; state: string }>(
          'SELECT attempts, state FROM sends WHERE id = $1',
          [id],
        );
        expect(row).toEqual({ attempts: attempt, state: attempt < 7 ? 'gated' : 'failed' });
      });
      await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1 AND due_at IS NOT NULL', [
        id,
      ]);
    }
    expect(await settled(api, id, 'failed')).toMatchObject({ reason: 'retries_exhausted', attempts: 7 });
  });

  it('bounces on a 5xx, and suppresses the address that the reply blames', async () => {
    const { api } = world.organization();
    const [gone, refused] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    world.mail.treat = (address) =>
      address === gone ? { code: 550, text: '5.1.1 no such user' } : { code: 550, text: '5.7.1 no' };
    const ids = [
      await send(api, aSend({ recipient: { address: gone } })),
      await send(api, aSend({ recipient: { address: refused } })),
    ];
    for (const id of ids)
      expect(await settled(api, id, 'bounced')).toMatchObject({ reason: 'provider_rejected' });
    const { body } = await eventually(async () => {
      const answer = await api.get<{
        data: { address: string; reason: string; created_by: { type: string } }[];
      }>('/v1/messaging/suppressions');
      expect(answer.body.data).toHaveLength(1);
      return answer;
    });
    expect(body.data[0]).toMatchObject({
      address: gone,
      reason: 'hard_bounce',
      created_by: { type: 'system' },
    });
    const again = await api.post('/v1/messaging/sends', aSend({ recipient: { address: gone } }), {
      'idempotency-key': randomUUID(),
    });
    expect(again).toMatchObject({ status: 422, body: { code: 'recipient_suppressed' } });
  });

  it('bounces on a refused sender, and suppresses nobody for it', async () => {
    const { api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    world.mail.treatSender = (from) =>
      from === 'refused@example.com' ? { code: 550, text: '5.1.0 sender rejected' } : undefined;
    const refused = await send(api, aSend({ recipient: { address }, from: 'refused@example.com' }));
    expect(await settled(api, refused, 'bounced')).toMatchObject({ reason: 'provider_rejected' });
    const [row] = await world.database.query('SELECT due_at FROM sends WHERE id = $1', [refused]);
    expect(row).toEqual({ due_at: null });
    await settled(api, await send(api, aSend({ recipient: { address } })), 'sent');
    const { body } = await api.get<{ data: object[] }>('/v1/messaging/suppressions');
    expect(body.data).toEqual([]);
  });

  it('waits while the mail server is away, and leaves when it is back', async () => {
    const { api } = world.organization();
    await world.mail.stop();
    const ids = await Promise.all(Array.from({ length: 12 }, () => send(api, aSend())));
    await eventually(async () => {
      const rows = await world.database.query('SELECT 1 FROM sends WHERE id = ANY($1) AND state = $2', [
        ids,
        'gated',
      ]);
      expect(rows.length).toBeGreaterThan(0);
    });
    await world.mail.start();
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = ANY($1) AND state = $2', [
      ids,
      'gated',
    ]);
    await eventually(
      async () => {
        const rows = await world.database.query('SELECT 1 FROM sends WHERE id = ANY($1) AND state = $2', [
          ids,
          'sent',
        ]);
        expect(rows).toHaveLength(12);
      },
      { within: 60_000 },
    );
  }, 90_000);

  it('is not sent before its time, nor after it', async () => {
    const { api } = world.organization();
    const later = await send(api, aSend({ not_before: new Date(Date.now() + 3_600_000).toISOString() }));
    const stale = await send(
      api,
      aSend({
        not_before: new Date(Date.now() + 3_600_000).toISOString(),
        expires_at: new Date(Date.now() + 7_200_000).toISOString(),
      }),
    );
    await world.database.query(`UPDATE sends SET due_at = now(), expires_at = now() WHERE id = $1`, [stale]);
    expect(await settled(api, stale, 'failed')).toMatchObject({ reason: 'expired' });
    expect((await settled(api, later, 'accepted')).release_at).not.toBeNull();
  });
});
