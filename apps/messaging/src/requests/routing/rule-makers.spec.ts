import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import { eventually, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { ROUTABLE_EVENTS } from '../../vocabulary/events/routed-event.js';
import { permissionsOfRule } from '../../vocabulary/makers/carried-permissions.js';
import {
  aContact,
  aRecordedEvent,
  messagingWorld,
  oneSendOf,
  settled,
  template,
  type MessagingWorld,
  type ShownSend,
} from '../../messaging.fixture.js';

const ROUTING = '/v1/messaging/event-routing';
const TEMPLATES = '/v1/messaging/templates';
/** What the attacker of messaging.md §3 had. */
const ALONE: readonly Permission[] = ['messaging.templates.create', 'messaging.routing.update'];
const WRITES: readonly Permission[] = [...ALONE, 'messaging.templates.update', 'messaging.routing.read'];
const READS: readonly Permission[] = ['core.contacts.read', 'core.events.read'];
const ABLE = [...WRITES, ...READS];
const WITHIN = { within: 20_000 };

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

interface Maker {
  id: string;
  key: string;
  api: Caller;
  /** Somebody else of the organization, who may do everything. */
  other: Caller;
}

function aMaker(permissions: readonly Permission[] = ABLE): Maker {
  const { id, api: other } = world.organization();
  const key = world.app.registry.key({ organizationId: id, permissions });
  return { id, key, api: world.app.with(key), other };
}

const aRule = (templateId: string, overrides: Record<string, unknown> = {}) => ({
  name: randomUUID(),
  event_type: 'core.event.recorded',
  event_name: 'invoice_paid',
  channel: 'email',
  template_id: templateId,
  recipient: { from: 'address', value: `${randomUUID()}@example.com` },
  ...overrides,
});

interface Shown {
  id: string;
  standing: string | null;
  maker: { type: string; id: string } | null;
}

async function rule(api: Caller, templateId?: string): Promise<string> {
  const answer = await api.post<Shown>(ROUTING, aRule(templateId ?? (await template(api))));
  expectStatus(answer, 201);
  expect(answer.body.standing).toBe('permitted');
  return answer.body.id;
}

/** What an event of the organization leads to, when that has ended. */
async function outcomeOf(maker: Maker, happens: Happening = records): Promise<ShownSend> {
  const found = await sendOf(maker, happens);
  return settled(maker.other, found.id, 'sent', 'failed');
}

/** The send that an event of the organization leads to. */
async function sendOf({ id, other }: Maker, happens: Happening = records): Promise<ShownSend> {
  const contact = aContact();
  await world.probe.publish({
    type: 'core.contact.created.v1',
    organizationId: id,
    data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
  });
  const event = happens(id, contact);
  await world.probe.publish(event);
  return oneSendOf(other, event.correlationId);
}

/** Makes happen to a contact of an organization what is routed. */
type Happening = typeof records | typeof enters;

function records(organizationId: string, contact: ReturnType<typeof aContact>) {
  return aRecordedEvent(organizationId, contact, { secret: 'told to nobody' });
}

function enters(organizationId: string, { id }: ReturnType<typeof aContact>) {
  return {
    type: 'core.segment.entered.v1' as const,
    organizationId,
    correlationId: newId(),
    data: { segment_id: newId(), contact_id: id, cause: 'event' as const, at: new Date().toISOString() },
  };
}

/** The key may do that and no more, and the service has heard of it. */
async function permit({ key, api }: Maker, permissions: readonly Permission[]): Promise<void> {
  world.app.registry.permit(key, permissions);
  await eventually(async () => expect((await api.get(ROUTING)).status).toBe(403), WITHIN);
}

const LESS = ['messaging.templates.update', 'messaging.routing.update'] as const;
const NOT_PERMITTED = { state: 'failed', reason: 'not_permitted', subject: null };

async function standingOf({ other }: Maker, id: string): Promise<Shown> {
  return (await other.get<Shown>(`${ROUTING}/${id}`)).body;
}

describe('a rule that is given another type of event', () => {
  it('sends nothing more of what waited by the one before, which its maker need not be able to read', async () => {
    const maker = aMaker();
    const body = aRule(await template(maker.api), { delay_seconds: 3_600 });
    const { body: made } = await maker.api.post<Shown>(ROUTING, body);
    const waiting = await sendOf(maker);
    const reads = ['core.contacts.read', 'core.segments.read'] as const;
    await permit(maker, [...WRITES.filter((one) => one !== 'messaging.routing.read'), ...reads]);
    const change = { event_type: 'core.segment.entered', event_name: null, delay_seconds: 0 };
    expectStatus(await maker.api.patch(`${ROUTING}/${made.id}`, change), 200);
    const ended = await settled(maker.other, waiting.id, 'sent', 'failed', 'canceled');
    expect(ended).toMatchObject({ state: 'canceled', reason: 'rule_disabled' });
  });
});

describe('a rule by who cannot read what it carries', () => {
  it('is refused to a key that may write templates and rules, and nothing else', async () => {
    const { api } = aMaker(ALONE);
    const content = { locales: { es: { subject: 'Tell', html: '<p>{{ event.properties.secret }}</p>' } } };
    const problem = expectProblem(
      await api.post(ROUTING, aRule(await template(api, content))),
      403,
      'privilege_escalation',
    );
    expect(problem).toMatchObject({ missing: [...READS].sort() });
  });

  const wanting = ROUTABLE_EVENTS.flatMap((event) =>
    permissionsOfRule(event).map((permission) => [event, permission] as const),
  );
  it.each(wanting)('%s without %s: 403, at creation and at a change', async (event_type, permission) => {
    const all = [...WRITES, ...permissionsOfRule(event_type)];
    const { id, api } = world.organization(all.filter((one) => one !== permission));
    const told = { missing: [permission] };
    const able = world.app.as(id, all);
    const templateId = await template(able);
    const named = event_type === 'core.event.recorded' ? { event_name: 'paid' } : { event_name: null };
    const body = aRule(templateId, { event_type, ...named });
    expect(expectProblem(await api.post(ROUTING, body), 403, 'privilege_escalation')).toMatchObject(told);
    const made = await able.post<Shown>(ROUTING, body);
    expectStatus(made, 201);
    const path = `${ROUTING}/${made.body.id}`;
    for (const patch of [
      { condition: { all: [{ path: 'contact.email', op: 'prefix', value: 'a' }] } },
      { recipient: { from: 'address', value: 'mine@example.com' } },
      { template_id: await template(able) },
      { adopt: true },
    ])
      expect(expectProblem(await api.patch(path, patch), 403, 'privilege_escalation')).toMatchObject(told);
    expectStatus(await api.patch(path, { name: randomUUID(), enabled: false, delay_seconds: 1 }), 200);
    expectStatus(await able.patch(path, { recipient: { from: 'address', value: 'ours@example.com' } }), 200);
  });
});

describe('what a rule carries that its maker cannot read any more', () => {
  it('leaves no more, is seen to, and goes on with who adopts it', async () => {
    const maker = aMaker();
    const id = await rule(maker.api);
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent' });
    await permit(maker, LESS);
    expect(await outcomeOf(maker)).toMatchObject(NOT_PERMITTED);
    expect(await standingOf(maker, id)).toMatchObject({
      standing: 'not_permitted',
      maker: { type: 'api_key', id: world.app.registry.idOf(maker.key) },
    });
    expectProblem(await maker.api.patch(`${ROUTING}/${id}`, { adopt: true }), 403, 'privilege_escalation');
    const adopted = await maker.other.patch<Shown>(`${ROUTING}/${id}`, { adopt: true });
    expect(adopted).toMatchObject({ status: 200, body: { standing: 'permitted' } });
    const tag = adopted.headers.get('etag');
    expect((await maker.other.patch(`${ROUTING}/${id}`, { adopt: true })).headers.get('etag')).toBe(tag);
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent' });
  });

  it('leaves no more with those who enter a segment that the maker wrote while it could read contacts', async () => {
    const reads = ['core.contacts.read', 'core.segments.read'] as const;
    const maker = aMaker([...WRITES, ...reads]);
    const segment = { event_type: 'core.segment.entered', event_name: undefined };
    const made = await maker.api.post<Shown>(ROUTING, aRule(await template(maker.api), segment));
    expectStatus(made, 201);
    expect(await outcomeOf(maker, enters)).toMatchObject({ state: 'sent' });
    // Who is in it, it may still know: not who they are.
    await permit(maker, [...LESS, 'core.segments.read', 'core.segments.update']);
    expect(await outcomeOf(maker, enters)).toMatchObject(NOT_PERMITTED);
    expect(await standingOf(maker, made.body.id)).toMatchObject({ standing: 'not_permitted' });
    expectStatus(await maker.other.patch(`${ROUTING}/${made.body.id}`, { adopt: true }), 200);
    expect(await outcomeOf(maker, enters)).toMatchObject({ state: 'sent' });
  });

  it('leaves no more where the key is gone, sends that wait included', async () => {
    const maker = aMaker();
    const id = await rule(maker.api);
    expectStatus(await maker.api.patch(`${ROUTING}/${id}`, { delay_seconds: 1_000_000 }), 200);
    const contact = aContact();
    const event = aRecordedEvent(maker.id, contact);
    await world.probe.publish({
      type: 'core.contact.created.v1',
      organizationId: maker.id,
      data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
    });
    await world.probe.publish(event);
    const waiting = await oneSendOf(maker.other, event.correlationId);
    world.app.registry.revoke(maker.key);
    await eventually(async () => expect((await maker.api.get(ROUTING)).status).toBe(401), WITHIN);
    await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [waiting.id]);
    expect(await settled(maker.other, waiting.id, 'sent', 'failed')).toMatchObject(NOT_PERMITTED);
  });

  it('waits while the registry is silent that nothing was heard from before', async () => {
    const maker = aMaker();
    const id = await rule(maker.api);
    const unheard = world.app.registry.key({ organizationId: maker.id, permissions: ABLE });
    await world.database.query('UPDATE event_routing SET maker_id = $2, maker_since = now() WHERE id = $1', [
      id,
      world.app.registry.idOf(unheard),
    ]);
    const contact = aContact();
    await world.probe.publish({
      type: 'core.contact.created.v1',
      organizationId: maker.id,
      data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
    });
    const event = aRecordedEvent(maker.id, contact);
    const sends = () =>
      world.database.query<{ id: string; state: string; due_at: Date; created_at: Date }>(
        'SELECT id, state, due_at, created_at FROM sends WHERE event_id = $1',
        [event.id],
      );
    world.app.registry.outage(true);
    try {
      await world.probe.publish(event);
      await eventually(async () => {
        const [found] = await sends();
        // It was looked at, and put off.
        expect(found && found.due_at.getTime() - found.created_at.getTime()).toBeGreaterThan(10_000);
        expect(['accepted', 'rendering', 'gated']).toContain(found?.state);
      }, WITHIN);
    } finally {
      world.app.registry.outage(false);
    }
    const [found] = await sends();
    await world.database.query('UPDATE sends SET due_at = now() WHERE event_id = $1', [event.id]);
    await settled(maker.other, found?.id ?? '', 'sent');
  });
});

describe('a template that a rule sends', () => {
  const spying = {
    locales: { es: { html: '<p>{{ event.properties.secret }}</p>', subject: 'Told' } },
  };

  it('is published only by who can read what the rule carries', async () => {
    const maker = aMaker();
    const { id } = maker;
    const templateId = await template(maker.api);
    await rule(maker.api, templateId);
    const path = `${TEMPLATES}/${templateId}`;
    const editor = world.app.as(id, ['messaging.templates.update']);
    const problem = expectProblem(await editor.patch(path, spying), 403, 'privilege_escalation');
    expect(problem).toMatchObject({ missing: [...READS].sort() });
    expectStatus(await editor.patch(path, { name: randomUUID() }), 200);
    // A draft is sent by nobody until somebody publishes it.
    expectStatus(await editor.patch(path, { ...spying, publish: false }), 200);
    for (const patch of [{ publish: true }, { published_version: 2 }])
      expectProblem(await editor.patch(path, patch), 403, 'privilege_escalation');
    expectStatus(await maker.api.patch(path, { publish: true }), 200);
    expectProblem(await editor.patch(path, { published_version: 1 }), 403, 'privilege_escalation');
  });

  it('goes by the rights of who published it after the rule’s maker saw it, until somebody adopts the rule', async () => {
    const maker = aMaker();
    const key = world.app.registry.key({ organizationId: maker.id, permissions: ABLE });
    const written: Maker = { ...maker, key, api: world.app.with(key) };
    const templateId = await template(maker.api);
    const ruleId = await rule(maker.api, templateId);
    expectStatus(await written.api.patch(`${TEMPLATES}/${templateId}`, spying), 200);
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent', subject: 'Told' });
    await permit(written, LESS);
    expect(await outcomeOf(maker)).toMatchObject(NOT_PERMITTED);
    expect(await standingOf(maker, ruleId)).toMatchObject({ standing: 'not_permitted' });
    expectStatus(await maker.other.patch(`${ROUTING}/${ruleId}`, { adopt: true }), 200);
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent', subject: 'Told' });
  });

  it('is sent by the rights of who published that very version, and of what was adopted since', async () => {
    const maker = aMaker();
    const writer = (): Maker => {
      const key = world.app.registry.key({ organizationId: maker.id, permissions: ABLE });
      return { ...maker, key, api: world.app.with(key) };
    };
    const due = async ({ id }: ShownSend): Promise<ShownSend> => {
      await world.database.query('UPDATE sends SET due_at = now() WHERE id = $1', [id]);
      return settled(maker.other, id, 'sent', 'failed');
    };
    const text = (subject: string) => ({ locales: { es: { subject, html: '<p>Told</p>' } } });
    const path = `${TEMPLATES}/${await template(maker.api)}`;
    const id = await rule(maker.api, path.slice(TEMPLATES.length + 1));
    expectStatus(await maker.other.patch(`${ROUTING}/${id}`, { delay_seconds: 1_000_000 }), 200);
    const first = await sendOf(maker);
    const [leaving, adopted] = [writer(), writer()];
    expectStatus(await leaving.api.patch(path, text('two')), 200);
    const second = await sendOf(maker);
    await permit(leaving, LESS);
    expectStatus(await maker.other.patch(path, text('three')), 200);
    expect(await due(second)).toMatchObject(NOT_PERMITTED);
    expectStatus(await adopted.api.patch(path, text('four')), 200);
    const fourth = await sendOf(maker);
    await permit(adopted, LESS);
    expectStatus(await maker.other.patch(`${ROUTING}/${id}`, { adopt: true }), 200);
    expectStatus(await maker.other.patch(path, text('five')), 200);
    expect(await due(fourth)).toMatchObject({ state: 'sent' });
    expect(await due(first)).toMatchObject({ state: 'sent' });
  });

  it('may be written by who reads nothing before a rule sends it', async () => {
    const maker = aMaker();
    const designer = world.app.as(maker.id, ['messaging.templates.create']);
    await rule(maker.api, await template(designer));
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent' });
  });
});

describe('a rule of before makers were noted', () => {
  const forget = (id: string, set: string): Promise<unknown> =>
    world.database.query(`UPDATE event_routing SET ${set} WHERE id = $1`, [id]);

  it('goes on without one, unowned, until somebody changes or adopts it', async () => {
    const maker = aMaker();
    const id = await rule(maker.api);
    await forget(id, 'maker_type = NULL, maker_id = NULL, maker_since = NULL, vouched_version = NULL');
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent' });
    expect(await standingOf(maker, id)).toMatchObject({ standing: 'unowned', maker: null });
    expectStatus(await maker.other.patch(`${ROUTING}/${id}`, { name: randomUUID() }), 200);
    expect(await standingOf(maker, id)).toMatchObject({ standing: 'unowned' });
    expectStatus(await maker.other.patch(`${ROUTING}/${id}`, { adopt: true }), 200);
    expect(await standingOf(maker, id)).toMatchObject({ standing: 'permitted' });
  });

  it('does not stop because the one who was found has left, and lives by who has not', async () => {
    const maker = aMaker();
    const id = await rule(maker.api);
    await forget(id, `maker_since = NULL, maker_id = '${newId()}'`);
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent' });
    expect(await standingOf(maker, id)).toMatchObject({ standing: 'unowned' });
    await forget(id, `maker_since = NULL, maker_id = '${world.app.registry.idOf(maker.key)}'`);
    expect(await outcomeOf(maker)).toMatchObject({ state: 'sent' });
    await permit(maker, LESS);
    expect(await outcomeOf(maker)).toMatchObject(NOT_PERMITTED);
  });
});
